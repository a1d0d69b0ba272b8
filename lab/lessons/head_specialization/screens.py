"""The screens about tags: the tagged sentence, the seven metrics of a head, the radar of a layer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from lab.analysis.heads import specialization_parts as take
from lab.analysis.heads.attention import attention_map
from lab.analysis.heads.specialization import (
    SPECIALIZATIONS,
    Dimension,
    relative_to_layer,
    specialization,
    trace_specialization,
)
from lab.analysis.heads.specialization_parts import Part
from lab.analysis.heads.values import Values, is_causal
from lab.charts.base.labels import visible
from lab.charts.tokens.chips import token_chips
from lab.charts.tokens.encoding import encoding_chips
from lab.course.heads import aside
from lab.course.metric_cards import tex
from lab.course.words import escaped, quoted
from lab.figures import specialization as figures
from lab.lessons.head_specialization import checks as ask
from lab.lessons.head_specialization import meanings
from lab.lessons.head_specialization.view import (
    LESSON,
    choose_part,
    kept_others,
    kept_tokens,
    left_out,
    name_of,
    tags_of,
)
from lab.models.catalogue import twin_of
from lab.text.tags import tokens as carrying
from lab.text.tags.pipeline import pipeline, spelled_out
from lab.text.tags.tokens import Tags
from lab.ui import runs
from lab.ui.drawing import code, draw, draw_plotly
from lab.ui.frame.script import meaning
from lab.ui.metric_choice import choose_version
from lab.ui.one_head import OneHead
from lab.ui.quiz.predictions import predict

_MANY = 120  # chips, before they scroll in a box
_BOX = 420  # pixels
_EXAMPLES = 4
_HUES = {ask.FUNCTION: 0, ask.CONTENT: 1, ask.MARKS: 2, ask.OTHER: 3, ask.SPECIAL: 4}
_ONE, _ALL = "This head", "All heads of the layer"


def show_tags(view: OneHead) -> None:
    """What each token is, and how often each kind occurs."""
    tags = tags_of(view)
    if tags is None:
        return
    encoding = view.trace.encoding
    kinds = [ask.kind_of(tag, special) for tag, special in zip(tags[0], encoding.special, strict=True)]
    question = ask.most_common_kind(kinds)
    if not predict(LESSON, question):
        return
    st.markdown(
        "Under each token stands its part of speech. Below that stands its **entity**, if it belongs to one: the name "
        "of a person, a place or a firm, a date and the like. Each kind of token has its own colour."
    )
    labels = [_label(tags, i) for i in range(len(encoding))]
    chips = [(run, at, labels[at[0]] if at and run else label) for run, at, label in encoding_chips(encoding)]
    with st.container(height=_BOX if len(chips) > _MANY else "content"):
        st.html(token_chips(chips, groups=[_HUES[kind] for kind in kinds]))
    st.caption(_in_words(view.trace.labels, tags[0]))
    _show_kinds(view, kinds)
    _token_table(view, tags, kinds)
    st.caption(pipeline().description)
    meaning(meanings.kinds(kinds))
    layers, heads, n = view.trace.model.config.layers, view.trace.model.config.heads, len(encoding)
    st.markdown(
        f":material/arrow_downward: **On the way.** The tagger reads characters, the model reads tokens. A token gets "
        "the tag of the word with which it shares most characters. The model never sees a tag. Tags only sort the "
        f"columns of its {layers * heads} maps of {n} × {n} weights, and the next step adds those columns up."
    )
    code(carrying.encoding_tags)


def _label(tags: Tags, place: int) -> str:
    return " · ".join(tag for tag in (tags[0][place], tags[1][place]) if tag) or "–"


def _in_words(tokens: Sequence[str], tags: Sequence[str | None]) -> str:
    """Every part of speech of the text spelled out, with its first token."""
    first = {tag: token for token, tag in reversed([*zip(tokens, tags, strict=True)]) if tag}
    named = (f"{tag} {spelled_out(tag)} ({quoted(first[tag])})" for tag in dict.fromkeys(tags) if tag)
    return " · ".join(named)


def _show_kinds(view: OneHead, kinds: list[str]) -> None:
    """How many tokens of each kind, and what a head without preference gives them."""
    counts, n = Counter(kinds), len(kinds)
    exact = not is_causal(view.trace)
    here = [kind for kind in ask.KINDS if counts[kind]]
    tokens = {kind: [t for t, own in zip(view.trace.labels, kinds, strict=True) if own == kind] for kind in here}
    table = pd.DataFrame(
        {
            "kind": here,
            "tokens": [counts[kind] for kind in here],
            "share of all tokens": [counts[kind] / n for kind in here],
            "for example": [", ".join(map(visible, dict.fromkeys(tokens[kind][:_EXAMPLES]))) for kind in here],
        }
    )
    percent = {"share of all tokens": st.column_config.NumberColumn(format="percent")}
    st.dataframe(table, hide_index=True, height="content", column_config=percent)
    st.caption(
        "The share is also the base rate: what a head without preference gives to a kind."
        if exact
        else "A head without preference gives a kind about this share. Earlier tokens get more, because more queries "
        "see them. The next step uses the exact number."
    )


def _token_table(view: OneHead, tags: Tags, kinds: list[str]) -> None:
    tokens = [visible(token) for token in view.trace.labels]
    table = pd.DataFrame(
        {
            "token": tokens,
            "part of speech": [tag or "" for tag in tags[0]],
            "kind": kinds,
            "entity": [label or "" for label in tags[1]],
        },
        index=range(1, len(tokens) + 1),
    )
    with st.expander("Token by token", icon=":material/table_rows:"):
        st.dataframe(table, height="content" if len(table) <= 20 else _BOX)


def show_seven(view: OneHead) -> None:
    """A card for each metric, with this head's numbers in its formula."""
    tags = tags_of(view)
    if tags is None:
        return
    layer, keep = view.layer.index, kept_tokens(view)
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
    parts = take.specialization_parts(attention_map(view.layer, view.head), *tags, causal=causal, keep=keep)
    shown = [place for place, part in enumerate(parts) if part.id != "cls" or keep is None or keep[0]]
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
    if missing := [name_of(each, view.trace) for at, each in enumerate(SPECIALIZATIONS) if at not in shown]:
        st.caption(f"{', '.join(missing)}: no card, because it is left out.")
    code(take.specialization_parts, take.cells_of, trace_specialization)


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


