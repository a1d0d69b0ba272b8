"""Rotary: vectors that are turned by their place, so that only the distance of two turned vectors counts."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import streamlit as st

from lab.analysis.layers import positions
from lab.analysis.layers.positions import BASE, Values, Way, spaced
from lab.charts.base.axes import Axis, AxisPlaces, Scale
from lab.charts.base.figure import Figure
from lab.charts.cells.heatmap import Heatmap, heatmap
from lab.charts.marks.lines import lines, settled
from lab.course.words import signed
from lab.figures.embedding_figures import DIMENSIONS
from lab.lessons.embeddings import LESSON
from lab.lessons.embeddings.view import EmbeddingView
from lab.models import forward
from lab.models.trace import Trace
from lab.questions.asking import asks
from lab.questions.question import Option, Question, derivable
from lab.ui import sidebar
from lab.ui.drawing import code, draw
from lab.ui.parameters import PE_BASE, PE_LENGTH
from lab.ui.quiz.step_questions import predict
from lab.ui.screen import caption, meaning, say, try_this
from lab.ui.sentence import show_sentence

ROWS = 64
TITLES: dict[Way, str] = {"learned": "learned positions added", "sinusoids": "sinusoids added", "rotary": "turned"}


def show(view: EmbeddingView) -> None:
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
    count, base = _choose(view)
    draw(partial(turned_rows, view.trace, view.token, count, base), "turned")
    say(
        f"Row p is the vector of {view.word} at position p. The pairs on the left turn fast, and the pairs on the "
        "right turn slowly. No hand gets longer or shorter."
    )
    if not predict(LESSON, moved_together()):
        return
    _show_cosines(view, count, base)
    if base == PE_BASE.default:
        why = "with a smaller base, the slow hands turn faster. Does the cosine still depend on the distance alone?"
        try_this(why, "Take the base 100", {PE_BASE: 100})
    st.latex(
        r"\begin{aligned} R_p\,q \cdot R_r\,k & = q \cdot R_{r-p}\,k \\ \omega_m & = \text{base}^{-2m/d} \end{aligned}"
    )
    code(forward.rotate)


def _show_cosines(view: EmbeddingView, count: int, base: float) -> None:
    """Draw the cosines of the two words, with vectors added and with the words turned."""
    tokens, (added, *_) = (view.token, view.key), positions.ways(view.trace)
    places = st.columns(2)
    for place, way in zip(places, (added, "rotary"), strict=True):
        with place:
            draw(partial(cosines_of, view.trace, *tokens, way, count, base), f"cosines-{way}")
    draw(partial(by_offset, view.trace, *tokens, count, base), "cosines-by-offset")
    meaning(said(view.trace, tokens, count, base))
    caption(
        "The figures use the words’ own vectors instead of the query and the key, which lesson 3 makes from them. "
        "Before sinusoids are added, a word’s vector is multiplied by √d (Vaswani et al. 2017, §3.4)."
    )


def turned_rows(traced: Trace, token: int, length: int, base: float = BASE) -> Heatmap:
    """Draw the vector of ``token``, turned to each of the first positions; dimensions of a pair are side by side."""
    rows = positions.placed(traced, token, "rotary", length, base)
    half = rows.shape[1] // 2
    pairs, places = spaced(half, DIMENSIONS // 2), spaced(length, ROWS)
    columns = np.stack([pairs, pairs + half], axis=1).ravel()
    part = "" if len(pairs) == half else f", {len(pairs)} of {half} pairs"
    axes = Axis("Position", [str(place) for place in places]), Axis("Dimension", [str(each + 1) for each in columns])
    title, scale = f"The vector of {traced.labels[token]}, turned{part}", Scale("Value", signed=True)
    return heatmap(rows[np.ix_(places, columns)], axes, scale, title=title)


def cosines_of(traced: Trace, query: int, key: int, way: Way, length: int, base: float = BASE) -> Heatmap:
    """Draw the cosine of two words' vectors at every pair of positions.

    All ways share one scale of colours, up to the next tenth above the largest cosine in any of them.
    """
    every = (positions.cosines(traced, (query, key), each, length, base) for each in positions.ways(traced))
    most = min(1.0, math.ceil(10 * max(float(np.abs(each).max()) for each in every)) / 10)
    values = positions.cosines(traced, (query, key), way, length, base)
    places = spaced(len(values), ROWS)
    names = [str(place) for place in places]
    axes = Axis(f"Position of {traced.labels[query]}", names), Axis(f"Position of {traced.labels[key]}", names)
    scale = Scale("Cosine", (-most, most), signed=True)
    return heatmap(values[np.ix_(places, places)], axes, scale, title=f"Cosine, {TITLES[way]}")


def by_offset(traced: Trace, query: int, key: int, length: int, base: float = BASE) -> Figure:
    """Draw the least and the largest cosine at each offset; for turned vectors, both are the same line."""
    drawn: dict[str, Values] = {}
    for way in positions.ways(traced):
        least, largest = positions.by_offset(positions.cosines(traced, (query, key), way, length, base))
        drawn |= {"turned": least} if way == "rotary" else {f"{way}: least": least, f"{way}: largest": largest}
    places = AxisPlaces("Offset: position of the second − position of the first", range(1 - length, length))
    return settled(lines(drawn, places, Scale("Cosine"), title="Cosine by offset"))


def said(trace: Trace, tokens: tuple[int, int], count: int, base: float) -> str:
    """Say how much the cosine of two words at one distance varies, for turned words and with vectors added."""
    apart = {}
    for way in positions.ways(trace):
        least, largest = positions.by_offset(positions.cosines(trace, tokens, way, count, base))
        apart[way] = float((largest - least).max())
    others = " and ".join(f"up to **{signed(apart[way])}** with {TITLES[way]}" for way in apart if way != "rotary")
    return (
        "Turned vectors show only how far apart their tokens are, and which comes first: at each such distance, the "
        "cosine of the two words is "
        f"the same everywhere, up to rounding (**{apart['rotary']:.0e}**). At the same distance, the cosine varies by "
        f"{others}."
    )


@asks(
    basis=derivable(LESSON, "rotary", "the hands that turn by the same angle for each place"),
    hint="Both hands turn further by the same angle. What happens to the angle between them?",
)
def moved_together() -> Question:
    """Ask what happens to the cosine of two turned words when both move on by the same number of places."""
    return Question(
        "moved-together",
        "Turn the vector of one word to position 0, and that of another to position 2; their cosine is a number. Now "
        "both words move on by 5 positions. What happens to the cosine?",
        (
            Option(
                "It gets smaller, because both are turned further",
                "Each is turned further, by the same angles. Between them, nothing changes.",
            ),
            Option(
                "It becomes another number, as the words are elsewhere",
                "With an added vector of the place, it does. Turned vectors show only how far one is after the other.",
            ),
            Option(
                "It stays the same",
                "The hands of both words turn further by the same angle, so the angles between them stay.",
                correct=True,
            ),
        ),
        mixed=True,
    )


def _choose(view: EmbeddingView) -> tuple[int, float]:
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
            f"{view.model} does not do this: it adds a vector for each place. ModernBERT (Warner et al. 2024) turns "
            f"its vectors."
        )
    told = " and ".join(
        f"{base:,.0f} in its {'local' if local else 'global'} layers" for local, base in sorted(bases.items())
    )
    return f"{view.model} does this in every layer. The base of its ω is {told}."
