"""The screens about tags: the tagged sentence, the seven metrics of a head, the radar of a layer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from lab.analysis import specialization_parts as take
from lab.analysis.attention import attention_map
from lab.analysis.heads import Values, is_causal
from lab.analysis.specialization import SPECIALIZATIONS, Dimension, relative_to_layer, trace_specialization
from lab.analysis.specialization_parts import Part
from lab.charts.encoding_chips import encoding_chips
from lab.charts.labels import visible
from lab.charts.tokens import token_chips
from lab.course import specialization_checks as ask
from lab.course.checks import Question
from lab.course.metric_cards import tex
from lab.course.words import escaped
from lab.figures import specialization as figures
from lab.text import tags as carrying
from lab.text.tags import Tags
from lab.ui import cached_tags
from lab.ui.attention_steps import View
from lab.ui.figures import code, draw_plotly
from lab.ui.metric_view import choose_version
from lab.ui.quiz import predict
from lab.ui.specialization_view import LESSON, dimension, name_of, tags_of

_MANY = 120  # chips, before they scroll in a box
_BOX = 420  # pixels
_EXAMPLES = 4
_HUES = {ask.FUNCTION: 0, ask.CONTENT: 1, ask.MARKS: 2, ask.OTHER: 3, ask.SPECIAL: 4}
_ONE, _ALL = "This head", "All heads of the layer"


def show_tags(view: View) -> None:
    """What each token is, and how often each kind occurs."""
    tags = tags_of(view)
    if tags is None:
        return
    encoding = view.trace.encoding
    kinds = [ask.kind_of(tag, special) for tag, special in zip(tags[0], encoding.special, strict=True)]
    question = ask.most_common_kind(kinds)
    if question is not None and not predict(LESSON, question):
        return
    st.markdown(
        f"{cached_tags.pipeline().description} Under each token its part of speech and, if any, its "
        "entity; one colour a kind."
    )
    labels = [_label(tags, i) for i in range(len(encoding))]
    chips = [(run, at, labels[at[0]] if at and run else label) for run, at, label in encoding_chips(encoding)]
    with st.container(height=_BOX if len(chips) > _MANY else "content"):
        st.html(token_chips(chips, groups=[_HUES[kind] for kind in kinds]))
    _show_kinds(view, kinds)
    _token_table(view, tags, kinds)
    layers, heads, n = view.trace.model.config.layers, view.trace.model.config.heads, len(encoding)
    st.markdown(
        f":material/arrow_downward: **On the way.** The tagger reads characters, the model tokens; a token gets the "
        f"tag it shares most characters with. The model never sees a tag: they only sort the columns of its "
        f"{layers * heads} maps of {n} × {n} weights, which the next step adds up."
    )
    code(carrying.encoding_tags)


def _label(tags: Tags, place: int) -> str:
    return " · ".join(tag for tag in (tags[0][place], tags[1][place]) if tag) or "–"


def _show_kinds(view: View, kinds: list[str]) -> None:
    """How many tokens of each kind, and what a head without preference gives them."""
    counts, n = Counter(kinds), len(kinds)
    exact = not is_causal(view.trace)
    here = [kind for kind in ask.KINDS if counts[kind]]
    tokens = {kind: [t for t, own in zip(view.trace.tokens, kinds, strict=True) if own == kind] for kind in here}
    table = pd.DataFrame(
        {
            "kind": here,
            "tokens": [counts[kind] for kind in here],
            "share of all tokens": [counts[kind] / n for kind in here],
            "for example": [", ".join(map(visible, dict.fromkeys(tokens[kind][:_EXAMPLES]))) for kind in here],
        }
    )
    st.dataframe(
        table, hide_index=True, height="content",
        column_config={"share of all tokens": st.column_config.NumberColumn(format="percent")},
    )  # fmt: skip
    st.caption(
        "The share is what a head without preference gives to a kind: the base rate."
        if exact
        else "A head without preference gives a kind about this share; earlier tokens get more, as more queries see "
        "them. The next step uses the exact number."
    )


def _token_table(view: View, tags: Tags, kinds: list[str]) -> None:
    tokens = [visible(token) for token in view.trace.tokens]
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


def show_seven(view: View) -> None:
    """A card for each metric, with this head's numbers in its formula."""
    tags = tags_of(view)
    if tags is None:
        return
    layer = view.layer.index
    every = cached_tags.specialization(view.trace)
    if not _predicted(view, every.raw[layer], ("content_words", "function_words", "cls")):
        return
    corrected = choose_version()
    n, causal = len(view.trace), is_causal(view.trace)
    st.markdown(
        f"**{view.place[0].upper()}{view.place[1:]}**, {n} tokens: $A$ is its map, $i$ a query, $j$ a key, $S$ the "
        "tokens of a kind. "
        + ("**Corrected**: divided by what $U$, the map of a head without preference, has here; 1 is no preference."
           if corrected else "**Raw**: shares of this head’s attention, as they are.")
    )  # fmt: skip
    parts = take.specialization_parts(attention_map(view.layer, view.head), *tags, causal=causal)
    for start in range(0, len(parts), 2):
        for column, place in zip(st.columns(2), range(start, min(start + 2, len(parts))), strict=False):
            shown = SPECIALIZATIONS[place]
            with column, st.container(border=True, height="stretch"):
                _card(view, shown, parts[place], every.values(shown.id, corrected), corrected)
    code(take.specialization_parts, take.cells_of, trace_specialization)


