"""The screens of the attention-metrics lesson about one head and about all heads."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from lab.analysis.heads import metrics
from lab.analysis.heads.attention import attention_map, heaviest
from lab.analysis.heads.comparing import block_size
from lab.analysis.heads.effective import RowEntropy, effective_keys, entropy_of_row
from lab.analysis.heads.formulas import tex
from lab.analysis.heads.metrics import Metric
from lab.analysis.heads.values import Values, is_causal
from lab.course.pages import bench_of
from lab.course.words import head_name
from lab.figures import metrics as figures
from lab.figures.attention import BARS
from lab.figures.metrics import unit
from lab.figures.multi_head import CELLS
from lab.lessons.attention_metrics import LESSON, MANY, checks, meanings
from lab.lessons.attention_metrics.summary import show_summary
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import meaning, try_this, way_to
from lab.ui.parameters import HEAD, LAYER, TOKEN
from lab.ui.quiz.blanks import blanks
from lab.ui.quiz.predictions import predict
from lab.ui.shared.metric_choice import choose_metric, choose_version, found, no_choice, rows_of, threshold, uniform
from lab.ui.shared.one_head import OneHead
from lab.ui.tables import show_table
from lab.ui.terms import say

ALL_HEADS = "all-heads"
_ROWS = 24  # number of terms of a row in the list


def show_effective(view: OneHead) -> None:
    """Show at how many tokens the words look in a head, in effect."""
    keys = effective_keys(view.layer.attention[view.head : view.head + 1])[0]
    say(
        f"In this head, {view.token(view.query)} gives some attention to every token that it sees. But most of these "
        "weights are tiny. At how many tokens does this word look, in effect? Equal weights on three tokens count as "
        "three; a tiny weight counts little, but many of them add up."
    )
    if not predict(LESSON, checks.at_how_many(view.token(view.query), float(keys[view.query]), _seen(view))):
        return
    draw(partial(figures.effective, view.trace, view.layer.index, view.head, view.query), "effective")
    if len(view.trace) > BARS:
        st.caption(f"{BARS} of {len(view.trace)} tokens are drawn, around the chosen one.")
    meaning(meanings.looks_at(view.trace, view.layer.index, view.head, view.query))
    say(meanings.why_so_many(attention_map(view.layer, view.head)[view.query]))
    _try_another_word(view, keys)
    code(effective_keys)


def _seen(view: OneHead) -> int:
    """Count the keys that the chosen query may see."""
    return int((view.layer.attention[view.head, view.query] > 0).sum())


def _try_another_word(view: OneHead, keys: Values) -> None:
    """Offer the word that looks at the most tokens in this head, or from there the word that looks at the fewest."""
    words = [at for at, special in enumerate(view.trace.encoding.special) if not special]
    if len(words) < 2:
        return
    widest, narrowest = (int(find(words, key=lambda at: float(keys[at]))) for find in (max, min))
    other, what = (narrowest, "fewest") if view.query == widest else (widest, "most")
    why = f"In your text, {view.token(other)} looks at the {what} tokens."
    try_this(why, f"Look from {view.trace.labels[other]}", {TOKEN: other + 1})


def show_two(view: OneHead) -> None:
    """Show the maps of two heads, ask for a prediction, then show their numbers."""
    layer, trace = view.layer.index, view.trace
    other = meanings.least_alike(trace, layer, view.head)
    if other is None:
        st.info("This layer has no second head to compare with.", icon=":material/info:")
        return
    say(
        "Here is the chosen head, and the head of this layer that differs most from it. A row with one strong cell "
        "looks at one word. A row of weak cells looks at many words."
    )
    asked = st.container()  # above the maps, so that a class sees question and maps
    draw(partial(figures.two_heads, trace, layer, view.head, other), "two-heads")
    block = block_size(len(trace), CELLS)
    if block > 1:
        st.caption(f"{len(trace)} tokens: each cell is the largest weight of a block of {block} × {block}.")
    keys = effective_keys(view.layer.attention).mean(axis=-1)
    question = checks.looks_at_more([(layer, view.head), (layer, other)], [float(keys[view.head]), float(keys[other])])
    with asked:
        known = predict(LESSON, question)
    if not known:
        return
    meaning(meanings.two(trace, layer, view.head, other))
    _try_a_layer(view)
    label = f"{MANY.title()} numbers of both heads"
    with st.expander(label, icon=":material/table:", on_change="rerun", key="_both") as both:
        if both.open:
            _table_of_two(view, [(layer, view.head), (layer, other)], choose_version())


def _try_a_layer(view: OneHead) -> None:
    """The layer in which the most even and the least even head are farthest apart."""
    spread = found(view.trace).corrected["spread"]
    most = int(np.ptp(spread, axis=1).argmax())
    if most != view.layer.index:
        try_this(
            f"in layer {most + 1}, the widest and the narrowest head differ most. See them.",
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


def show_numbers(view: OneHead) -> None:
    """Show one metric for every head; behind clicks, its formula for this head, and all metrics."""
    config = view.trace.model.config
    metric, corrected = choose_metric(), choose_version()
    values = found(view.trace).values(metric.id, corrected)
    if no_choice(values):
        return
    shown = (metric.id, view.layer.index, view.head, corrected, threshold())
    draw(partial(figures.all_heads, view.trace, *shown), ALL_HEADS, clickable=True)
    st.caption(
        f"Each row is a layer, and each column is a head: {config.layers} × {config.heads}. Click one to choose it."
        f"{meanings.same_as_before(metric, corrected)}"
    )
    meaning(meanings.sorted_heads(values, metric, float(uniform(view.trace).values(metric.id, corrected)[0])))
    _try_an_end(view, metric, values)
    with st.expander("The formula, with this head’s numbers", on_change="rerun", key="_formula") as formula:
        if formula.open:
            _show_card(view, metric, corrected)
    with st.expander(
        f"All {MANY} numbers of this head", icon=":material/table:", on_change="rerun", key="over_all_heads"
    ) as folded:
        if folded.open:
            show_summary(view.trace, (view.layer.index, view.head), corrected)
            say(meanings.stands_out(found(view.trace), (view.layer.index, view.head)))
    way_to("On the bench", bench_of("model-view"))
    code(metrics.trace_metrics, metrics.attention_metrics)


def _show_card(view: OneHead, metric: Metric, corrected: bool) -> None:
    """Write the metric's formula with the numbers of the chosen head."""
    n, causal = len(view.trace), is_causal(view.trace)
    say(
        f"**{view.place[0].upper()}{view.place[1:]}**, {n} tokens: $A$ is its map, $i$ a query, $j$ a key"
        + (_keys_seen(n, causal) if corrected else ".")
    )
    cells = metrics.one_head(attention_map(view.layer, view.head), causal=causal, threshold=threshold())
    _card(view, metric, corrected, cells)


