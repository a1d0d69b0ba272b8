"""The screen about seven metrics of a head: the radar of its layer and, behind a click, each metric's formula."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from lab.analysis.heads.attention import attention_map
from lab.analysis.heads.specialization import (
    SPECIALIZATIONS,
    UNTAGGED,
    Dimension,
    Total,
    relative_to_layer,
    specialization,
    totals_of,
    trace_specialization,
)
from lab.analysis.heads.values import Values, is_causal
from lab.course.words import aside, escaped
from lab.figures import specialization as figures
from lab.lessons.head_specialization import LESSON, checks, meanings
from lab.lessons.head_specialization.view import choose_part, kept_others, kept_tokens, left_out, name_of, tags_of
from lab.questions.question import Question
from lab.text.tags.tokens import Tags
from lab.toy.models import is_toy
from lab.ui.drawing import code, draw_plotly
from lab.ui.frame.closing import meaning
from lab.ui.quiz.predictions import predict
from lab.ui.shared.metric_choice import choose_version
from lab.ui.shared.one_head import OneHead
from lab.ui.terms import say

_ONE, _ALL = "This head", "All heads of the layer"
_ASKED = ("content_words", "self", "punctuation", "cls", "long_range")  # the first clear question about the rim


def show_profile(view: OneHead) -> None:
    """Show the radar of the head, say what its rim means, and draw, behind a click, the seven formulas."""
    tags = tags_of(view)
    if tags is None:
        return
    layer = view.layer.index
    _say_untagged(view)
    every = specialization(view.trace, only_words=left_out(view))
    there = figures.present(every.raw[layer])
    if len(every.raw[layer]) < 2 or len(there) < 3:
        longer = "Choose a longer sentence in the sidebar" if is_toy(view.trace.model) else "Write a longer text"
        st.info(f"A radar needs two heads to compare and three values. {longer}.", icon=":material/edit:")
        return
    say("Each axis is one of the numbers. The center is the lowest value in this layer, and the rim is the highest.")
    whose = st.session_state.get("_radar", _ONE)
    drawn, told = st.columns([3, 2], gap="medium", vertical_alignment="center")
    with drawn:
        draw_plotly(partial(figures.radar, view.trace, layer, view.head, whose == _ALL, left_out(view)), "radar")
    with told:
        known = predict(LESSON, _about_the_rim(view))
        if known:
            _say_radar(view, every.raw[layer], every.corrected[layer])
    with st.container(horizontal=True):
        st.segmented_control("Show", [_ONE, _ALL], default=_ONE, required=True, key="_radar")
        choose_part(view)
    with st.expander("The seven formulas, with this head’s numbers", on_change="rerun", key="_formulas") as formulas:
        if formulas.open:
            _show_cards(view, tags)
    code(relative_to_layer, trace_specialization, totals_of)


def _about_the_rim(view: OneHead) -> Question | None:
    """Ask what the rim means, on the first axis on which one head clearly has the largest value."""
    every, layer = specialization(view.trace, only_words=left_out(view)), view.layer.index
    asked = (
        checks.rim_of_radar(
            layer,
            next(each for each in SPECIALIZATIONS if each.id == id),
            (every.values(id, False)[layer], every.values(id, True)[layer]),
        )
        for id in _ASKED
    )
    return next((question for question in asked if question is not None), None)


def _say_radar(view: OneHead, raw: Values, corrected: Values) -> None:
    """What the shape says. ``raw`` and ``corrected`` (H, 7)."""
    there = figures.present(raw)
    axes = [escaped(figures.axis_name(view.trace, SPECIALIZATIONS[place])) for place in there]
    own = [values[view.head, there].tolist() for values in (relative_to_layer(raw), raw, corrected)]
    meaning(meanings.radar((view.layer.index, view.head), own, axes))
    missing = [
        figures.axis_name(view.trace, each)
        for i, each in enumerate(SPECIALIZATIONS)
        if i not in there and not (each.id == "cls" and left_out(view)) and not is_toy(view.trace.model)
    ]
    none = ", ".join(missing).lower().replace("entities", "entities (names and dates)")
    absent = f" Not drawn, because this text has none: {none}." if missing else ""
    if left_out(view) and not is_toy(view.trace.model):
        absent += " The number about the first token is left out, too."
    st.caption(f"The radar counts kinds of words and of places. It cannot say **which** word a head finds.{absent}")


def _say_untagged(view: OneHead) -> None:
    """Say which of the seven metrics exist for a toy, and why the others do not."""
    if is_toy(view.trace.model):
        say(
            "Letters have no parts of speech. Three of the seven metrics need none: the first token, long range, and "
            "the token itself. They only ask for places."
        )


def _show_cards(view: OneHead, tags: Tags) -> None:
    """Draw a card for each metric, with this head's numbers in its formula."""
    keep = kept_tokens(view)
    every = specialization(view.trace, only_words=left_out(view))
    corrected = choose_version()
    n, causal = len(view.trace) if keep is None else int(keep.sum()), is_causal(view.trace)
    say(
        f"{view.place[0].upper()}{view.place[1:]}, {n} tokens: $A$ is its map, $i$ a query, $j$ a key, $S$ the tokens "
        f"of a kind. {_which(view, corrected)}"
    )
    parts = totals_of(attention_map(view.layer, view.head)[None], *tags, causal=causal, keep=keep).of(0)
    shown = [place for place, part in enumerate(parts) if part.id != "cls" or keep is None or keep[0]]
    missing = [SPECIALIZATIONS[place] for place in range(len(parts)) if place not in shown]
    if is_toy(view.trace.model):
        shown = [place for place in shown if parts[place].id in UNTAGGED]
    for start in range(0, len(shown), 2):
        for column, place in zip(st.columns(2), shown[start : start + 2], strict=False):
            dimension = SPECIALIZATIONS[place]
            with column, st.container(border=True, height="stretch"):
                _card(view, dimension, parts[place], every.values(dimension.id, corrected), corrected)
    if missing:
        names = ", ".join(name_of(each, view.trace) for each in missing)
        st.caption(f"There is no card for {names}, because it is left out.")


