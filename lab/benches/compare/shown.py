"""The data of a figure for one run, to be drawn beside another run on the same scale, and the difference of both
runs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lab.charts.base.axes import Axis, Scale, span
from lab.charts.base.figure import Figure
from lab.charts.base.labels import visible
from lab.charts.cells.categories import Category, category_map
from lab.charts.cells.heatmap import heatmap
from lab.charts.cells.small_maps import small_maps
from lab.charts.cells.strips import strips
from lab.charts.marks.bars import bars
from lab.figures.specialization import names_map

TOP = 5
Array = NDArray[Any]
_ALIKE = (Category("Another name", "≠"), Category("The same name", "=", rest=True))


@dataclass(frozen=True)
class Labels:
    """One side of a figure: title, names, and the noun (``what``) and ``count`` of its things, including those not
    drawn.

    ``first`` is the place (from 0) of the first name if the things have places, as tokens do; otherwise None.
    """

    title: str
    names: tuple[str, ...]
    what: str
    count: int
    first: int | None = None

    def drawn(self) -> list[str]:
        """Return the names on the axis, with their places if only a part of the side is drawn."""
        if self.first is None or len(self.names) == self.count:
            return list(self.names)
        return [f"{self.first + i} · {name}" for i, name in enumerate(self.names, start=1)]

    def axis(self) -> Axis:
        """Return the labels as one side of a matrix."""
        return Axis(self.title, self.drawn())

    def name(self, index: int) -> str:
        """Return a label for use in a sentence: "key “cat” (3)", "head 2"; not escaped for Markdown."""
        title, name = self.title[0].lower() + self.title[1:], self.names[index]
        if self.first is None:
            return f"{title} {name}"
        return f"{title} “\u2068{visible(name, None)}\u2069” ({self.first + index + 1})"

    def beside(self, other: Labels) -> Labels:
        """Return labels that have both names at places where the names differ."""
        both = zip(self.names, other.names, strict=True)
        return replace(self, names=tuple(one if one == two else f"{one} | {two}" for one, two in both))


@dataclass(frozen=True)
class Largest:
    """The largest |difference|, the cell in which it is, and the mean |difference|."""

    value: float
    where: str
    mean: float


@dataclass(frozen=True, eq=False)
class ShownComparison(ABC):
    """The numbers of a figure and their names."""

    title: str

    @abstractmethod
    def why_not(self, other: Self) -> str | None:
        """The reason why A (self) and B (``other``) cannot be subtracted, in a few words.

        It is None if the runs can be subtracted.
        """

    @abstractmethod
    def drawn(self, name: str, other: Self) -> Figure:
        """Draw the figure on the scale of both runs; ``name`` ("A") begins its title."""

    def difference(self, other: Self) -> Array:
        """Return B (self) minus A (``other``); 0 in cells that one of the two runs lacks.

        Raises ValueError as :meth:`less` does.
        """
        reason = other.why_not(self)
        if reason is not None:
            raise ValueError(f"there is no difference: {reason}.")
        return self._apart(other)

    @abstractmethod
    def _apart(self, other: Self) -> Array: ...

    @abstractmethod
    def less(self, other: Self) -> Figure:
        """Draw B (self) minus A (``other``). Raises ValueError if :meth:`why_not` gives a reason."""

    @abstractmethod
    def largest(self, other: Self) -> Largest:
        """Return the largest difference between B (self) and A (``other``). Raises ValueError as :meth:`less` does."""


def _counts_differ(own: tuple[Labels, ...], other: tuple[Labels, ...]) -> str | None:
    for one, two in zip(own, other, strict=True):
        if one.count != two.count:
            return f"A has {one.count} {one.what}, B has {two.count}"
    return None


def _apart(a: ComparedCells | ComparedMaps, b: ComparedCells | ComparedMaps) -> Array:
    found = a.values.astype(np.float64) - b.values
    return np.tril(found) if a.causal or b.causal else found


@dataclass(frozen=True, eq=False)
class ComparedCells(ShownComparison):
    """A matrix: ``values`` (rows, columns). ``strips``: rows are vectors, drawn as wide as the page."""

    rows: Labels
    columns: Labels
    values: Array
    value_title: str
    signed: bool = False
    causal: bool = False
    strips: bool = False

    def why_not(self, other: Self) -> str | None:
        return _counts_differ((self.rows, self.columns), (other.rows, other.columns))

    def drawn(self, name: str, other: Self) -> Figure:
        both = np.concatenate([each.existing().ravel() for each in (self, other)]).astype(np.float32)
        return self._cells(f"{name}: {self.title}", span(both, self.signed))

    def existing(self) -> Array:
        """Return ``values``, with 0 in cells that do not exist in a causal model."""
        return np.tril(self.values) if self.causal else self.values

    def _apart(self, other: Self) -> Array:
        return _apart(self, other)

    def less(self, other: Self) -> Figure:
        values = self.difference(other)
        rows, columns = other.rows.beside(self.rows), other.columns.beside(self.columns)
        apart = replace(self, rows=rows, columns=columns, values=values, causal=self.causal or other.causal)
        named = replace(apart, value_title="Difference", signed=True)
        return named._cells("Difference, B − A", span(values.astype(np.float32), signed=True))

    def largest(self, other: Self) -> Largest:
        sizes = np.abs(self.difference(other))
        row, column = np.unravel_index(int(sizes.argmax()), sizes.shape)
        rows, columns = other.rows.beside(self.rows), other.columns.beside(self.columns)
        exists = np.tri(len(sizes)) > 0 if self.causal or other.causal else np.ones(sizes.shape, dtype=bool)
        where = self.where(rows, columns, int(row), int(column))
        return Largest(float(sizes.max()), where, float(sizes[exists].mean()))

    def where(self, rows: Labels, columns: Labels, row: int, column: int) -> str:
        """Name a cell in words."""
        return f"{rows.name(row)}, {columns.name(column)}"

    def _cells(self, title: str, domain: tuple[float, float]) -> Figure:
        if self.strips:
            scale = Scale(self.value_title, domain, ".2f", signed=True)
            return strips(self.values, self.rows.drawn(), scale, title=title, dimensions=self.columns.names)
        scale = Scale(self.value_title, domain, "+.2f" if self.signed else ".2f", self.signed)
        return heatmap(self.values, (self.rows.axis(), self.columns.axis()), scale, title=title, causal=self.causal)


@dataclass(frozen=True, eq=False)
class Folded(ComparedCells):
    """One long vector, cut into rows; cells after its end are 0."""

    def where(self, rows: Labels, columns: Labels, row: int, column: int) -> str:
        return f"neuron {row * len(columns.names) + column + 1:,}"


@dataclass(frozen=True, eq=False)
class ComparedMaps(ShownComparison):
    """A map for each of ``heads``: ``values`` (maps, cells, cells)."""

    heads: Labels
    cells: Labels
    values: Array
    value_title: str
    causal: bool

    def _captions(self, values: Array) -> list[tuple[str, str]]:
        largest = np.abs(values).max(axis=(1, 2))
        return [(f"Head {head}", f"at most {most:.2f}") for head, most in zip(self.heads.names, largest, strict=True)]

    def why_not(self, other: Self) -> str | None:
        return _counts_differ((self.heads, self.cells), (other.heads, other.cells))

    def drawn(self, name: str, other: Self) -> Figure:
        scale = Scale(self.value_title, (0.0, float(max(self.values.max(), other.values.max()))))
        title, captions = f"{name}: {self.title}", self._captions(self.values)
        return small_maps(self.values, self.cells.drawn(), captions, scale, title=title, causal=self.causal)

    def _apart(self, other: Self) -> Array:
        return _apart(self, other)

    def less(self, other: Self) -> Figure:
        values = self.difference(other)
        cells, scale = other.cells.beside(self.cells).drawn(), Scale("Difference", signed=True)
        title, causal = "Difference, B − A", self.causal or other.causal
        return small_maps(values, cells, self._captions(values), scale, title=title, causal=causal)

    def largest(self, other: Self) -> Largest:
        sizes = np.abs(self.difference(other))
        head, query, key = np.unravel_index(int(sizes.argmax()), sizes.shape)
        cells = other.cells.beside(self.cells)
        where = (
            f"{self.heads.name(int(head))}, {replace(cells, title='Query').name(int(query))}, "
            f"{replace(cells, title='Key').name(int(key))}"
        )
        exists = np.tri(sizes.shape[1]) > 0 if self.causal or other.causal else np.ones(sizes.shape[1:], dtype=bool)
        return Largest(float(sizes.max()), where, float(sizes[:, exists].mean()))


@dataclass(frozen=True, eq=False)
class Names(ShownComparison):
    """The pattern of each head: ``values`` (layers, heads), ids. ``chosen`` (layer, head) is outlined."""

    layers: Labels
    heads: Labels
    values: NDArray[np.str_]
    chosen: tuple[int, int]

    def why_not(self, other: Self) -> str | None:
        return _counts_differ((self.layers, self.heads), (other.layers, other.heads))

    def drawn(self, name: str, other: Self) -> Figure:
        return names_map(self.values, *self.chosen, f"{name}: {self.title}")

    def _apart(self, other: Self) -> Array:
        """(layers, heads), 1 if the two runs have different names for a head."""
        return (self.values != other.values).astype(np.float64)

    def less(self, other: Self) -> Figure:
        same, title = 1 - self.difference(other).astype(int), "Where the names differ"
        return category_map(same, _ALIKE, title=title, value_title="A and B have", highlight=self.chosen)

    def largest(self, other: Self) -> Largest:
        found = self.difference(other)
        layer, head = np.unravel_index(int(found.argmax()), found.shape)
        return Largest(float(found.max()), f"layer {layer + 1}, head {head + 1}", float(found.mean()))


@dataclass(frozen=True, eq=False)
class ComparedWords(ShownComparison):
    """The probability of every word of a vocabulary: ``values`` (words,), called ``word(id)``.

    ``vocabulary`` tells vocabularies apart.
    """

    values: Array
    word: Callable[[int], str]
    vocabulary: str

    def why_not(self, other: Self) -> str | None:
        return None if self.vocabulary == other.vocabulary else "A and B have different vocabularies"

    @cached_property
    def _top(self) -> frozenset[int]:
        """Ids of the :data:`TOP` most probable words."""
        return frozenset(np.argsort(-self.values, kind="stable")[:TOP].tolist())

    def best(self, *others: Self) -> list[int]:
        """Return the most probable words of the runs, ordered by the larger of their probabilities."""
        every = (self, *others)
        ids = frozenset[int]().union(*(each._top for each in every))
        return sorted(ids, key=lambda i: (-max(float(each.values[i]) for each in every), i))

    def drawn(self, name: str, other: Self) -> Figure:
        ids = self.best(other) if self.vocabulary == other.vocabulary else self.best()
        scale = Scale("Probability", (0.0, float(max(self.values.max(), other.values.max()))), ".3g")
        return bars([self.word(i) for i in ids], self.values[ids], scale, title=f"{name}: {self.title}")

    def _apart(self, other: Self) -> Array:
        return np.asarray(self.values - other.values)

    def less(self, other: Self) -> Figure:
        values, ids = self.difference(other), other.best(self)
        scale = Scale("Difference of probability", format="+.3g")
        return bars([self.word(i) for i in ids], values[ids], scale, title="Difference, B − A")

    def largest(self, other: Self) -> Largest:
        sizes = np.abs(self.difference(other))
        top = int(sizes.argmax())
        return Largest(float(sizes.max()), f"“\u2068{visible(self.word(top), None)}\u2069”", float(sizes.mean()))