def _keys_seen(n: int, causal: bool) -> str:
    """Explain ℓ, which occurs only in corrected formulas."""
    seen = f"1 to {n}: the model is causal" if causal else f"here always {n}"
    return rf", $\ell_i$ how many keys query i may see ({seen})."


def _card(view: OneHead, metric: Metric, corrected: bool, cells: metrics.Cells) -> None:
    every, even = found(view.trace), uniform(view.trace)
    values = every.values(metric.id, corrected)
    own = float(values[view.layer.index, view.head])
    st.latex(metric.corrected if corrected else metric.formula)
    st.latex(rf"\small {metric.fill(cells, corrected)}")
    above = int(np.count_nonzero(values > own))
    most = metric.corrected_high if corrected else metric.high
    limit = "" if most is None else f" No head can have more than {most:g}."
    tau = f" τ is {threshold():g}." if metric.uses_threshold and not corrected else ""
    say(
        f"**{own:.3f}** {unit(metric, corrected)}. A uniform head has "
        f"{float(even.values(metric.id, corrected)[0]):.3f}; {above} of the {values.size - 1} other heads have a "
        f"higher value.{limit} {metric.symbols}{tau}"
    )
    if metric.also:
        st.caption(f"Some call it “{metric.also}”. In this lab, the name of a metric says what a high value means.")


def show_by_hand(view: OneHead) -> None:
    """Write out the entropy of one row, term by term."""
    weights = attention_map(view.layer, view.head)
    row = entropy_of_row(weights, view.query, causal=is_causal(view.trace))
    count = len(row.weights)
    if count < 2:
        st.info(
            "This word sees only one token: its weight is 1, and the entropy is 0. Choose a later word.",
            icon=":material/info:",
        )
        return
    say(
        f"These are the {count} weights of {view.token(view.query)} in {view.place}. Multiply each of them by its "
        "natural logarithm, add up the products, and change the sign."
    )
    _show_terms(view, row)
    if _own_share(view, row):
        meaning(meanings.row(view.trace, view.query, row))
    code(entropy_of_row)


def _show_terms(view: OneHead, row: RowEntropy) -> None:
    """List the terms of the sum, and the sum."""
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
        st.caption(f"These are the {len(shown)} largest weights of {count}. The other weights add {rest:.4f}.")
    first, second = sorted(range(count), key=lambda i: -row.weights[i])[:2]
    st.latex(
        rf"H = -({tex(row.weights[first])} \cdot \ln {tex(row.weights[first])}) - "
        rf"({tex(row.weights[second])} \cdot \ln {tex(row.weights[second])})"
        + (r" - \dots" if count > 2 else "")
        + rf" = {tex(row.total)}\ \text{{nats}}"
        if row.weights[second] > 0
        else rf"H = {tex(row.total)}\ \text{{nats}}"
    )
    say(
        f"So this row looks at e^{row.total:.3f} = **{row.keys:.2f}** tokens, in effect. A row that is spread evenly "
        f"over all {count} has the entropy ln {count} = {row.largest:.3f}."
    )


def _own_share(view: OneHead, row: RowEntropy) -> bool:
    """Ask for the row's share of its largest possible entropy; return whether the answer is right."""
    count = len(row.weights)
    say(f"Your turn: what share of the largest possible entropy, ln {count}, does this row have?")
    known = blanks(
        {"Share of the maximum": row.total / row.largest},
        f"Divide {row.total:.3f} by {row.largest:.3f}.",
        f"_metrics.{hash(view.trace.token_ids)}.{view.layer.index}.{view.head}.{view.query}",
    )
    if known:
        st.success(
            f"{row.total:.3f} ÷ {row.largest:.3f} = {row.total / row.largest:.3f}. The mean of this share over all "
            "rows is the metric **Spread (entropy)**, corrected.",
            icon=":material/check:",
        )
    return known


def _try_an_end(view: OneHead, metric: Metric, values: Values) -> None:
    """Offer the head with the highest value; from there, the head with the lowest."""
    high, low = meanings.ends(values)
    at, which = (low, "lowest") if (view.layer.index, view.head) == high else (high, "highest")
    if high != low:
        try_this(
            f"{head_name(at)} has the {which} value. Can you see it in its arcs?",
            f"Open the head with the {which} {metric.name.split(' (')[0].lower()}",
            {LAYER: at[0] + 1, HEAD: at[1] + 1},
        )
