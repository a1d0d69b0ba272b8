"""Six numbers: all metrics of all heads at once; for one head, each metric's formula with the head's own numbers."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from lab.analysis.heads import metrics
from lab.analysis.heads.attention import attention_map
from lab.analysis.heads.metrics import METRICS, Metric, Metrics, one_head, trace_metrics
from lab.analysis.heads.values import Values, is_causal
from lab.analysis.ranks import rank_correlation
from lab.course.pages import bench_of
from lab.course.words import head_name, listed
from lab.figures.metrics import all_heads, by_length, unit
from lab.lessons.attention_metrics import EVERY, LESSON, MANY
from lab.models.interventions import Head
from lab.models.trace import Trace
from lab.questions.asking import asks
from lab.questions.basis import derivable
from lab.questions.kinds import ranked
from lab.questions.question import Option, Question, shuffled
from lab.questions.returning import Spot
from lab.ui import sidebar
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import meaning, way_to
from lab.ui.shared.metric_choice import choose_metric, choose_version, found, no_choice, threshold, uniform
from lab.ui.shared.one_head import OneHead
from lab.ui.tables import show_table
from lab.ui.terms import say

# From this rank correlation on, two metrics put the heads into nearly the same order, or into the opposite one.
SAME = 0.8
# With fewer heads, shuffled numbers often have a rank correlation of 0.8, too.
FEW = 8
_IN_A_ROW = 3


def alike(every: Metrics) -> Values:
    """Return the sizes of the rank correlations between the corrected metrics over all heads, (M, M); nan: no order."""
    values = [every.corrected[metric.id] for metric in METRICS]
    return np.abs([[rank_correlation(one, other) for other in values] for one in values])


def said(every: Metrics) -> str:
    """Say how many of the metrics put the heads into nearly the same order."""
    pairs = alike(every)
    if not np.isfinite(pairs).all():
        return "Some of these numbers are the same for all heads here, so they sort nothing."
    count = every.removed.size
    if count < FEW:
        return (
            f"{count} heads are too few to compare: even unrelated numbers often put them into the same order. Choose "
            "a model with more heads."
        )
    one, other = np.triu_indices(len(METRICS), 1)
    close = int((pairs[one, other] >= SAME).sum())
    return (
        f"These {MANY} numbers are not {MANY} different facts. Of {len(one)} pairs of metrics, {close} put the heads "
        f"into nearly the same order or into the opposite order (a rank correlation of {SAME} or more, where 1 is the "
        "same order)."
    )


def stands_out(every: Metrics, head: Head) -> str:
    """Say in which of the metrics a head is nearest to an end of all heads.

    Heads are ranked, as the units differ.
    """
    ranks = []
    for metric in METRICS:
        values = every.raw[metric.id]
        above, below = (int(np.count_nonzero(side)) for side in (values > values[head], values < values[head]))
        if above + below:
            ranks.append((min(above, below) + 1, "highest" if above <= below else "lowest", metric))
    if not ranks:
        return "All heads have the same numbers here, so no head stands out."
    best = min(rank for rank, _, _ in ranks)
    places = []
    for side in ("lowest", "highest"):
        names = [metric.name for rank, at, metric in ranks if (rank, at) == (best, side)]
        if names:
            places.append(f"{f'the {side}' if best == 1 else f'number {best} from the {side}'} by {listed(names)}")
    other = (
        " On the other metrics, this head is farther from the extremes."
        if any(rank > best for rank, _, _ in ranks)
        else ""
    )
    return f"Among all {every.removed.size} heads, {head_name(head)} is {', and '.join(places)}.{other}"


def summary(trace: Trace, head: Head, corrected: bool, tau: float) -> pd.DataFrame:
    """One row per metric: mean and standard deviation over all heads, ``head`` (from 0), a uniform head."""
    every, even = trace_metrics(trace, tau), metrics.metrics_by_chance(trace, tau)
    values = {metric.name: every.values(metric.id, corrected) for metric in METRICS}
    return pd.DataFrame(
        {
            "metric": list(values),
            head_name(head): [float(each[head]) for each in values.values()],
            "mean": [float(np.mean(each)) for each in values.values()],
            "standard deviation": [float(np.std(each)) for each in values.values()],
            "uniform head": [float(even.values(metric.id, corrected)[0]) for metric in METRICS],
            "unit": [unit(metric, corrected) for metric in METRICS],
        }
    )


@asks(
    "layer",
    "head",
    basis=derivable(LESSON, "numbers", "the formulas of both confidences"),
    hint="One of the two numbers is about one row. The other number is about all rows.",
    returns=1,
)
def maximum_is_one_row(spot: Spot) -> Question | None:
    """Ask how many rows of one head have a weight near its maximum, which says something about one row only."""
    rows = one_head(attention_map(spot.traced, spot.head), causal=is_causal(spot.trace)).largest[0]
    largest, mean, n = float(rows.max()), float(rows.mean()), len(rows)
    near = int(np.count_nonzero(rows > largest / 2))
    if largest - mean < 0.2 or near > n / 3:
        return None
    name = head_name((spot.layer, spot.head))
    return shuffled(
        "maximum-is-one-row",
        f"In {name}, the largest weight of all is {largest:.2f}. The largest weight of a row is {mean:.2f} on "
        "average. What does this tell you?",
        [
            Option(
                "Only few rows have such a large weight",
                f"{near} of {n} rows have a weight above {largest / 2:.2f}. The maximum tells you about a single row "
                "only.",
                correct=True,
            ),
            Option(
                f"Every token gives some token about {largest:.1f}",
                f"Then the average would be near {largest:.2f}. It is {mean:.2f}.",
            ),
            Option(
                f"In most rows, the largest weight is above {largest:.1f}",
                f"No weight is above {largest:.2f}, because this is the largest of all weights.",
            ),
        ],
    )


@asks("layer", basis=derivable(LESSON, "numbers", "the map of confidence (average)"), for_a_class=True)
def most_confident(spot: Spot) -> Question | None:
    """Ask which head of a layer has the clearest favourites."""
    heads = range(spot.trace.model.config.heads)
    averages = np.array([attention_map(spot.traced, head).max(axis=1).mean() for head in heads])

    def why(head: int, best: int) -> str:
        tail = ", the highest." if head == best else f"; head {best + 1} has {averages[best]:.3f}."
        return f"Its largest weight in a row is {averages[head]:.3f} on average{tail}"

    prompt = (
        f"In which head of layer {spot.layer + 1} is **confidence (average)** highest, so that its tokens have the "
        "clearest favourites?"
    )
    return ranked("most-confident", prompt, averages.tolist(), lambda head: f"Head {head + 1}", why, of=len(averages))


def introduced(n: int, corrected: bool) -> str:
    """Say what the maps show of a text of ``n`` tokens, and what is corrected."""
    told = (
        f"Golshanrad & Faghih 2024 describe heads by {MANY} metrics. In the maps, rows are layers, and columns are "
        "heads. Click one to choose it."
    )
    if not corrected:
        return f"{told} The numbers are **raw**, as the paper defines them."
    return (
        f"{told} The numbers are **corrected** for the text’s length: divided by the entropy of an even row (ln {n}), "
        "or by its weights (the **uniform weight**)."
    )


def show(view: OneHead) -> None:
    """Show the maps of all metrics; behind clicks, the formula of one, a table, and the reason for the correction."""
    with sidebar.folded():
        corrected = choose_version()
    say(introduced(len(view.trace), corrected))
    if any(no_choice(found(view.trace).values(metric.id, corrected)) for metric in METRICS[:1]):
        return
    _show_maps(view, corrected)
    meaning(said(found(view.trace)))
    with st.expander(
        "The formula of a metric, with the numbers of this head", on_change="rerun", key="_formula"
    ) as formula:
        if formula.open:
            _show_card(view, choose_metric(tau=not corrected), corrected)
    label = f"All {MANY} numbers of this head"
    with st.expander(label, icon=":material/table:", on_change="rerun", key="over_all_heads") as folded:
        if folded.open:
            _show_summary(view, corrected)
            say(stands_out(found(view.trace), (view.layer.index, view.head)))
    with st.expander("Why corrected?", icon=":material/straighten:", on_change="rerun", key="_why_corrected") as why:
        if why.open:
            _show_why(view)
    way_to("On the bench", bench_of("model-view"))
    code(metrics.trace_metrics, metrics.attention_metrics)


def _show_maps(view: OneHead, corrected: bool) -> None:
    """Draw one map for each metric, three in a row."""
    for start in range(0, len(METRICS), _IN_A_ROW):
        columns = st.columns(_IN_A_ROW)
        for column, metric in zip(columns, METRICS[start : start + _IN_A_ROW], strict=False):
            at = (metric.id, view.layer.index, view.head, corrected, threshold())
            with column:
                draw(partial(all_heads, view.trace, *at), f"{EVERY}-{metric.id}", clickable=True)
                st.caption(metric.reading)


def _show_card(view: OneHead, metric: Metric, corrected: bool) -> None:
    """Write the metric's formula, and below it the formula with the numbers of the chosen head."""
    n, causal = len(view.trace), is_causal(view.trace)
    seen = f"1 to {n}: the model is causal" if causal else f"here always {n}"
    keys = rf", $\ell_i$ how many keys query i may see ({seen})." if corrected else "."
    say(f"**{view.place[0].upper()}{view.place[1:]}**, {n} tokens: $A$ is its map, $i$ a query, $j$ a key{keys}")
    cells = one_head(attention_map(view.layer, view.head), causal=causal, threshold=threshold())
    st.latex(metric.corrected if corrected else metric.formula)
    st.latex(rf"\small {metric.fill(cells, corrected)}")
    values = found(view.trace).values(metric.id, corrected)
    own = float(values[view.layer.index, view.head])
    most = metric.corrected_high if corrected else metric.high
    limit = "" if most is None else f" No head can have a value above {most:g}."
    tau = f" τ is {threshold():g}." if metric.uses_threshold and not corrected else ""
    say(
        f"**{own:.3f}** {unit(metric, corrected)}. A uniform head, which gives every token the same weight, has the "
        f"value {float(uniform(view.trace).values(metric.id, corrected)[0]):.3f}. Of the {values.size - 1} other "
        f"heads, {int((values > own).sum())} have a higher value.{limit} {metric.symbols}{tau}"
    )
    if metric.also:
        say(
            f"Some authors call this metric “{metric.also}”. In this lab, the name of a metric says what a high "
            "value means."
        )


def _show_summary(view: OneHead, corrected: bool) -> None:
    """Draw the metrics of the chosen head beside those of all heads."""
    table = summary(view.trace, (view.layer.index, view.head), corrected, threshold())
    show_table(table, formats=dict.fromkeys(table.columns[1:-1], "%.3g"))
    st.caption(
        "The standard deviation says how far the heads are from their mean. It is 0 if all heads have the same value."
    )


def _show_why(view: OneHead) -> None:
    """Show how the raw entropy of a head without preference grows with the text alone."""
    at = (METRICS[2].id, view.layer.index, view.head)
    draw(partial(by_length, view.trace, *at, corrected=False), "grows-with-length")
    say(
        "A **uniform head** gives every token the same weight, in any text. Still, its raw entropy grows with the "
        "length of the text, because a longer text has more rows, and each row has more tokens. **Corrected** "
        "numbers take this growth out, so that you can compare texts. **Raw** numbers follow the paper."
    )