def _card(view: OneHead, shown: Dimension, part: Part, values: Values, corrected: bool) -> None:
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
    st.caption(f"{_what(part)} {shown.reading if shown.id != 'cls' else ''}")


def _otherwise(view: OneHead, shown: Dimension, corrected: bool) -> str:
    """The same value with the other setting of what is left out."""
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


def _what(part: Part) -> str:
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
    every = specialization(view.trace, only_words=left_out(view))
    raw, corrected = every.raw[layer], every.corrected[layer]
    choose_part(view)
    there = figures.present(raw)
    axes = [figures.axis_name(view.trace, SPECIALIZATIONS[place]) for place in there]
    if len(raw) < 2 or len(there) < 3:
        st.info("A radar needs two heads to compare and three values. Write a longer text.", icon=":material/edit:")
        return
    told = "The chosen head is filled."
    whose = st.segmented_control("Show", [_ONE, _ALL], default=_ONE, required=True, key="_radar", help=told)
    draw_plotly(partial(figures.radar, view.trace, layer, view.head, whose == _ALL, left_out(view)), "radar")
    missing = [
        figures.axis_name(view.trace, each)
        for i, each in enumerate(SPECIALIZATIONS)
        if i not in there and not (each.id == "cls" and left_out(view))
    ]
    own = [values[view.head, there].tolist() for values in (relative_to_layer(raw), raw, corrected)]
    st.markdown(meanings.rim(view.head, own, [escaped(axis) for axis in axes]))
    if left_out(view):
        st.caption(f"Without {escaped(aside(view.trace))}: shares of the attention that is left.")
    if missing:
        st.caption(f"Not drawn, because this text has nothing of the kind: {', '.join(missing).lower()}.")
    jobs = None if twin_of(view.trace.model.id) is not None else runs.head_jobs(view.trace.model)
    meaning(meanings.radar(jobs, (layer, view.head)))
    code(relative_to_layer)
