"""Draw a product of two matrices as it is computed: the left matrix, the upper one, and their product in the corner.

A cell of the product is in the row of the left matrix and in the column of the upper matrix that it is made of.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from lab.charts.base import alt, colour
from lab.charts.base.axes import Domain, Scale, visible
from lab.charts.base.chart_table import table
from lab.charts.base.figure import CANVAS_ABOVE, Figure, base, check_index, numbers
from lab.charts.base.plain import number, of_kind, specification, tooltip

_WIDTH = 440  # pixels
_GAP = 1.2  # cells between the matrices
_LEFT, _TOP, _CORNER, _OUTLINE, _NAME = "left", "top", "corner", "outline", "name"


@dataclass(frozen=True, eq=False)
class Matrix:
    """A matrix of the product: its name, its whole shape in words, the numbers that are drawn, and their quantity."""

    name: str
    shape: str
    values: ArrayLike
    scale: Scale

    @property
    def called(self) -> str:
        return f"{self.name}: {self.shape}"


def product(
    parts: tuple[Matrix, Matrix, Matrix],
    labels: tuple[Sequence[str], Sequence[str]],
    chosen: tuple[int, int],
    *,
    title: str,
) -> Figure:
    """Draw the left matrix (n, m), the upper matrix (m, p) and the corner (n, p).

    `labels` name the rows and columns of the corner. `chosen` (row, column, from 0) outlines a row of the left matrix,
    a column of the upper one, and their cell.

    Raises
    ------
    ValueError
        NaN, infinity, shapes that do not fit, or a cell that does not exist.
    """
    left, top, corner = (numbers(part.values, ("rows", "columns"), of="product") for part in parts)
    (n, m), p = left.shape, top.shape[1]
    if top.shape != (m, p) or corner.shape != (n, p):
        raise ValueError(f"product: {left.shape} times {top.shape} is not {corner.shape}.")
    for place, count, what in ((chosen[0], n, "row"), (chosen[1], p, "column")):
        check_index(place, count, of="product", what=what)
    across, down = m + _GAP + p, m + _GAP + n
    texts = {"row_labels": labels[0], "column_labels": labels[1], "matrices": [part.called for part in parts]}
    many = left.size + top.size + corner.size > CANVAS_ABOVE**2
    frame = base(title, round(_WIDTH * down / across), canvas=many, texts=texts)
    limits = [part.scale.limits(array) for part, array in zip(parts, (left, top, corner), strict=True)]
    spec = specification(frame, _chart, parts, limits, (across, down + 1.5))
    rows = partial(table, corner, *labels)
    return Figure(spec, _data((left, top, corner), chosen), _WIDTH, _words(parts, labels, chosen), rows)


def _chart(parts: Sequence[Matrix], limits: Sequence[Domain], size: tuple[float, float]) -> alt.LayerChart:
    ends = alt.X2("x2"), alt.Y2("y2")
    layers = [_cells(kind, part, of) for kind, part, of in zip((_LEFT, _TOP, _CORNER), parts, limits, strict=True)]
    outline = of_kind(_OUTLINE).mark_rect(fill=None, stroke=colour.NEGATIVE, strokeWidth=2, aria=False, tooltip=None)
    name = of_kind(_NAME).mark_text(
        align="right", baseline="bottom", fontSize=13, color=colour.SOFT_INK, aria=False, tooltip=None
    )
    layers += [outline.encode(*ends), name.encode(alt.TextValue(alt.ExprRef("matrices[datum.i]")))]
    x, y = (
        alt.Scale(domain=[0, side], nice=False, reverse=turned)
        for side, turned in zip(size, (False, True), strict=True)
    )
    return (
        alt.LayerChart(layer=layers)
        .encode(alt.X("x:Q", scale=x, axis=None), alt.Y("y:Q", scale=y, axis=None))
        .resolve_scale(color="independent")
    )


def _cells(kind: str, part: Matrix, limits: Domain) -> alt.Chart:
    """Draw the cells of one matrix in its own colours; in the corner, the pointer shows row, column and number."""
    names = {"Row": "row_labels[datum.i]", "Column": "column_labels[datum.j]"} if kind == _CORNER else {}
    told = tooltip({**names, f"{part.name}, {part.scale.title.lower()}": number("value")})
    ink = alt.Scale(domain=list(limits), range=colour.ramp(part.scale.signed), interpolate="rgb", clamp=True)
    cells = of_kind(kind).mark_rect(tooltip=told, aria=False)
    return cells.encode(alt.X2("x2"), alt.Y2("y2"), alt.Color("value:Q", scale=ink, legend=None))


def _data(arrays: Sequence[NDArray[np.float32]], chosen: tuple[int, int]) -> pd.DataFrame:
    """One row for each cell, in units of cells, then the outlines and the names of the matrices."""
    (n, m), p, (row, column) = arrays[0].shape, arrays[1].shape[1], chosen
    corner = m + _GAP
    places = (0.0, corner), (corner, 0.0), (corner, corner)
    frames = []
    for kind, array, (x, y) in zip((_LEFT, _TOP, _CORNER), arrays, places, strict=True):
        i, j = (each.ravel() for each in np.indices(array.shape))
        frames.append(pd.DataFrame({"kind": kind, "i": i, "j": j, "x": x + j, "y": y + i, "value": array.ravel()}))
    cells = pd.concat(frames, ignore_index=True)
    cells["x2"], cells["y2"] = cells["x"] + 1, cells["y"] + 1
    down, along = corner + row, corner + column
    boxes = (
        (_OUTLINE, 0, 0.0, down, float(m), down + 1),
        (_OUTLINE, 1, along, 0.0, along + 1, float(m)),
        (_OUTLINE, 2, along, down, along + 1, down + 1),
        (_NAME, 0, float(m), corner - 0.3, 0.0, 0.0),
        (_NAME, 1, float(m), 1.5, 0.0, 0.0),
        (_NAME, 2, corner + p, corner + n + 1.4, 0.0, 0.0),
    )
    more = pd.DataFrame(boxes, columns=["kind", "i", "x", "y", "x2", "y2"])
    whole = pd.concat([cells, more.assign(j=0, value=0.0)], ignore_index=True)
    small = dict.fromkeys(("x", "y", "x2", "y2", "value"), np.float32) | dict.fromkeys(("i", "j"), np.int32)
    return whole.astype(small)


def _words(parts: Sequence[Matrix], labels: tuple[Sequence[str], Sequence[str]], chosen: tuple[int, int]) -> str:
    left, top, corner = parts
    row, column = (visible(names[at]) for names, at in zip(labels, chosen, strict=True))
    return (
        f"A product of matrices: {left.called} at the left, {top.called} above, {corner.called} in the corner between "
        f"them. Outlined: the row of {row} at the left, the column of {column} above, and the cell where they meet."
    )
