"""Two figures of one kind: both on one scale, their difference, and where it is largest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lab.charts.base.axes import Axis, Scale, span, visible
from lab.charts.base.figure import CellFigure, Figure
from lab.charts.cells.categories import Category, CategoryMap, category_map
from lab.charts.cells.heatmap import Heatmap, heatmap
from lab.charts.cells.slices import Strips, strips
from lab.charts.cells.small_maps import SmallMaps, small_maps
from lab.charts.marks.bars import bars

TOP = 5
Array = NDArray[Any]
DIFFERENCE = "Difference, B − A"
_ALIKE = (Category("Another name", "≠"), Category("The same name", "=", rest=True))


class NeuronCells(Heatmap):
    """One long vector of neurons, cut into rows; cells after its end are 0."""


@dataclass(frozen=True, eq=False)
class KindCells(Heatmap):
    """A column for each of the ``kinds`` of token that a text has, by their numbers."""

    kinds: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class WordShares:
    """The probability of every word of a vocabulary, (words,); ``word(id)`` is its name.

    ``vocabulary`` tells vocabularies apart. Two models with one vocabulary may have tables of different lengths,
    because tables are padded to a round number: a row that a model lacks is a word that it never says.
    """

    title: str
    values: Array
    word: Callable[[int], str]
    vocabulary: str

    @cached_property
    def top(self) -> frozenset[int]:
        """Ids of the :data:`TOP` most probable words."""
        return frozenset(np.argsort(-self.values, kind="stable")[:TOP].tolist())

    def of(self, ids: Sequence[int]) -> Array:
        """Return the probabilities of words by their ids, (k,)."""
        known = np.zeros(max(len(self.values), *(i + 1 for i in ids)))
        known[: len(self.values)] = self.values
        return known[ids]


# A figure with numbers that can be subtracted from those of another of its kind.
Numbers = CellFigure | WordShares


@dataclass(frozen=True)
class Largest:
    """The largest |difference|, the cell in which it is, and the mean |difference|."""

    value: float
    where: str
    mean: float


def why_not(a: Numbers, b: Numbers) -> str | None:
    """Return the reason why two figures cannot be subtracted, in a few words; None if they can."""
    if isinstance(a, WordShares) and isinstance(b, WordShares):
        return None if a.vocabulary == b.vocabulary else "A and B have different vocabularies"
    assert isinstance(a, CellFigure) and isinstance(b, CellFigure)
    for one, two in zip(a.axes, b.axes, strict=True):
        if one.total != two.total:
            return f"A has {one.total} {one.things}, B has {two.total}"
    if isinstance(a, KindCells) and isinstance(b, KindCells) and a.kinds != b.kinds:
        return "A and B have other kinds of token"
    return None


def apart(a: Numbers, b: Numbers) -> Array:
    """Return B minus A; 0 in cells that one of the two lacks, and 1 for heads with different names.

    Raises ValueError if :func:`why_not` gives a reason.
    """
    reason = why_not(a, b)
    if reason is not None:
        raise ValueError(f"there is no difference: {reason}.")
    if isinstance(a, CategoryMap):
        return (a.values != b.values).astype(np.float64)
    if isinstance(a, WordShares) and isinstance(b, WordShares):
        every = range(max(len(a.values), len(b.values)))
        return b.of(every) - a.of(every)
    assert isinstance(a, CellFigure) and isinstance(b, CellFigure)
    found = b.values.astype(np.float64) - a.values
    return np.tril(found) if _causal(a, b) else found


def largest(a: Numbers, b: Numbers) -> Largest:
    """Find the largest difference between A and B. Raises ValueError as :func:`apart` does."""
    sizes = np.abs(apart(a, b))
    at = tuple(int(place) for place in np.unravel_index(int(sizes.argmax()), sizes.shape))
    if isinstance(a, WordShares):
        return Largest(float(sizes.max()), f"“\u2068{visible(a.word(at[0]), None)}\u2069”", float(sizes.mean()))
    assert isinstance(b, CellFigure)
    exists = np.tri(*sizes.shape[-2:]) > 0 if _causal(a, b) else np.ones(sizes.shape[-2:], dtype=bool)
    return Largest(float(sizes.max()), _where(a, b, at), float(sizes[..., exists].mean()))


def _causal(a: Numbers, b: Numbers) -> bool:
    return any(isinstance(each, CellFigure) and each.causal for each in (a, b))


def _where(a: CellFigure, b: CellFigure, at: tuple[int, ...]) -> str:
    """Name a cell of two figures in words, such as "head 2, query “cat” (3), key “the” (1)"; not escaped."""
    if isinstance(a, NeuronCells):
        row, column = at
        return f"neuron {row * a.shape[1] + column + 1:,}"
    return ", ".join(_name(axis, place) for axis, place in zip(_axes(a, b), at, strict=True))


def _name(axis: Axis, index: int) -> str:
    title, name = axis.noun[0].lower() + axis.noun[1:], axis.names[index]
    if axis.first is None:
        return f"{title} {name}"
    return f"{title} “\u2068{visible(name, None)}\u2069” ({axis.first + index})"


def _axes(a: CellFigure, b: CellFigure) -> tuple[Axis, ...]:
    """Return the sides of both figures, with both names at places where the names differ."""
    return tuple(
        replace(
            one,
            names=[
                name if name == other else f"{name} | {other}" for name, other in zip(one.names, two.names, strict=True)
            ],
        )
        for one, two in zip(a.axes, b.axes, strict=True)
    )


def best(one: WordShares, *others: WordShares) -> list[int]:
    """Return the most probable words of the runs, ordered by the larger of their probabilities."""
    every = (one, *others)
    ids = frozenset[int]().union(*(each.top for each in every))
    return sorted(ids, key=lambda i: (-max(float(each.of([i])[0]) for each in every), i))


def beside(name: str, one: Numbers, other: Numbers) -> Figure:
    """Draw ``one`` on the scale of both figures; ``name`` ("A") begins its title."""
    title, high = f"{name}: {one.title}", float(max(one.values.max(), other.values.max()))
    if isinstance(one, WordShares) and isinstance(other, WordShares):
        ids = best(one, other) if one.vocabulary == other.vocabulary else best(one)
        scale = Scale("Probability", (0.0, high), ".3g")
        return bars([one.word(i) for i in ids], one.of(ids), scale, title=title)
    if isinstance(one, CategoryMap):
        what, chosen = one.scale.title, one.highlight
        return category_map(one.values, one.categories, title=title, value_title=what, highlight=chosen)
    if isinstance(one, SmallMaps):
        return _maps(one, Scale(one.scale.title, (0.0, high)), title)
    assert isinstance(one, CellFigure)
    both = np.concatenate([each.values.ravel() for each in (one, other)]).astype(np.float32)
    return _cells(one, replace(one.scale, domain=span(both, one.scale.signed)), title)


def difference(a: Numbers, b: Numbers) -> Figure:
    """Draw B minus A, with colours around 0. Raises ValueError as :func:`apart` does."""
    values = apart(a, b)
    if isinstance(a, WordShares) and isinstance(b, WordShares):
        ids, scale = best(a, b), Scale("Difference of probability", format="+.3g")
        return bars([a.word(i) for i in ids], values[ids], scale, title=DIFFERENCE)
    if isinstance(a, CategoryMap):
        same, title = 1 - values.astype(int), "Where the names differ"
        return category_map(same, _ALIKE, title=title, value_title="A and B have", highlight=a.highlight)
    assert isinstance(a, CellFigure) and isinstance(b, CellFigure)
    both = replace(a, values=values, axes=_axes(a, b), causal=_causal(a, b))
    if isinstance(both, SmallMaps):
        return _maps(both, Scale("Difference", signed=True), DIFFERENCE)
    return _cells(both, Scale("Difference", span(values.astype(np.float32), signed=True), signed=True), DIFFERENCE)


def _cells(figure: CellFigure, scale: Scale, title: str) -> Figure:
    rows, columns = figure.axes
    if isinstance(figure, Strips):
        scale = replace(scale, format=".2f")
        return strips(figure.values, _numbered(rows).names, scale, title=title, dimensions=columns.names)
    scale, axes = replace(scale, format="+.2f" if scale.signed else ".2f"), (_numbered(rows), _numbered(columns))
    return heatmap(figure.values, axes, scale, title=title, causal=figure.causal)


def _maps(figure: SmallMaps, scale: Scale, title: str) -> Figure:
    heads, cells, _ = figure.axes
    most = np.abs(figure.values).max(axis=(1, 2))
    captions = [(f"{heads.title} {head}", f"at most {size:.2f}") for head, size in zip(heads.names, most, strict=True)]
    return small_maps(figure.values, _numbered(cells).names, captions, scale, title=title, causal=figure.causal)


def _numbered(axis: Axis) -> Axis:
    """Return a side with the places of its names if only a part of the side is drawn."""
    if axis.first is None or len(axis.names) == axis.total:
        return Axis(axis.noun, axis.names)
    return Axis(axis.noun, [f"{place} · {name}" for place, name in enumerate(axis.names, start=axis.first)])
