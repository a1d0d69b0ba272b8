"""Rotary positions on screen: which vectors turn, and why only the distance of two turned vectors counts."""

from __future__ import annotations

from functools import partial

import streamlit as st

from lab.analysis.layers import rotary
from lab.course.words import named
from lab.lessons.embeddings import LESSON, checks, meanings, rotary_figures
from lab.lessons.embeddings.screens import EmbeddingView
from lab.models import forward
from lab.ui import sidebar
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import meaning, try_this
from lab.ui.parameters import PE_BASE, PE_LENGTH
from lab.ui.quiz.predictions import predict
from lab.ui.sentence import show_sentence
from lab.ui.terms import say


def show_rotary(view: EmbeddingView) -> None:
    """Show one word turned to many places, and two words at each pair of places, turned or with vectors added."""
    say(
        "An added vector mixes word and place in the same numbers. **Rotary positions** add nothing. They **turn** the "
        "vector (Su et al. 2021). Take two dimensions as the hand of a clock. A token at position p turns this hand by "
        "p · ω. Each pair of dimensions is one hand, with its own speed ω."
    )
    turning = (
        "Which vectors are turned? A layer turns only the vectors that it compares with each other. Lesson 3 makes "
        "them and calls them **query** and **key**."
    )
    say(turning)
    say(_who_turns(view))
    count, base = _settings(view)
    draw(partial(rotary_figures.turned, view.trace, view.token, count, base), "turned")
    say(
        f"Row p is the vector of {view.word} at position p. The pairs on the left turn fast, and the pairs on the "
        "right turn slowly. No hand gets longer or shorter."
    )
    turned = rotary.cosines(view.trace, (view.token, view.key), "rotary", count, base)
    question = checks.moved_together(turned, named(view.trace, view.token), named(view.trace, view.key))
    if not predict(LESSON, question):
        return
    _compare(view, count, base)
    if base == PE_BASE.default:
        why = "with a small base, all hands turn fast. Does the cosine still depend on the distance alone?"
        try_this(why, "Take the base 100", {PE_BASE: 100})
    st.latex(
        r"\begin{aligned} R_p\,q \cdot R_r\,k & = q \cdot R_{r-p}\,k \\ \omega_m & = \text{base}^{-2m/d} \end{aligned}"
    )
    code(forward.rotate)


def _settings(view: EmbeddingView) -> tuple[int, float]:
    """Choose two words, the number of positions, and the base."""
    show_sentence(view.trace, view.token, view.key)
    with sidebar.controls():
        asked = PE_LENGTH.choose("Positions", 8)
        base = PE_BASE.choose("Base")
    there = view.trace.model.config.max_tokens
    if there < asked:
        st.caption(f"{view.model} has {there} positions, so no more are drawn.")
    return min(asked, there), float(base)


def _who_turns(view: EmbeddingView) -> str:
    """Say whether the model on screen has rotary positions, and with which bases."""
    bases = {w.window is not None: w.rotary for w in view.trace.model.weights.layers if w.rotary is not None}
    if not bases:
        return (
            f"{view.model} does not do this: it adds learned vectors. ModernBERT (Warner et al. 2024) turns its "
            f"vectors."
        )
    told = " and ".join(
        f"{base:,.0f} in its {'local' if local else 'global'} layers" for local, base in sorted(bases.items())
    )
    return f"{view.model} does this in every layer. The base of its ω is {told}."


def _compare(view: EmbeddingView, count: int, base: float) -> None:
    """Draw the cosines of the two words, with vectors added and with the words turned."""
    tokens, (added, *_) = (view.token, view.key), rotary.ways(view.trace)
    places = st.columns(2)
    for place, way in zip(places, (added, "rotary"), strict=True):
        with place:
            draw(partial(rotary_figures.cosines, view.trace, *tokens, way, count, base), f"cosines-{way}")
    draw(partial(rotary_figures.by_offset, view.trace, *tokens, count, base), "cosines-by-offset")
    meaning(meanings.turned(view.trace, tokens, count, base))
    st.caption(
        "The figures use the words’ own vectors in place of query and key, which lesson 3 makes from them. Before "
        "sinusoids are added, a word’s vector is multiplied by √d (Vaswani et al. 2017, §3.4)."
    )
