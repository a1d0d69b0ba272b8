"""The six numbers: all metrics of all heads at once; for one head, each formula with the head's own numbers."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from lab.analysis.heads import metrics
from lab.analysis.heads.metrics import METRICS, PAPER, Metric, Metrics, metrics_by_chance, one_head, trace_metrics
from lab.analysis.heads.one_row import attention_map
from lab.analysis.heads.values import Values, is_causal
from lab.analysis.ranks import rank_correlation
from lab.charts.cells.heatmap import Heatmap
from lab.course.pages import bench_of
from lab.course.words import capital, head_name
from lab.figures.metric_figures import all_heads, by_length, unit
from lab.lessons.attention_metrics import EVERY, LESSON
from lab.models.interventions import Head
from lab.models.trace import Trace
from lab.questions.asking import Spot, asks
from lab.questions.question import Option, Question, derivable, ranked
from lab.ui import sidebar
from lab.ui.drawing import code, draw
from lab.ui.quiz.step_questions import predict
from lab.ui.screen import caption, meaning, say, show_table, way_to
from lab.ui.shared.metric_choice import choose_metric, choose_version, found, no_choice, threshold, uniform
from lab.ui.shared.one_head import OneHead

IDEA = """
The number of tokens in effect is about one row. Golshanrad & Faghih (2024) describe the whole map of a head by six
numbers."""
READING = """
Sorted by each of these numbers, {head} is between places {first} and {last} of the {count} heads, counted from the
lowest."""
STORY = """
So none of them finds 6-4. Five mix all nine rows of its map, of which two look most at *france*, the blank’s and
[CLS]’s; the largest weight is about one row of any kind. And five of the six say nearly one thing: in this sentence,
they put the heads into similar orders, or opposite ones (a rank correlation of {least:.2f} or more in size; 1 is the
same order). With the largest weight, none of them has more than {high:.2f}."""
HEATMAPS = "Rows are layers, columns are heads. Click a cell to choose its head. {version}"
CORRECTED = "The numbers are corrected for the length of the text."
RAW = "The numbers are raw, as the paper defines them."
UNIFORM = """
A **uniform head** gives every token the same weight, in any text. Still, its raw entropy grows with the length of the
text: a longer text has more rows, and each row has more tokens. **Corrected** numbers take this growth out, so that
texts can be compared."""
_IN_A_ROW = 3


def show(view: OneHead) -> None:
    """Show the maps of all metrics; behind clicks, the formula of one, and the reason for the correction."""
    say(IDEA)
    if not predict(LESSON, over_the_whole_map()):
        return
    with sidebar.folded():
        corrected = choose_version()
    every, head = found(view.trace), (view.layer.index, view.head)
    if no_choice(every.values(METRICS[0].id, corrected)):
        return
    _show_maps(view, corrected)
    caption(HEATMAPS.format(version=CORRECTED if corrected else RAW))
    meaning(reading(every, head, corrected) + story(every, corrected) * view.spot.in_story_head)
    with st.expander(f"The formulas, with the numbers of {head_name(head)}", on_change="rerun", key="_formula") as card:
        if card.open:
            _show_card(view, choose_metric(tau=not corrected), corrected)
            show_table(summary(view.trace, head, corrected, threshold()))
    with st.expander("Why corrected?", icon=":material/straighten:", on_change="rerun", key="_why_corrected") as why:
        if why.open:
            draw(partial(by_length, view.trace, "spread", *head, corrected=False), "grows-with-length")
            say(UNIFORM)
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
    say(f"{n} tokens: $A$ is the map of the head, $i$ a query, $j$ a key{keys}")
    cells = one_head(attention_map(view.layer, view.head), causal=causal, threshold=threshold())
    st.latex(metric.corrected if corrected else metric.formula)
    st.latex(rf"\small {metric.fill(cells, corrected)}")
    most = metric.corrected_high if corrected else metric.high
    even = float(uniform(view.trace).values(metric.id, corrected)[0])
    limit = "" if most is None else f" No head can have a value above {most:g}."
    tau = f" τ is {threshold():g}." if metric.uses_threshold and not corrected else ""
    own = float(found(view.trace).values(metric.id, corrected)[view.layer.index, view.head])
    say(f"**{own:.3f}** {unit(metric, corrected)}; a uniform head has {even:.3f}.{limit} {metric.symbols}{tau}")
    if metric.also:
        say(f"Some authors call this metric “{metric.also}”; the lab’s names say what a high value means.")


def alike(every: Metrics, corrected: bool) -> Values:
    """Return the sizes of the rank correlations between the paper's metrics over all heads, (6, 6); nan: no order."""
    values = [every.values(id, corrected) for id in PAPER]
    return np.abs([[rank_correlation(one, other) for other in values] for one in values])


