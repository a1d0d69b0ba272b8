"""The dimensions of a head: one query's row in numbers, and the dimensions that produce a pattern."""

from __future__ import annotations

from dataclasses import replace

from numpy.typing import ArrayLike

from lab.analysis.heads.attention import heaviest, window
from lab.analysis.heads.named import CLEARLY
from lab.analysis.heads.neurons import Decision, NeuronRow, decide, kept_of, neuron_row
from lab.analysis.heads.patterns import PATTERNS, Pattern
from lab.charts.base.axes import AxisPlaces, Scale
from lab.charts.base.figure import Figure
from lab.charts.cells.heatmap import Heatmap
from lab.charts.cells.strips import VALUE, strips
from lab.charts.components.neuron_view import NeuronChart, neuron_chart
from lab.charts.marks.bars import bars
from lab.charts.marks.lines import lines
from lab.figures.attention import place
from lab.models.trace import Trace

# The most keys in one figure.
KEYS = 40
# The number of dimensions that get a separate bar.
NAMED = 10
_NO_CASE = "No query of this text sees both keys of the pattern {!r} and other keys."
ONLY, WITHOUT, NEEDED = "Only these", "Without these", "Score needed for the name"


def drawn_keys(row: NeuronRow, query: int, around: bool) -> list[int]:
    """Return the keys that get a row: all keys of a short text.

    In a long text, these are the heaviest keys, or the keys around the query.
    """
    n = len(row.keys)
    if n <= KEYS:
        return list(range(n))
    near = window(query, n, KEYS)
    return list(range(near.start, near.stop)) if around else heaviest(row.weights, query, KEYS)


def neurons(traced: Trace, layer: int, head: int, query: int, around: bool = False) -> NeuronChart:
    """Draw query, keys, products, scores, weights, values and their sum, with one line for each key that gets a row."""
    row, title = neuron_row(traced, layer, head, query), f"Dimensions of {place(layer, head)}"
    return neuron_chart(row, traced.labels, query, drawn_keys(row, query, around), title=title)


def pattern_of(id: str) -> Pattern:
    """Return the pattern with this id. Raises KeyError if there is no such pattern."""
    return {pattern.id: pattern for pattern in PATTERNS}[id]


def _decision(traced: Trace, layer: int, head: int, pattern: str) -> Decision:
    found = decide(traced, layer, head, pattern)
    if found is None:
        raise ValueError(_NO_CASE.format(pattern))
    return found


def deciding(traced: Trace, layer: int, head: int, pattern: str) -> Figure:
    """Draw how much more each dimension adds to the scores of the pattern's keys than to others; one bar for the rest.

    Raises ValueError if no query of the text sees both kinds of key.
    """
    found = _decision(traced, layer, head, pattern)
    values, rest = found.difference[found.order], max(0, len(found.order) - NAMED)
    labels = [f"dimension {dimension + 1}" for dimension in found.order[:NAMED]]
    shown = values[:NAMED].tolist()
    if rest:
        labels.append(f"the other {rest}")
        shown.append(float(values[NAMED:].sum()))
    title = f"{pattern_of(pattern).name}: what each dimension adds, {place(layer, head)}"
    return bars(labels, shown, Scale("Score of the pattern’s keys − the others’"), title=title)


def dimensions(traced: Trace, layer: int, head: int, pattern: str) -> Heatmap:
    """List the mean score that every dimension adds to the pattern's keys and to other keys, and the difference.

    Raises ValueError if no query of the text sees both kinds of key.
    """
    found = _decision(traced, layer, head, pattern)
    vectors, names = [found.pattern, found.others, found.difference], ["its keys", "other keys", "difference"]
    title = f"{pattern_of(pattern).name}: mean of q_d · k_d, {place(layer, head)}"
    return strips(vectors, names, replace(VALUE, title="Product"), title=title)


def neighbour_queries(traced: Trace, step: int) -> tuple[int, ...]:
    """Return the queries, from 0, whose products with a neighbour are shown: tokens 2, 8 and 14, as in Vig (2019).

    In a shorter text, take the first, the middle and the last word for which the token ``step`` places on is a word.
    """
    n, special = len(traced), traced.encoding.special
    able = [i for i in range(n) if not special[i] and 0 <= i + step < n and not special[i + step]]
    wanted = tuple(i for i in (1, 7, 13) if i in able)
    if len(wanted) == 3 or not able:
        return wanted
    return tuple(dict.fromkeys((able[0], able[len(able) // 2], able[-1])))


def neighbour_products(traced: Trace, layer: int, head: int, step: int) -> Heatmap:
    """Draw the products q_d · k_d of a few queries with the token ``step`` places on, one row for each query.

    Raises ValueError for a text without two words beside each other.
    """
    queries = neighbour_queries(traced, step)
    if not queries:
        raise ValueError("No word of this text has a word beside it.")
    rows = [neuron_row(traced, layer, head, i).products[i + step] for i in queries]
    names = [f"{i + 1} {traced.labels[i]} → {traced.labels[i + step]}" for i in queries]
    title = f"q_d · k_d of three tokens with their neighbours, {place(layer, head)}"
    return strips(rows, names, replace(VALUE, title="Product"), title=title)


def kept(traced: Trace, layer: int, head: int, pattern: str, count: int) -> Figure:
    """Draw the pattern's score with only the strongest dimensions, and without them; one point has ``count`` of them.

    Raises ValueError if no query of the text sees both kinds of key.
    """
    found = kept_of(traced, (layer, head), pattern, count)
    if found is None:
        raise ValueError(_NO_CASE.format(pattern))
    uniform = found.at(0)[0]  # without any dimension, the head is uniform
    needed = uniform + CLEARLY * (1 - uniform)
    series: dict[str, ArrayLike] = {ONLY: found.only, WITHOUT: found.without, NEEDED: [needed] * len(found.counts)}
    places, scale = AxisPlaces("Strongest dimensions", found.counts.tolist()), Scale("Score", (0.0, 1.0))
    return lines(series, places, scale, title=f"{pattern_of(pattern).name}: score of {place(layer, head)}")
