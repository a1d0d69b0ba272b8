"""Radar: the numbers that describe a head, each compared with the other heads of its layer."""

from __future__ import annotations

from collections.abc import Sequence
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
from lab.course.words import aside, escaped, head_name
from lab.figures import specialization as figures
from lab.lessons.head_specialization import LESSON
from lab.lessons.head_specialization.view import (
    ABOUT,
    begun,
    choose_part,
    chosen_kept,
    chosen_left_out,
    kept_others,
    look_for_tags,
    measured,
    name_of,
)
from lab.models.interventions import Head
from lab.models.trace import Trace
from lab.questions.asking import asks
from lab.questions.basis import derivable
from lab.questions.kinds import ranked
from lab.questions.question import MARGIN, Option, Question, shuffled
from lab.questions.spot import Spot
from lab.text.tags.tokens import Tags
from lab.toy.models import is_toy
from lab.ui import sidebar
from lab.ui.drawing import code, draw_plotly
from lab.ui.frame.closing import caption, meaning
from lab.ui.frame.header import idea
from lab.ui.quiz.predictions import ask_beside
from lab.ui.shared.metric_choice import choose_version
from lab.ui.shared.one_head import OneHead
from lab.ui.terms import say

IDEA = """
A head may prefer things other than kinds of words: it may look far away, at the next word, or at the word itself. These
numbers together are its profile. On each axis of the radar, the center is the smallest number of this layer, and the
rim is the largest."""

_ONE, _ALL = "This head", "All heads of the layer"
_ASKED = ("content_words", "self", "punctuation", "cls", "long_range")  # the first clear question about the rim


def said(head: Head, own: Sequence[Sequence[float]], axes: Sequence[str]) -> str:
    """Say on which axis the shape is nearest to the rim, and that the rim is the best head of the layer, not chance.

    ``own`` has the head's values on the ``axes``: relative to the layer, raw, corrected.
    """
    relative, _, corrected = own
    if len(set(relative)) == 1 < len(relative):
        return "None of these numbers tells the heads of this layer apart in this text."
    top = max(range(len(axes)), key=relative.__getitem__)
    name = begun(head_name(head))
    reached = "has the largest value of its layer" if relative[top] >= 1 else "is nearest to the rim"
    told = f"{name} {reached} on **{axes[top]}**: {corrected[top]:.1f} times the value of a uniform head."
    best = max(range(len(axes)), key=corrected.__getitem__)
    if f"{corrected[best]:.1f}" == f"{corrected[top]:.1f}":
        return told
    return (
        f"{told} But its strongest preference is on **{axes[best]}**, with {corrected[best]:.1f} times that value. "
        "The radar compares heads with each other, not with chance."
    )


@asks(
    "layer",
    basis=derivable(LESSON, "radar", "what the rim of an axis is"),
    hint="Each axis runs from the smallest to the largest value of this layer.",
)
def rim(spot: Spot) -> Question | None:
    """Ask what the rim means, on the first axis on which one head clearly has the largest value."""
    found = measured(spot.trace)
    if found is None:
        return None
    by_id = {each.id: each for each in SPECIALIZATIONS}
    asked = (
        rim_of(spot.layer, by_id[id], (found.values(id, False)[spot.layer], found.values(id, True)[spot.layer]))
        for id in _ASKED
    )
    return next((question for question in asked if question is not None), None)


def rim_of(layer: int, dimension: Dimension, values: tuple[Values, Values]) -> Question | None:
    """Ask what it means that a head reaches the rim. ``values``: raw and corrected, (H,) of a layer."""
    raw, corrected = values
    if not np.isfinite(raw).all() or len(raw) < 2 or np.ptp(raw) < MARGIN or raw.max() > 1 - MARGIN:
        return None
    best = int(raw.argmax())
    about = ABOUT[dimension.id]
    options = (
        Option(
            f"This head gives {about} more attention than any other head of the layer does",
            f"Its value is {raw[best]:.2f}. This is the largest value of the layer, and the largest value is drawn at "
            "the rim.",
            correct=True,
        ),
        Option(
            f"All its attention goes to {about}",
            "You took the rim for all of the attention. But the rim is only the largest value of the layer, "
            f"{raw[best]:.2f}.",
        ),
        Option(
            f"It gives {about} more attention than a uniform head does",
            "You took the rim for a comparison with a uniform head. But the radar compares the heads of a layer with "
            f"each other. This head gives {corrected[best]:.2f} times the attention that a uniform head gives.",
        ),
    )
    head = f"head {best + 1} of layer {layer + 1}"
    prompt = f"On the axis “{dimension.name}”, {head} is at the rim. What does this alone tell you?"
    return shuffled("rim", prompt, options)


@asks("layer", basis=derivable(LESSON, "radar", "the axes"), for_a_class=True)
def looks_most(spot: Spot) -> Question | None:
    """Ask which head of the layer looks most at the tokens of the first dimension with a clear answer."""
    found = measured(spot.trace)
    if found is None:
        return None
    asked = (most_of(spot.layer, each, found.raw[spot.layer, :, at]) for at, each in enumerate(SPECIALIZATIONS))
    return next((question for question in asked if question is not None), None)


