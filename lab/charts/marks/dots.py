"""Draw many numbers for each of several things as faint dots, one line per thing, and mark one dot on each line."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from lab.charts.base import alt, colour
from lab.charts.base.axes import Domain, Scale
from lab.charts.base.chart_table import table
from lab.charts.base.figure import Figure, base, numbers
from lab.charts.base.plain import dashed_rule, label_axis, number, of_kind, ruled_axis, specification, tooltip

_EACH, _CHOSEN = 0, 1
_ROW, _AXES = 38, 10  # pixels


def dots(
    values: ArrayLike,
    names: tuple[Sequence[str], Sequence[str]],
    scale: Scale,
    *,
    title: str,
    highlight: int,
    rule: float | None = None,
) -> Figure:
    """Draw `values` (things, many): a line for each of the things, on it a dot for each of the many.

    `names` are the names of the things and of the many. The dot with the number `highlight` (from 0) is large on every
    line; `rule` is an upright dashed line to compare with.

    Raises
    ------
    ValueError
        NaN or infinity.
    """
    labels, many = names
    array = numbers(values, ("things", "many"), of="dots")
    frame = base(title, _ROW * len(labels) + _AXES, texts={"labels": labels, "names": many})
    spec = specification(frame, _chart, labels, scale, scale.limits(array), rule)
    told = _words(array, labels, many[highlight], scale, highlight)
    return Figure(spec, _data(array, highlight), 720, told, partial(table, array, labels, many))


def _chart(labels: Sequence[str], scale: Scale, limits: Domain, rule: float | None) -> alt.LayerChart:
    """Draw the line at `rule`, the faint dots, and the marked dots over the faint ones."""
    lines = tooltip({"Label": "labels[datum.i]", "What": "names[datum.of]", scale.title: number("value")})
    faint = of_kind(_EACH).mark_point(
        filled=True, size=60, opacity=0.3, color=colour.POSITIVE, tooltip=lines, aria=False
    )
    marked = of_kind(_CHOSEN).mark_point(
        filled=True, size=190, opacity=1, color=colour.NEGATIVE, tooltip=lines, aria=False
    )
    layers = [faint, marked]
    if rule is not None:
        layers.insert(0, dashed_rule(colour.SOFT_INK).encode(alt.XDatum(rule, type="quantitative")))
    down = alt.Y(
        "i:O",
        title=None,
        scale=alt.Scale(domain=list(range(len(labels)))),
        axis=label_axis(labels, grid=True, gridOpacity=0.35),
    )
    across = alt.X(
        "value:Q",
        title=scale.title,
        scale=alt.Scale(domain=limits, nice=False, clamp=True),
        axis=ruled_axis(5, format=scale.format),
    )
    return alt.LayerChart(layer=layers).encode(down, across)


def _data(array: NDArray[np.float32], highlight: int) -> pd.DataFrame:
    things, many = array.shape
    own = np.tile(np.arange(many, dtype=np.int32), things)
    return pd.DataFrame(
        {
            "kind": np.where(own == highlight, _CHOSEN, _EACH).astype(np.int8),
            "i": np.repeat(np.arange(things, dtype=np.int16), many),
            "of": own,
            "value": array.ravel(),
        }
    )


def _words(array: NDArray[np.float32], labels: Sequence[str], name: str, scale: Scale, highlight: int) -> str:
    """Return the marked number of each line beside the range of the others."""
    others = np.delete(array, highlight, axis=1)
    told = [
        f"{label}: {format(float(row[highlight]), scale.format)}"
        + (
            f", the others {format(float(rest.min()), scale.format)} to {format(float(rest.max()), scale.format)}"
            if rest.size
            else ""
        )
        for label, row, rest in zip(labels, array, others, strict=True)
    ]
    return f"{len(labels)} lines of {array.shape[1]} dots. Marked: {name}. {'; '.join(told)}."
