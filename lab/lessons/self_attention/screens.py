"""The screens of the self-attention lesson, one function per step."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from lab.analysis.heads.attention import attention_map
from lab.course.pages import step_name
from lab.figures import attention
from lab.lessons.self_attention import LESSON, checks, claims, meanings
from lab.models import forward
from lab.questions.question import MARGIN, Question
from lab.ui.drawing import code, draw
from lab.ui.frame.script import meaning, try_this
from lab.ui.parameter_kinds import Parameter
from lab.ui.parameters import DEFAULT_TEXT, HEAD, KEY_TOKEN, MODE, STEP, TEACH, TEXT, TOKEN, TOY
from lab.ui.quiz.asking import draw_checks
from lab.ui.quiz.predictions import predict
from lab.ui.shared import one_head
from lab.ui.shared.one_head import OneHead

# The story's sentence with another word at the end, and the place of that word, from 1.
_SHE, _SHE_AT = "She gave her brother the book that she wanted.", 9


def show_map(view: OneHead) -> None:
    """Show one word's look as arcs, name it, then show the looks of all words as a map."""
    st.markdown(
        f"Take the word {view.token(view.query)}. In each layer, a model looks from it at {_seen(view)}, in several "
        f"ways "
        f"at once. Here is one of these ways, in layer {view.layer.index + 1}. Where does the model look?"
    )
    place = st.container()
    answered = predict(LESSON, checks.most_attended(view.trace, view.row, view.query))
    with place:
        one_head.show_sentence(view, covered=not answered)
    if not answered:
        return
    meaning(meanings.collected(view.trace, view.layer.index, view.head, view.query))
    _name_it(view)
    one_head.show_map(view)
    if told := meanings.resting(view.trace, view.layer.index, view.head):
        st.markdown(told)
    _try_another(view)


def _seen(view: OneHead) -> str:
    """The tokens that a query of this layer sees, in words."""
    window = view.layer.weights.window
    if window is not None:
        return f"the words up to {window} places away (this layer is **local**)"
    return "the words before it" if view.trace.model.config.causal else "the other words"


def _name_it(view: OneHead) -> None:
    """Introduce the words attention, weight and head, and query and key, which are the sides of the map."""
    heads = view.trace.model.config.heads
    several = f"this layer has {heads}, and you see head {view.head + 1}" if heads > 1 else "this layer has only one"
    st.markdown(
        "This look is called **attention**. The numbers are shares, called **weights**: from one word, they add up to "
        f"1. One such way of looking is a **head**; {several}.\n\nHere are all looks at once: each row is a word that "
        f"looks, each column a word that is looked at.{_about_mask(view)}"
    )


def _about_mask(view: OneHead) -> str:
    """Say what the mask hides in this layer from this query; "" if it hides nothing."""
    config, window, n = view.trace.model.config, view.layer.weights.window, len(view.trace)
    if config.causal:
        return " A **mask** hides the words after the query: their weight is 0."
    if window is not None:
        hidden = n - 1 - min(n - 1, view.query + window) + max(0, view.query - window)
        return (
            f" A **mask** hides all tokens more than {window} tokens away: from {view.token(view.query)} it hides "
            f"{hidden} of the {n} tokens."
        )
    if config.window is None:
        return ""
    local = [str(i + 1) for i, w in enumerate(view.trace.model.weights.layers) if w.window is not None]
    return (
        f" This layer is **global**. In the local layers of this model ({', '.join(local)}), a **mask** hides what is "
        f"more than {config.window} tokens away."
    )


def _try_another(view: OneHead) -> None:
    """Offer the story's sentence with *she* in place of *he*; with another sentence, a head that looks elsewhere."""
    if TEXT.chosen() == DEFAULT_TEXT and view.page.selection[MODE] != TOY:
        changes: dict[Parameter[Any], Any] = {TEXT: _SHE, TOKEN: _SHE_AT, KEY_TOKEN: KEY_TOKEN.default}
        try_this("change *he* to *she*. Does the head still look at *brother*?", "… that she wanted", changes)
        return
    if (other := _least_alike(view)) is not None:
        why = f"head {other + 1} looks elsewhere. Where does it look from {view.token(view.query)}?"
        try_this(why, f"Head {other + 1}", {HEAD: other + 1})


def _least_alike(view: OneHead) -> int | None:
    """The head of the layer that gives least weight to the token at which this head looks most, if it differs."""
    best, heads = int(view.row.weights.argmax()), view.trace.model.config.heads
    given = [float(attention_map(view.layer, head)[view.query, best]) for head in range(heads)]
    least = min(range(heads), key=given.__getitem__)
    return None if least == view.head or given[view.head] - given[least] < MARGIN else least


def show_scale(view: OneHead) -> None:
    """Show the weights of one row with and without the division by √d_k."""
    d_k = len(view.row.query)
    found = claims.sharper(view.trace, view.row, view.query)
    if not predict(LESSON, claims.without_scaling(found)):
        return
    draw(view.figure(attention.divided), "divided")
    meaning(claims.what_it_means(found))
    st.markdown(
        f"A score adds up {d_k} products, like {d_k} random steps to the left or right: they end about √{d_k} ≈ "
        f"{d_k**0.5:.2f} steps away. The division undoes this (Vaswani et al. 2017). A model trained without it would "
        "have smaller weights."
    )
    there = step_name(LESSON, "break-it")
    try_this("take it away. How far do the outputs move?", there, {STEP: there})
    code(forward.scale)


def show_checks(view: OneHead) -> None:
    """Questions about this text, this layer, this head."""
    trace, layer, head = view.trace, view.layer, view.head
    candidates: tuple[Question | None, ...] = (
        checks.value_gone(trace, view.row, view.query),
        checks.other_direction(trace, layer, head, view.query, view.key),
        checks.one_score_up(trace, view.row, view.query),
        checks.what_a_weight_says(trace, view.row, view.query),
    )
    if view.page.selection[TEACH]:  # a class can be asked to pick a word out of all
        candidates = (*candidates[:1], checks.most_attended_overall(trace, layer, head), *candidates[1:])
    map_of_head = partial(attention.attention_map, trace, layer.index, head)
    figures = {
        "most-attended-overall": map_of_head,
        "other-direction": partial(map_of_head, view.query, view.key),
    }
    draw_checks(LESSON, candidates, of=view.place, figures=figures)
