"""The screens of the attention-metrics lesson about one head and about all of them."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from lab.analysis.heads import metric_parts, metrics
from lab.analysis.heads.attention import attention_map, heaviest
from lab.analysis.heads.comparing import block_size
from lab.analysis.heads.metrics import METRICS, Metric, Metrics
from lab.analysis.heads.values import Values, is_causal
from lab.course.heads import head_name
from lab.course.metric_cards import SYMBOLS, filled, tex
from lab.course.pages import bench_of
from lab.figures import metrics as figures
from lab.figures.metrics import unit
from lab.figures.multi_head import CELLS
from lab.lessons.attention_metrics import LESSON, checks, meanings
from lab.lessons.attention_metrics.summary import show_summary
from lab.ui.drawing import code, draw
from lab.ui.frame.script import meaning, try_this, way_to
from lab.ui.parameters import HEAD, LAYER
from lab.ui.quiz.blanks import blanks
from lab.ui.quiz.predictions import predict
from lab.ui.shared.metric_choice import choose_metric, choose_version, found, no_choice, rows_of, threshold, uniform
from lab.ui.shared.one_head import OneHead, draw_map
from lab.ui.tables import show_table

ALL_HEADS = "all-heads"
_ROWS = 24  # terms of a row that are listed


def show_two(view: OneHead) -> None:
    """Two maps, a prediction, then their numbers."""
    layer, trace = view.layer.index, view.trace
    spread = found(view.trace).corrected["spread"][layer]
    other = metric_parts.contrast(spread, view.head)
    if other is None:
        st.info("There is no second head with a value to compare with here.", icon=":material/info:")
        return
    heads = [(layer, view.head), (layer, other)]
    st.markdown(
        "Here are two heads of one layer, on one scale: the chosen one, and the one whose entropy differs most from "
        "it. A row with one strong cell is certain, a faint row is spread out. **Entropy** puts a number on that. "
        "This lesson takes natural logarithms, so its unit is the **nat**. Queries run down, keys across."
    )
    asked = st.container()  # above the maps, so that a class sees both
    draw(partial(figures.two_heads, trace, layer, view.head, other), "two-heads")
    block = block_size(len(trace), CELLS)
    if block > 1:
        st.caption(f"{len(trace)} tokens: each cell is the largest weight of a block of {block} × {block}.")
    question = checks.higher_entropy(heads, [float(spread[view.head]), float(spread[other])])
    with asked:
        known = predict(LESSON, question)
    if not known:
        return
    corrected = choose_version()
    _table_of_two(view, heads, corrected)
    st.markdown(
        "Each head gets six numbers. A **uniform head** gives every key it may see the same weight: its numbers are "
        "what a head scores that prefers nothing. So they tell you which heads choose at all, and where it pays to "
        "look closer. The next step fills in the formulas."
    )
    meaning(meanings.two(trace, layer, view.head, other))
    _try_a_layer(view)


def _try_a_layer(view: OneHead) -> None:
    """The layer in which the most even and the least even head are farthest apart."""
    spread = found(view.trace).corrected["spread"]
    most = int(np.ptp(spread, axis=1).argmax())
    if most != view.layer.index:
        try_this(
            f"In layer {most + 1}, the most certain and the most even head are farthest apart.",
            f"Open layer {most + 1}",
            {LAYER: most + 1, HEAD: int(spread[most].argmin()) + 1},
        )


def _table_of_two(view: OneHead, heads: list[tuple[int, int]], corrected: bool) -> None:
    every, even, rows = found(view.trace), uniform(view.trace), rows_of(corrected)
    table = pd.DataFrame(
        {
            "metric": list(rows),
            **{
                head_name((layer, head)): [float(every.values(m.id, how)[layer, head]) for m, how in rows.values()]
                for layer, head in heads
            },
            "uniform head": [float(even.values(metric.id, how)[0]) for metric, how in rows.values()],
            "unit": [unit(*row) for row in rows.values()],
        }
    )
    numbers = dict.fromkeys(table.columns[1:-1], "%.3g")
    show_table(table, formats=numbers)


def show_six(view: OneHead) -> None:
    """A card for each metric: its formula, this head's numbers in it, what it says."""
    corrected = choose_version()
    n, causal = len(view.trace), is_causal(view.trace)
    st.markdown(
        f"**{view.place[0].upper()}{view.place[1:]}**, {n} tokens: $A$ is its map, $i$ a query, $j$ a key"
        + (_keys_seen(n, causal) if corrected else ".")
    )
    parts = metric_parts.metric_parts(attention_map(view.layer, view.head), causal=causal, threshold=threshold())
    every, even = found(view.trace), uniform(view.trace)
    for start in range(0, len(METRICS), 2):
        for column, metric in zip(st.columns(2), METRICS[start : start + 2], strict=False):
            with column, st.container(border=True, height="stretch"):
                _card(view, metric, corrected, parts, every, even)
    meaning(meanings.stands_out(every, (view.layer.index, view.head)))
    code(metrics.attention_metrics)