def places(every: Metrics, head: Head, corrected: bool) -> list[int]:
    """Return the place of a head among all heads by each of the paper's metrics, from 1, the lowest value."""
    values = [every.values(id, corrected) for id in PAPER]
    return [int((each < each[head]).sum()) + 1 for each in values]


def reading(every: Metrics, head: Head, corrected: bool) -> str:
    """State between which places a head is by these metrics."""
    where = places(every, head, corrected)
    told = READING.format(head=head_name(head), first=min(where), last=max(where), count=every.removed.size)
    return capital(told.strip())


def story(every: Metrics, corrected: bool) -> str:
    """The written finding about the course's sentence."""
    sizes, first = alike(every, corrected), PAPER.index("confidence_max")
    others = np.delete(np.delete(sizes, first, 0), first, 1)
    pairs, own = others[np.triu_indices(len(others), 1)], np.delete(sizes[first], first)
    return STORY.format(least=pairs.min(), high=own.max())


def summary(trace: Trace, head: Head, corrected: bool, tau: float) -> pd.DataFrame:
    """One row per metric: ``head`` (from 0), mean and standard deviation over all heads, a uniform head."""
    every, even = trace_metrics(trace, tau), metrics_by_chance(trace, tau)
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
    basis=derivable("self-attention", "map", "the rows of 6-4 in its map"),
    hint="How do the other eight rows of the map look?",
)
def over_the_whole_map() -> Question:
    """Ask where the course's head is among all heads if the number of tokens in effect is averaged over its map."""
    return Question(
        "over-the-whole-map",
        "In lab-minilm, the row of the blank in 6-4 is the third sharpest of 72. Now average the number of tokens in "
        "effect over all "
        "nine rows of each head. Where is 6-4?",
        (
            Option(
                "Near the middle of the 72 heads",
                "It is at place 31: its other rows are divided among 2.6 to 6.1 tokens.",
                correct=True,
            ),
            Option(
                "Again among the sharpest heads",
                "One sharp row is a ninth of the mean. The other rows of 6-4 are divided among 2.6 to 6.1 tokens.",
            ),
            Option(
                "Among the widest heads",
                "Its other rows are wider than the row of the blank, but other heads have far wider ones.",
            ),
        ),
        mixed=True,
    )


@asks(
    basis=derivable(LESSON, "numbers", "the formulas of both confidences"),
    hint="Suppose five of nine rows had a weight of 0.9. How large would the mean be at least?",
)
def maximum_is_one_row() -> Question:
    """Ask what the largest weight of a map, and the mean of the largest weights of its rows, say together."""
    return Question(
        "maximum-is-one-row",
        "In 6-4 of lab-minilm, the largest weight of all is 0.96; the largest weight of a row is 0.50 on average. "
        "What follows?",
        (
            Option(
                "Every token gives some token about 0.96",
                "Then the mean would be near 0.96, too. The maximum is about one row.",
            ),
            Option(
                "The rows are alike: each has a weight near 0.50",
                "One row has 0.96, so they are not alike. A mean does not say how far the others are from it.",
            ),
            Option(
                "Most rows have no weight of 0.9 or more",
                "Five rows with 0.9, and four with at least 1/9, would give a mean of 0.55.",
                correct=True,
            ),
        ),
        mixed=True,
    )


@asks(
    basis=derivable(LESSON, "numbers", "the corrected formula of the spread"),
    hint="Think of an even row over a few tokens and of an even row over many tokens.",
)
def why_divided() -> Question:
    """Ask why the entropy of a row is divided by the logarithm of its length."""
    return Question(
        "why-divided",
        "A row can look at 9 tokens. Its corrected entropy is its entropy divided by ln 9. Why?",
        (
            Option(
                "So that the weights of the row add up to 1",
                "They do so after softmax, before anybody computes an entropy.",
            ),
            Option(
                "So that texts of different length can be compared",
                "The entropy of an even row is 2.20 over 9 tokens, and 2.89 over 18. After the division, both are 1.",
                correct=True,
            ),
            Option(
                "So that a row that looks at only one token gets 1",
                "The entropy of such a row is 0, and 0 divided by anything is 0. An even row gets 1.",
            ),
        ),
        mixed=True,
    )


def _confidences(spot: Spot) -> Heatmap:
    return all_heads(spot.trace, "confidence_avg", spot.layer, spot.head)


_MAP = derivable(LESSON, "numbers", "the map of confidence (average)")


@asks("layer", basis=_MAP, figure=_confidences)
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
    return ranked("most-confident", prompt, averages.tolist(), lambda head: f"Head {head + 1}", why)
