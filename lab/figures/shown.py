"""What a figure shows of one run, drawn beside another run on one scale, and the difference of the two.

Each kind has ``drawn`` (itself beside another), ``less`` (the figure of itself minus another) and ``largest``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lab.charts.bars import bars
from lab.charts.categories import Category, category_map
from lab.charts.figure import Figure
from lab.charts.grid import span
from lab.charts.heatmap import heatmap
from lab.charts.small_maps import small_maps
from lab.charts.strips import strips
from lab.figures.specialization import drawn_names

TOP = 5
Array = NDArray[Any]


@dataclass(frozen=True)
class Labels:
    """One side of a figure: its title, the names on it, and what there is how many of (some may not be drawn).

    ``first`` is the place of the first name for what goes by its place (tokens), else None.
    """

    title: str
    names: tuple[str, ...]
    what: str
    count: int
    first: int | None = None

    def drawn(self) -> list[str]:
        """The names as the axis shows them: with their places where only a part is drawn."""
        if self.first is None or len(self.names) == self.count:
            return list(self.names)
        return [f"{self.first + i} · {name}" for i, name in enumerate(self.names, start=1)]

    def name(self, index: int) -> str:
        """One of them in a sentence: "key cat (3)", "head 2"."""
        called = f"{self.title[0].lower()}{self.title[1:]} {self.names[index]}"
        counted = self.first is not None and len(self.names) in (self.count, 48, 32)
        return f"{called} ({self.first + index + 1})" if counted and self.first is not None else called

    def beside(self, other: Labels) -> Labels:
        """Both names where they differ."""
        both = zip(self.names, other.names, strict=True)
        return Labels(
            self.title, tuple(one if one == two else f"{one} | {two}" for one, two in both), self.what, self.count,
            self.first,
        )  # fmt: skip


@dataclass(frozen=True)
class Largest:
    """The largest |difference|, where it is, and the mean |difference|."""

    value: float
    where: str
    mean: float
