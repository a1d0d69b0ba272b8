"""Draw a function as a curve, with the numbers of a vector as points on it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from lab.charts.base import alt, colour
from lab.charts.base.figure import CANVAS_ABOVE, Figure, base, numbers
from lab.charts.base.plain import number, of_kind, ruled_axis, specification, tooltip

_CURVE, _POINT, _CHOSEN, _OTHER = 0, 1, 2, 3


def curve(
    line: tuple[ArrayLike, ArrayLike],
    points: tuple[ArrayLike, ArrayLike],
    titles: tuple[str, str, str],
    *,
    title: str,
    highlight: int | None = None,
    other: tuple[ArrayLike, ArrayLike] | None = None,
) -> Figure:
    """Draw `line` (x, y) through `points` (x, y), which count 1, 2, 3 …

    With one point alone, the words and the table are those of the line.

    `titles` name x, y and a point ("Neuron"); `highlight` (from 0) marks one point; `other`
    (x, y) is a second line, drawn dashed, for comparison.

    Raises
    ------
    ValueError
        NaN or infinity.
    """
    line_x, line_y, x, y = (numbers(values, ("points",), of="curve") for values in (*line, *points))
    spec = specification(base(title, 260, canvas=len(x) > CANVAS_ABOVE), _chart, titles)
    dashed = None if other is None else tuple(numbers(values, ("points",), of="curve") for values in other)
    data, told = _data((line_x, line_y), (x, y), highlight, dashed), _words(x, y, highlight, titles)
    if len(x) > 1:
        return Figure(spec, data, 720, told, partial(_table, x, y, titles))
    at = int(np.searchsorted(line_x, x[0]))
    line_x, line_y = np.insert(line_x, at, x[0]), np.insert(line_y, at, y[0])
    return Figure(spec, data, 720, _line(line_x, line_y, at, titles), partial(_table, line_x, line_y, titles[:2]))


def _chart(titles: tuple[str, str, str]) -> alt.LayerChart:
    """Draw the curve, the points on the curve, and the ring around one point."""
    x_title, y_title, point_title = titles
    lines = tooltip({point_title: "datum.index", x_title: number("x"), y_title: number("value")})
    line = of_kind(_CURVE).mark_line(strokeWidth=2, color=colour.SOFT_INK, tooltip=None, aria=False)
    other = of_kind(_OTHER).mark_line(
        strokeWidth=2, strokeDash=[5, 4], color=colour.SOFT_INK, opacity=0.7, tooltip=None, aria=False
    )
    dots = of_kind(_POINT).mark_point(
        filled=True, size=18, opacity=0.25, color=colour.POSITIVE, tooltip=lines, aria=False
    )
    ring = of_kind(_CHOSEN).mark_point(
        filled=False, size=140, strokeWidth=3, opacity=1, color=colour.NEGATIVE, tooltip=lines, aria=False
    )
    return alt.LayerChart(layer=[line, other, dots, ring]).encode(
        alt.X("x:Q", title=x_title, axis=ruled_axis(6), scale=alt.Scale(nice=False)),
        alt.Y("value:Q", title=y_title, axis=ruled_axis(6), scale=alt.Scale(zero=False)),
    )


def _data(
    line: tuple[NDArray[np.float32], NDArray[np.float32]],
    points: tuple[NDArray[np.float32], NDArray[np.float32]],
    highlight: int | None,
    other: tuple[NDArray[np.float32], ...] | None,
) -> pd.DataFrame:
    index = np.arange(1, len(points[0]) + 1)
    chosen = slice(0, 0) if highlight is None else slice(highlight, highlight + 1)
    parts = ((_CURVE, *line, np.zeros(len(line[0]))), (_POINT, *points, index))
    rows = [*parts, (_CHOSEN, points[0][chosen], points[1][chosen], index[chosen])]
    if other is not None:
        rows.append((_OTHER, other[0], other[1], np.zeros(len(other[0]))))
    return pd.DataFrame(
        {
            "kind": np.concatenate([np.full(len(x), kind, dtype=np.int8) for kind, x, _, _ in rows]),
            "x": np.concatenate([x for _, x, _, _ in rows]),
            "value": np.concatenate([y for _, _, y, _ in rows]),
            "index": np.concatenate([i for _, _, _, i in rows]).astype(np.int32),
        }
    )


def _words(x: NDArray[np.float32], y: NDArray[np.float32], highlight: int | None, titles: tuple[str, str, str]) -> str:
    x_title, y_title, point_title = titles
    text = (
        f"Curve with {len(x)} points. {x_title} from {x.min():.2f} to {x.max():.2f}, "
        f"{y_title} from {y.min():.2f} to {y.max():.2f}. {(x < 0).mean():.0%} of the points lie left of 0."
    )
    if highlight is None:
        return text
    return f"{text} {point_title} {highlight + 1}: {x_title} {x[highlight]:.3f}, {y_title} {y[highlight]:.3f}."


def _line(x: NDArray[np.float32], y: NDArray[np.float32], at: int, titles: tuple[str, str, str]) -> str:
    """Say where a line begins, is lowest and ends, and where its one point is."""
    x_title, y_title, point_title = titles
    low = int(y.argmin())
    return (
        f"Curve. {x_title} goes from {x[0]:.2f} to {x[-1]:.2f}, {y_title} from {y[0]:.2f} over {y[low]:.2f} at "
        f"{x[low]:.2f} to {y[-1]:.2f}. {point_title}: {x_title} {x[at]:.3f}, {y_title} {y[at]:.3f}."
    )


def _table(x: NDArray[np.float32], y: NDArray[np.float32], titles: Sequence[str]) -> pd.DataFrame:
    name = titles[2] if len(titles) > 2 else None
    index = pd.Index(list(range(1, len(x) + 1)), name=name)
    return pd.DataFrame({titles[0]: x, titles[1]: y}, index=index)