def most_of(layer: int, dimension: Dimension, raw: Values) -> Question | None:
    """Ask which head of a layer looks most at the tokens of a dimension; ``raw`` (H,) has the layer's values."""
    if not np.isfinite(raw).all():
        return None
    values = raw.tolist()

    def why(head: int, best: int) -> str:
        tail = "the largest of the layer." if head == best else f"head {best + 1} has {values[best]:.3f}."
        return f"Its raw value is {values[head]:.3f}, {tail}"

    prompt = f"Which head of layer {layer + 1} looks most at {ABOUT[dimension.id]}?"
    return ranked(f"looks-most-{dimension.id}", prompt, values, lambda head: f"Head {head + 1}", why, of=len(values))


def show(view: OneHead) -> None:
    """Show the radar of the head, ask what its rim means, and draw, behind a click, the formulas."""
    idea(IDEA)
    tags = look_for_tags(view)
    if tags is None:
        return
    choose_part(view)
    left_out = chosen_left_out(view)
    _show_untagged(view)
    found = figures.profile(view.trace, view.layer.index, left_out)
    if len(found.raw) < 2 or len(found.there) < 3:
        longer = "Choose a longer sentence in the sidebar" if is_toy(view.trace.model) else "Write a longer text"
        st.info(f"A radar needs two heads to compare, and three values for each. {longer}.", icon=":material/edit:")
        return
    drawn, told = st.columns([3, 2], gap="medium", vertical_alignment="center")
    with told:
        whose = st.segmented_control("Show", [_ONE, _ALL], default=_ONE, required=True, key="_radar")
    with drawn:
        draw_plotly(partial(figures.radar, view.trace, view.layer.index, view.head, whose == _ALL, left_out), "radar")
    with told:
        own = [values[view.head, found.there].tolist() for values in (found.relative, found.raw, found.corrected)]
        names = [escaped(found.axes[at]) for at in found.there]
        meaning(said((view.layer.index, view.head), own, names))
        caption("The radar shows kinds of words and kinds of places. It cannot tell you **which** word a head finds.")
    ask_beside(LESSON, rim(view.spot) if left_out or kept_others(view.trace) is None else None)
    label = "The formulas, with this head’s numbers"
    with st.expander(label, on_change="rerun", key="_formulas") as formulas:
        if formulas.open:
            _show_cards(view, tags)
    code(relative_to_layer, trace_specialization, totals_of)


def _show_untagged(view: OneHead) -> None:
    """Say which of the seven metrics exist for a toy, and why the others do not."""
    if is_toy(view.trace.model):
        say("Letters have no parts of speech. Some of these numbers do not need them: they depend only on places.")


def _show_cards(view: OneHead, tags: Tags) -> None:
    """Draw a card for each metric, with this head's numbers in its formula."""
    keep = chosen_kept(view)
    every = specialization(view.trace, only_words=chosen_left_out(view))
    with sidebar.folded():
        corrected = choose_version()
    n, causal = len(view.trace) if keep is None else int(keep.sum()), is_causal(view.trace)
    say(
        f"{view.place[0].upper()}{view.place[1:]}, {n} tokens: $A$ is its map, $i$ a query, $j$ a key, $S$ the tokens "
        f"of a kind. {_which(view.trace, corrected, chosen_left_out(view))}"
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
                _show_card(view, dimension, parts[place], every.values(dimension.id, corrected), corrected)
    if missing:
        names = ", ".join(name_of(each, view.trace) for each in missing)
        st.caption(f"There is no card for {names}, because this value is left out.")


def _which(trace: Trace, corrected: bool, left_out: bool) -> str:
    """Explain raw or corrected values."""
    if not corrected:
        return "**Raw** values are the values of this head as they are."
    told = "**Corrected** values are divided by the value of $U$, the map of a uniform head, so 1 means no preference"
    if left_out:
        return f"{told} among the tokens that are left (all but {escaped(aside(trace))})."
    return f"{told} among all tokens, {escaped(aside(trace))} included."


def _show_card(view: OneHead, shown: Dimension, part: Total, values: Values, corrected: bool) -> None:
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
    other = _otherwise(view.spot, shown, corrected, chosen_left_out(view))
    say(f"{told} · {above} of {values.size - 1} other heads are higher{other}")
    reading = f" {shown.reading}" * (shown.id != "cls")
    st.caption(f"{_what(part)}{reading} Also called “{shown.also}”.")


def _otherwise(spot: Spot, shown: Dimension, corrected: bool, left_out: bool) -> str:
    """Return the value under the other setting of the switch: with special tokens, or without them."""
    if kept_others(spot.trace) is None:
        return ""
    other = specialization(spot.trace, only_words=not left_out)
    value = float(other.values(shown.id, corrected)[spot.layer, spot.head])
    if np.isnan(value):
        return ""
    return f"  \n{'With' if left_out else 'Without'} {escaped(aside(spot.trace))}: {value:.3f}"


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
