"""The neurons of a head: one query's row as numbers, and which dimensions make a pattern."""

from __future__ import annotations

import pandas as pd

from lab.analysis.heads.attention import heaviest, window
from lab.analysis.heads.named import CLEARLY
from lab.analysis.heads.neurons import Decision, Kept, NeuronRow, decide, kept_scores, neuron_row
from lab.analysis.heads.patterns import PATTERNS, Pattern
from lab.charts.base.figure import Figure
from lab.charts.cells.heatmap import Heatmap
from lab.charts.cells.strips import strips
from lab.charts.components.neuron_view import NeuronChart, neuron_chart
from lab.charts.marks.bars import bars
from lab.charts.marks.lines import lines
from lab.figures.attention import place
from lab.models.trace import Trace

# More rows than this are no figure any more.
KEYS = 40
# Dimensions with a bar of their own.
NAMED = 10
ONLY, WITHOUT, NEEDED = "Only these", "Without these", "Needed for the name"


def drawn_keys(row: NeuronRow, query: int, around: bool) -> list[int]:
    """The keys with a row: all of a short text; of a long one the heaviest, or those around the query."""
    n = len(row.keys)
    if n <= KEYS:
        return list(range(n))
    near = window(query, n, KEYS)
    return list(range(near.start, near.stop)) if around else heaviest(row.weights, query, KEYS)


def neurons_drawn(traced: Trace, row: NeuronRow, at: tuple[int, int], query: int, around: bool) -> NeuronChart:
    """The neuron view of a row already computed; ``at`` is (layer, head)."""
    title = f"Neurons of {place(*at)}"
    return neuron_chart(row, traced.labels, query, drawn_keys(row, query, around), title=title)


def neurons(traced: Trace, layer: int, head: int, query: int, around: bool = False) -> pd.DataFrame:
    """Query, keys, products, scores, weights, values and what comes of them: one line a key that is drawn."""
    return neurons_drawn(traced, neuron_row(traced, layer, head, query), (layer, head), query, around).table()


def pattern_of(id: str) -> Pattern:
    """The pattern of this id. Raises KeyError for one that does not exist."""
    return {pattern.id: pattern for pattern in PATTERNS}[id]


def _decision(traced: Trace, layer: int, head: int, pattern: str) -> Decision:
    found = decide(traced, layer, head, pattern)
    if found is None:
        raise ValueError(f"No query of this text sees keys of the pattern {pattern!r} and others besides.")
    return found


def deciding(traced: Trace, layer: int, head: int, pattern: str) -> Figure:
    """What each dimension adds to the pattern's keys over the others, the strongest first.

    Raises ValueError where no query of the text sees both kinds of key.
    """
    return deciding_drawn(_decision(traced, layer, head, pattern), (layer, head), pattern)


def deciding_drawn(found: Decision, at: tuple[int, int], pattern: str) -> Figure:
    """The same of a decision already computed. The last bar is the rest, so that the bars add up."""
    values, rest = found.difference[found.order], max(0, len(found.order) - NAMED)
    labels = [f"dimension {dimension + 1}" for dimension in found.order[:NAMED]]
    shown = values[:NAMED].tolist()
    if rest:
        labels.append(f"the other {rest}")
        shown.append(float(values[NAMED:].sum()))
    return bars(
        labels, shown, title=f"{pattern_of(pattern).name}: what each dimension adds, {place(*at)}",
        value_title="Score of the pattern’s keys − the others’",
    )  # fmt: skip


def dimensions(traced: Trace, layer: int, head: int, pattern: str) -> Heatmap:
    """What every dimension adds to the scores, as a mean: of the pattern's keys, of the others, and the difference.

    Raises ValueError where no query of the text sees both kinds of key.
    """
    return dimensions_drawn(_decision(traced, layer, head, pattern), (layer, head), pattern)


def dimensions_drawn(found: Decision, at: tuple[int, int], pattern: str) -> Heatmap:
    """The same of a decision already computed."""
    return strips(
        [found.pattern, found.others, found.difference], ["its keys", "other keys", "difference"],
        title=f"{pattern_of(pattern).name}: mean of q_d · k_d, {place(*at)}", value_title="Product",
    )  # fmt: skip


def kept(traced: Trace, layer: int, head: int, pattern: str, count: int) -> Figure:
    """The pattern's score with only the strongest dimensions, and without them; ``count`` is one of the points.

    Raises ValueError where no query of the text sees both kinds of key.
    """
    order = _decision(traced, layer, head, pattern).order.tolist()
    return kept_drawn(kept_scores(traced, (layer, head), pattern, order, count), (layer, head), pattern)


def kept_drawn(found: Kept, at: tuple[int, int], pattern: str) -> Figure:
    """The same of scores already computed. No dimension at all leaves a uniform head: the line starts half way up."""
    uniform = found.at(0)[0]
    needed = uniform + CLEARLY * (1 - uniform)
    return lines(
        {ONLY: found.only, WITHOUT: found.without, NEEDED: [needed] * len(found.counts)},
        title=f"{pattern_of(pattern).name}: score of {place(*at)}", x=found.counts.tolist(),
        x_title="Strongest dimensions", y_title="Score", y_domain=(0.0, 1.0),
    )  # fmt: skip