def _keys_seen(n: int, causal: bool) -> str:
    """What ℓ is: only corrected formulas have it."""
    seen = f"1 to {n}: the model is causal" if causal else f"here always {n}"
    return rf", $\ell_i$ how many keys query i may see ({seen})."


def _card(
    view: OneHead, metric: Metric, corrected: bool, parts: metric_parts.MetricParts, every: Metrics, even: Metrics
) -> None:
    values = every.values(metric.id, corrected)
    own = float(values[view.layer.index, view.head])
    st.markdown(f"**{metric.name}**")
    st.latex(metric.corrected if corrected else metric.formula)
    if math.isnan(own):
        st.markdown("No row has a choice here, so there is no value.")
        return
    st.latex(rf"\small {filled(metric.id, parts, corrected)}")
    above = int(np.count_nonzero(values > own))
    st.markdown(
        f"**{own:.3f}** {unit(metric, corrected)} · uniform head {float(even.values(metric.id, corrected)[0]):.3f} · "
        f"{above} of {values.size - 1} other heads are higher"
    )
    tau = f"τ is {threshold():g}." if metric.uses_threshold and not corrected else ""
    st.markdown(f"{metric.reading} *{metric.use}* {SYMBOLS.get(metric.id, '')}{tau}")
    if metric.also:
        st.caption(f"Some call it “{metric.also}”. Here the name says what a high value means.")


def show_by_hand(view: OneHead) -> None:
    """The entropy of one row, term by term."""
    weights = attention_map(view.layer, view.head)
    row = metric_parts.entropy_of_row(weights, view.query, causal=is_causal(view.trace))
    count = len(row.weights)
    if count < 2:
        st.info(
            "This query sees one key only: its weight is 1 and the entropy 0. Choose a later token.",
            icon=":material/info:",
        )
        return
    st.markdown(
        f"This is the row of {view.token(view.query)} in {view.place}. Its {count} weights become one entropy: "
        "multiply each weight by its natural logarithm, add the products up, change the sign."
    )
    _show_terms(view, row)
    if _own_share(view, row):
        meaning(meanings.row(view.trace, view.query, row))
    code(metric_parts.entropy_of_row)


