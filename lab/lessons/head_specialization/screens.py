"""The screens about tags: the tagged sentence, the seven metrics of a head, the radar of a layer."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from lab.analysis.heads import specialization_parts
from lab.analysis.heads.attention import attention_map
from lab.analysis.heads.specialization import (
    SPECIALIZATIONS,
    UNTAGGED,
    Dimension,
    relative_to_layer,
    specialization,
    trace_specialization,
)
from lab.analysis.heads.specialization_parts import MetricPart
from lab.analysis.heads.values import Values, is_causal
from lab.course.heads import aside
from lab.course.metric_cards import tex
from lab.course.words import escaped
from lab.figures import specialization as figures
from lab.lessons.head_specialization import meanings
from lab.lessons.head_specialization.view import (
    choose_part,
    kept_others,
    kept_tokens,
    left_out,
    name_of,
    tags_of,
)
from lab.models.catalogue import twin_of
from lab.toy.models import is_toy
from lab.ui import runs
from lab.ui.drawing import code, draw, draw_plotly
from lab.ui.frame.script import meaning
from lab.ui.shared.metric_choice import choose_version
from lab.ui.shared.one_head import OneHead

_ONE, _ALL = "This head", "All heads of the layer"


def show_seven(view: OneHead) -> None:
    """A card for each metric, with this head's numbers in its formula."""
    tags = tags_of(view)
    if tags is None:
        return
    layer, keep = view.layer.index, kept_tokens(view)
    _say_untagged(view)
    every = specialization(view.trace, only_words=left_out(view))
    with st.container(horizontal=True):
        corrected = choose_version()
        choose_part(view)
    n, causal = len(view.trace) if keep is None else int(keep.sum()), is_causal(view.trace)
    which = (
        "**Raw**: the values of this head as they are. **Corrected**, each value is divided by what a head "
        "without preference gives: 1 is then no preference."
    )
    if corrected:
        which = (
            "**Corrected**: each value is divided by what $U$, the map of a head without preference, has here. "
            f"{_one_means(view)}"
        )
    st.markdown(
        f"**{view.place[0].upper()}{view.place[1:]}**, {n} tokens: $A$ is its map, $i$ a query, $j$ a key, $S$ the "
        f"tokens of a kind. {which}"
    )
    _say_sinks(view, every.removed)
    parts = specialization_parts.specialization_parts(
        attention_map(view.layer, view.head), *tags, causal=causal, keep=keep
    )
    shown = [place for place, part in enumerate(parts) if part.id != "cls" or keep is None or keep[0]]
    missing = [SPECIALIZATIONS[place] for place in range(len(parts)) if place not in shown]
    if is_toy(view.trace.model):
        shown = [place for place in shown if parts[place].id in UNTAGGED]
    chosen = (layer, view.head)
    if any(parts[place].members for place in shown if parts[place].id != "long_range"):
        draw(partial(figures.beside_even, view.trace, *chosen, left_out(view)), "beside-even")
        st.caption("Full colour: this head. Pale, below it: a head without preference.")
    shares, times = every.raw[chosen].copy(), every.corrected[chosen].copy()
    if len(shown) < len(parts):
        shares[[at for at in range(len(parts)) if at not in shown]] = np.nan
        times[np.isnan(shares)] = np.nan
    meaning(meanings.seven(shares, times, every.even[layer], chosen))
    for start in range(0, len(shown), 2):
        for column, place in zip(st.columns(2), shown[start : start + 2], strict=False):
            dimension = SPECIALIZATIONS[place]
            with column, st.container(border=True, height="stretch"):
                _card(view, dimension, parts[place], every.values(dimension.id, corrected), corrected)
    if missing:
        names = ", ".join(name_of(each, view.trace) for each in missing)
        st.caption(f"{names}: no card, because it is left out.")
    code(specialization_parts.specialization_parts, specialization_parts.cells_of, trace_specialization)


def _say_untagged(view: OneHead) -> None:
    """Which of the seven are left for a toy, and why."""
    if is_toy(view.trace.model):
        st.markdown(
            "Letters have no parts of speech. Three of the seven metrics do without: the first token, long range, and "
            "the token itself. They only ask for places."
        )


def _one_means(view: OneHead) -> str:
    """What a corrected value of 1 says."""
    if left_out(view):
        return f"1 means no preference among the tokens that are left, all but {escaped(aside(view.trace))}."
    return f"1 means no preference among all tokens, {escaped(aside(view.trace))} included."


def _say_sinks(view: OneHead, removed: Values) -> None:
    """What the tokens take that can be left out, and what that does to the values. ``removed`` (L, H)."""
    tokens, at = escaped(aside(view.trace)), (view.layer.index, view.head)
    if left_out(view):
        st.markdown(
            f"The words of your text send **{removed[at]:.0%}** of this head’s attention to {tokens} (mean of all "
            f"heads: {removed.mean():.0%}). That is left out: the more goes there, the less is left for any kind of "
            "word. What is left of each row is divided by its sum, so that it adds up to 1 again. A row of which "
            "little is left then counts as much as the others."
        )
    elif kept_others(view) is not None:
        values = specialization(view.trace, only_words=True)
        st.markdown(
            f"**{values.removed[at]:.0%}** of this head’s attention goes to {tokens} (mean of all heads: "
            f"{values.removed.mean():.0%}). The more goes there, the less is left for any kind of word: a corrected "
            "value below 1 can mean that alone."
        )