def _card(view: View, shown: Dimension, part: Part, values: Values, corrected: bool) -> None:
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
    st.markdown(f"{told} · {above} of {values.size - 1} other heads are higher")
    st.caption(f"{_what(part, len(view.trace))} {shown.reading if shown.id != 'cls' else ''}")


def _corrected_formula(id: str) -> str:
    """What the head has over what a head without preference has, on the same cells."""
    cells = {"cls": (r"\sum_i", "i,1"), "long_range": (r"\sum_{|i-j|\ge 5}", "ij"), "self": (r"\sum_i", "ii")}
    total, index = cells.get(id, (r"\sum_i \sum_{j\in S}", "ij"))
    return rf"\frac{{{total} A_{{{index}}}}}{{{total} U_{{{index}}}}}"


def _what(part: Part, n: int) -> str:
    """What is added up, in words."""
    if part.id == "long_range":
        return f"{part.members:,} cells are that far apart."
    if part.id == "self":
        return f"The {n} cells of the diagonal."
    if part.id == "cls":
        return "The first column of the map."
    return f"S: {part.members} of {n} tokens."


def _predicted(view: View, raw: Values, ids: Iterable[str]) -> bool:
    """Ask which head of the layer looks most at the first of these that has a clear answer. ``raw`` (H, 7)."""
    question = _looks_most(view, raw, ids)
    return question is None or predict(LESSON, question)


def _looks_most(view: View, raw: Values, ids: Iterable[str]) -> Question | None:
    order = [known.id for known in SPECIALIZATIONS]
    asked = (ask.looks_most(view.layer.index, dimension(id), raw[:, order.index(id)]) for id in ids)
    return next((question for question in asked if question is not None), None)


def show_radar(view: View) -> None:
    """The seven values as a shape, relative to the layer."""
    tags = tags_of(view)
    if tags is None:
        return
    layer = view.layer.index
    every = cached_tags.specialization(view.trace)
    raw, corrected = every.raw[layer], every.corrected[layer]
    if not _predicted(view, raw, ("self", "long_range", "entities", "punctuation")):
        return
    there = figures.present(raw)
    axes = [figures.axis_name(view.trace, SPECIALIZATIONS[place]) for place in there]
    if len(raw) < 2 or len(there) < 3:
        st.info("A radar needs two heads to compare and three values. Write a longer text.", icon=":material/edit:")
        return
    everyone = st.segmented_control(
        "Show", [_ONE, _ALL], default=_ONE, required=True, key="_radar", help="The chosen head is filled.",
    ) == _ALL  # fmt: skip
    draw_plotly(
        figures.drawn_radar(view.trace, every, layer, view.head, everyone), "radar",
        partial(figures.radar, view.trace, layer, view.head, everyone),
    )  # fmt: skip
    missing = [figures.axis_name(view.trace, each) for i, each in enumerate(SPECIALIZATIONS) if i not in there]
    own = [values[view.head, there] for values in (relative_to_layer(raw), raw, corrected)]
    _say_radar(view, own[0], own[1:], axes, missing)
    code(relative_to_layer)


def _say_radar(view: View, own: Values, values: list[Values], axes: list[str], missing: list[str]) -> None:
    top = int(own.argmax())
    st.markdown(
        f"1 is the layer’s largest value on an axis, 0 its smallest, so the rim does not mean much attention: on "
        f"**{escaped(axes[top])}** head {view.head + 1} stands at {own[top]:.2f} with a raw value of "
        f"{values[0][top]:.3f}, {values[1][top]:.2f} times what a head without preference gives. The correction "
        "divides all heads by the same number, so it leaves the shape as it is."
    )
    if missing:
        st.caption(f"Not drawn, because this text has nothing of the kind: {', '.join(missing).lower()}.")