def _show_terms(view: OneHead, row: metric_parts.RowEntropy) -> None:
    """The terms of the sum, and the sum."""
    count = len(row.weights)
    shown = heaviest(row.weights.astype(np.float32), int(row.weights.argmax()), _ROWS)
    table = pd.DataFrame(
        {
            "key": [view.trace.labels[i] for i in shown],
            "weight A": row.weights[shown],
            "ln A": row.logarithms[shown],
            "−A ln A": row.terms[shown],
        },
        index=[i + 1 for i in shown],
    )
    numbers = dict.fromkeys(table.columns[1:], "%.4f")
    show_table(table, formats=numbers, numbered=True)
    if count > len(shown):
        rest = row.total - float(row.terms[shown].sum())
        st.caption(f"The {len(shown)} largest weights of {count}; the other rows add {rest:.4f}.")
    first, second = sorted(range(count), key=lambda i: -row.weights[i])[:2]
    st.latex(
        rf"H = -({tex(row.weights[first])} \cdot \ln {tex(row.weights[first])}) - "
        rf"({tex(row.weights[second])} \cdot \ln {tex(row.weights[second])})"
        + (r" - \dots" if count > 2 else "")
        + rf" = {tex(row.total)}\ \text{{nats}}"
        if row.weights[second] > 0
        else rf"H = {tex(row.total)}\ \text{{nats}}"
    )
    st.markdown(
        f"A row that is spread evenly over all {count} keys has ln {count} = {row.largest:.3f}. This row is as "
        f"uncertain as one that is spread evenly over e^{row.total:.3f} = **{row.keys:.2f}** keys."
    )


def _own_share(view: OneHead, row: metric_parts.RowEntropy) -> bool:
    """Asks for the row's share of the largest entropy it could have; whether that is known."""
    count = len(row.weights)
    st.markdown(f"Now you: what share of its maximum, ln {count}, is this row’s entropy?")
    known = blanks(
        {"Share of the maximum": row.total / row.largest},
        f"Divide {row.total:.3f} by {row.largest:.3f}.",
        f"_metrics.{hash(view.trace.token_ids)}.{view.layer.index}.{view.head}.{view.query}",
    )
    if known:
        st.success(
            f"{row.total:.3f} ÷ {row.largest:.3f} = {row.total / row.largest:.3f}. The mean of this over all rows is "
            "Spread (entropy), corrected.",
            icon=":material/check:",
        )
    return known


def show_all(view: OneHead) -> None:
    """One metric of every head."""
    config = view.trace.model.config
    st.markdown(
        f"This model has {config.layers} × {config.heads} = {config.layers * config.heads} heads. Each has a map of "
        f"{len(view.trace)} × {len(view.trace)} weights."
    )
    metric, corrected = choose_metric(), choose_version()
    values = found(view.trace).values(metric.id, corrected)
    if no_choice(values):
        return
    layers, heads = values.shape
    shown = (metric.id, view.layer.index, view.head, corrected, threshold())
    draw(partial(figures.all_heads, view.trace, *shown), ALL_HEADS, clickable=True)
    even = float(uniform(view.trace).values(metric.id, corrected)[0])
    st.markdown("Click a head to choose it.")
    meaning(meanings.sorted_heads(values, metric, even))
    _try_an_end(view, metric, values)
    with st.expander(
        "All six metrics, over all heads", icon=":material/table:", on_change="rerun", key="over_all_heads"
    ) as folded:
        if folded.open:
            st.markdown("The step “Six numbers” says what each of them is.")
            show_summary(view.trace, (view.layer.index, view.head), corrected)
    draw_map(view, view.trace, f"The chosen head: {view.place}", "chosen-head")
    n = len(view.trace)
    st.markdown(
        f":material/arrow_downward: **On the way.** The metrics read {layers * heads} maps of {n} × {n} weights and "
        f"make {len(METRICS)} numbers of each map, {layers * heads * len(METRICS)} in all. The model never sees these "
        "numbers. Its weights go on to the values, as in lesson 3."
    )
    way_to("On the bench", bench_of("model-view"))
    code(metrics.trace_metrics)


def _try_an_end(view: OneHead, metric: Metric, values: Values) -> None:
    """The head with the highest value; from there, the one with the lowest."""
    high, low = meanings.ends(values)
    at, which = (low, "lowest") if (view.layer.index, view.head) == high else (high, "highest")
    if high != low:
        try_this(
            f"{head_name(at).capitalize()} has the {which} value. Can you see it in its map?",
            f"Open the head with the {which} {metric.name.split(' (')[0].lower()}",
            {LAYER: at[0] + 1, HEAD: at[1] + 1},
        )