def _which(view: OneHead, corrected: bool) -> str:
    """Explain raw or corrected values."""
    if not corrected:
        return "**Raw**: the values of this head as they are."
    told = "**Corrected**: each value is divided by the value of $U$, the map of a uniform head, so 1 is no preference"
    if left_out(view):
        return f"{told} among the tokens that are left, all but {escaped(aside(view.trace))}."
    return f"{told} among all tokens, {escaped(aside(view.trace))} included."


def _card(view: OneHead, shown: Dimension, part: Total, values: Values, corrected: bool) -> None:
    """Write the formula with this head's numbers, and the head's rank among all heads. ``values`` (L, H)."""
    say(f"**{name_of(shown, view.trace)}**")
    st.latex(_corrected_formula(shown.id) if corrected else shown.formula)
    if not part.members:
        say("This text has no such tokens, so there is no value.")
        return
    st.latex(rf"\small {part.fill(corrected)}")
    own = float(values[view.layer.index, view.head])
    above, even = int(np.count_nonzero(values > own)), part.uniform / part.divisor
    told = f"**{own:.3f}** × a uniform head" if corrected else f"**{own:.3f}** · uniform head {even:.3f}"
    say(f"{told} · {above} of {values.size - 1} other heads are higher{_otherwise(view, shown, corrected)}")
    reading = f" {shown.reading}" * (shown.id != "cls")
    st.caption(f"{_what(part)}{reading} Also called “{shown.also}”.")


def _otherwise(view: OneHead, shown: Dimension, corrected: bool) -> str:
    """Return the value under the other setting of the switch: with special tokens, or without them."""
    if kept_others(view) is None:
        return ""
    other = specialization(view.trace, only_words=not left_out(view))
    value = float(other.values(shown.id, corrected)[view.layer.index, view.head])
    if np.isnan(value):
        return ""
    return f"  \n{'With' if left_out(view) else 'Without'} {escaped(aside(view.trace))}: {value:.3f}"


def _corrected_formula(id: str) -> str:
    """The formula of a corrected value: the head's sum over the uniform head's sum, on the same cells."""
    cells = {"cls": (r"\sum_i", "i,1"), "long_range": (r"\sum_{|i-j|\ge 5}", "ij"), "self": (r"\sum_i", "ii")}
    total, index = cells.get(id, (r"\sum_i \sum_{j\in S}", "ij"))
    return rf"\frac{{{total} A_{{{index}}}}}{{{total} U_{{{index}}}}}"


def _what(part: Total) -> str:
    """Name the cells of the map that are added up."""
    if part.id == "long_range":
        return f"{part.members:,} cells are that far apart."
    if part.id == "self":
        return f"These are the {part.members} cells of the diagonal."
    if part.id == "cls":
        return "This is the first column of the map."
    return f"S: {part.members} of {part.divisor} tokens."
