"""Embeddings: the vectors that are added, their sum dimension by dimension, its LayerNorm, words of like vectors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lab.analysis.heads.one_row import window
from lab.analysis.layers.embeddings import SUMMANDS, parts, worked_dimension
from lab.analysis.words.neighbours import Neighbours, nearest_in_table
from lab.charts.base.axes import Axis, Scale, span
from lab.charts.base.figure import Figure
from lab.charts.cells.heatmap import Heatmap
from lab.charts.cells.slices import VALUE, strips
from lab.charts.marks.bars import bars
from lab.figures.trace_axes import tokens
from lab.models.trace import Trace
from lab.toy.models import CONSTRUCTED, dimension_labels

_TITLES = {"token": "Token vectors", "sum": "Embeddings summed", "LayerNorm": "Embeddings after LayerNorm"}
# The most dimensions, and tokens, that are readable on a laptop.
DIMENSIONS = 64
TOKENS = 32


def stretch(first: int, width: int) -> slice:
    """The dimensions (of ``width``) that are drawn: :data:`DIMENSIONS` from ``first`` on, or fewer at the end."""
    return slice(first, min(first + DIMENSIONS, width))


def dimension_names(traced: Trace, shown: slice) -> list[str]:
    """The names of some dimensions in a row: numbers from 1 or, in the constructed toy, their meanings."""
    if traced.model.id == CONSTRUCTED:
        return dimension_labels(traced.model)[shown]
    return [str(i + 1) for i in range(shown.start, shown.stop)]


def vectors(traced: Trace, token: int = 0, first: int = 0, part: str = "token") -> Heatmap:
    """Draw the row of the token table for each token, with a frame around the row of ``token``.

    In a long text, only the tokens around ``token`` are drawn. ``first`` is the first dimension drawn. ``part`` names
    other vectors: the "sum" of all that are added, or the output of the "LayerNorm".
    """
    drawn = parts(traced)[part]
    rows, shown = window(token, len(traced), TOKENS), stretch(first, drawn.shape[1])
    title = f"{_TITLES[part]}, dimensions {_from_to(shown)}"
    end, names = colours_end(drawn), dimension_names(traced, shown)
    scale = replace(VALUE, domain=(-end, end))
    framed, labels = token - rows.start, traced.labels[rows]
    figure = strips(drawn[rows, shown], labels, scale, title=title, highlight=(framed, None), dimensions=names)
    dimensions = Axis("Dimension", names, things="dimensions", count=drawn.shape[1])
    return replace(figure, axes=(tokens(traced, shown=rows), dimensions))


def colours_end(values: NDArray[np.float32]) -> float:
    """The value at which the colours end: the largest value, or the 99 % quantile if it is less than half of that.

    Otherwise, a single dimension with a very large value would make all others pale.
    """
    sizes = np.abs(values)
    _, largest = span(values, signed=True)
    usual = float(f"{np.quantile(sizes, 0.99):.2g}")
    return usual if 0 < usual < largest / 2 else largest


def summands(traced: Trace, token: int, first: int = 0, dimension: int | None = None) -> Heatmap:
    """Draw the vectors that are added for one token, and their sum. ``dimension`` is outlined if it is drawn."""
    found = parts(traced)
    names = [name for name in SUMMANDS if name in found]
    shown = stretch(first, found["sum"].shape[1])
    vectors = [found[name][token, shown] for name in (*names, "sum")]
    rows = [names[0], *(f"+ {name}" for name in names[1:]), "= sum"]
    title = f"{' + '.join(names)} = sum, {traced.labels[token]}, dimensions {_from_to(shown)}"
    outlined, named = _outlined(dimension, shown), dimension_names(traced, shown)
    return strips(vectors, rows, title=title, highlight=(None, outlined), dimensions=named)


def layer_norm(traced: Trace, token: int, first: int = 0, dimension: int | None = None) -> Heatmap:
    """Draw one token's sum, then normalized, then stretched and shifted by γ and β.

    ``dimension`` is outlined if it is drawn. Raises ValueError for a model without a LayerNorm after the embeddings,
    such as GPT-2.
    """
    found, norm = parts(traced), worked_dimension(traced, token, 0).norm
    if norm is None:
        raise ValueError(f"{traced.model.id} has no LayerNorm between its embeddings and layer 1.")
    total = found["sum"][token]
    shown = stretch(first, len(total))
    vectors = [((total - norm.mean) / norm.deviation)[shown], found["LayerNorm"][token, shown]]
    title = f"LayerNorm of the sum, {traced.labels[token]}, dimensions {_from_to(shown)}"
    outlined, named = _outlined(dimension, shown), dimension_names(traced, shown)
    return strips(vectors, ["normalized", "· γ + β"], title=title, highlight=(None, outlined), dimensions=named)


def _from_to(shown: slice) -> str:
    return f"{shown.start + 1} to {shown.stop}"


def _outlined(dimension: int | None, shown: slice) -> int | None:
    return dimension - shown.start if dimension is not None and shown.start <= dimension < shown.stop else None


NEAREST = 8
NAMED = 3  # the number of neighbours that a sentence names; the figure shows more


def in_table(traced: Trace, token: int) -> Neighbours:
    """The words whose rows of the token table are most like the row of ``token``."""
    return nearest_in_table(traced.model, traced.token_ids[token], NEAREST)


def near_in_table(traced: Trace, token: int) -> Figure:
    """Draw the bars of :func:`in_table`; the dashed line is the mean of all.

    Raises ValueError if no other word exists.
    """
    return _bars(in_table(traced, token), f"Words most similar to {traced.labels[token]}, in the token table")


def _bars(found: Neighbours, title: str) -> Figure:
    values = [each.cosine for each in found.nearest]
    scale = Scale("Cosine", (min(0.0, found.mean, *values), 1.0), ".2f")
    return bars([each.word for each in found.nearest], values, scale, title=title, reference=found.mean)