def _card(view: OneHead, shown: Dimension, part: MetricPart, values: Values, corrected: bool) -> None:
    """The formula, this head's numbers in it, and where it stands among all heads. ``values`` (L, H)."""
    st.markdown(f"**{name_of(shown, view.trace)}**")
    st.latex(_corrected_formula(shown.id) if corrected else shown.formula)
    if not part.members:
        st.markdown("This text has nothing of the kind, so there is no value.")
        return
    raw = rf"\frac{{{tex(part.total)}}}{{{part.divisor}}} = {tex(part.raw)}"
    even = rf"\frac{{{tex(part.total)}}}{{{tex(part.uniform)}}} = {tex(part.corrected)}"
    st.latex(rf"\small {even if corrected else raw}")
    own = float(values[view.layer.index, view.head])
    above = int(np.count_nonzero(values > own))
    told = f"**{own:.3f}** × no preference" if corrected else f"**{own:.3f}** · no preference {part.uniform_raw:.3f}"
    st.markdown(f"{told} · {above} of {values.size - 1} other heads are higher{_otherwise(view, shown, corrected)}")
    reading = f" {shown.reading}" * (shown.id != "cls")
    st.caption(f"{_what(part)}{reading} Also called “{shown.also}”.")


def _otherwise(view: OneHead, shown: Dimension, corrected: bool) -> str:
    """This value with the other setting of what is left out."""
    if kept_others(view) is None:
        return ""
    other = specialization(view.trace, only_words=not left_out(view))
    value = float(other.values(shown.id, corrected)[view.layer.index, view.head])
    if np.isnan(value):
        return ""
    return f"  \n{'With' if left_out(view) else 'Without'} {escaped(aside(view.trace))}: {value:.3f}"


def _corrected_formula(id: str) -> str:
    """What the head has over what a head without preference has, on the same cells."""
    cells = {"cls": (r"\sum_i", "i,1"), "long_range": (r"\sum_{|i-j|\ge 5}", "ij"), "self": (r"\sum_i", "ii")}
    total, index = cells.get(id, (r"\sum_i \sum_{j\in S}", "ij"))
    return rf"\frac{{{total} A_{{{index}}}}}{{{total} U_{{{index}}}}}"


def _what(part: MetricPart) -> str:
    """What is added up, in words."""
    if part.id == "long_range":
        return f"{part.members:,} cells are that far apart."
    if part.id == "self":
        return f"The {part.members} cells of the diagonal."
    if part.id == "cls":
        return "The first column of the map."
    return f"S: {part.members} of {part.divisor} tokens."


def show_radar(view: OneHead) -> None:
    """The seven values as a shape, relative to the layer."""
    tags = tags_of(view)
    if tags is None:
        return
    layer = view.layer.index
    _say_untagged(view)
    every = specialization(view.trace, only_words=left_out(view))
    raw, corrected = every.raw[layer], every.corrected[layer]
    choose_part(view)
    there = figures.present(raw)
    axes = [figures.axis_name(view.trace, SPECIALIZATIONS[place]) for place in there]
    if len(raw) < 2 or len(there) < 3:
        longer = "Choose a longer sentence in the sidebar" if is_toy(view.trace.model) else "Write a longer text"
        st.info(f"A radar needs two heads to compare and three values. {longer}.", icon=":material/edit:")
        return
    told = "The chosen head is filled."
    whose = st.segmented_control("Show", [_ONE, _ALL], default=_ONE, required=True, key="_radar", help=told)
    draw_plotly(partial(figures.radar, view.trace, layer, view.head, whose == _ALL, left_out(view)), "radar")
    missing = [
        figures.axis_name(view.trace, each)
        for i, each in enumerate(SPECIALIZATIONS)
        if i not in there and not (each.id == "cls" and left_out(view)) and not is_toy(view.trace.model)
    ]
    own = [values[view.head, there].tolist() for values in (relative_to_layer(raw), raw, corrected)]
    st.markdown(meanings.rim(view.head, own, [escaped(axis) for axis in axes]))
    if left_out(view):
        st.caption(f"Without {escaped(aside(view.trace))}: shares of the attention that is left.")
    if missing:
        st.caption(f"Not drawn, because this text has nothing of the kind: {', '.join(missing).lower()}.")
    learned = twin_of(view.trace.model.id) is None and not is_toy(view.trace.model)
    jobs = runs.head_jobs(view.trace.model) if learned else None
    meaning(meanings.radar(jobs, (layer, view.head), asks_on=not is_toy(view.trace.model)))
    code(relative_to_layer)
