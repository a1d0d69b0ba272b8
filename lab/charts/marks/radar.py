"""A radar: several values of one thing, or of a few, on axes around a circle. Vega has none, so it is Plotly's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd
from numpy.typing import ArrayLike

from lab.charts.base.figure import check_labels, numbers
from lab.charts.base.labels import visible
from lab.charts.base.plotted import Plotted

if TYPE_CHECKING:
    from plotly.graph_objects import Figure as PlotlyFigure

_FAINT = "rgba(128, 132, 149, 0.75)"
_CHOSEN, _FILL = "#2f86d6", "rgba(47, 134, 214, 0.22)"


def radar(
    shapes: Mapping[str, ArrayLike],
    axes: Sequence[str],
    hover: Mapping[str, Sequence[str]],
    *,
    title: str,
    axis_title: str,
    chosen: str,
    table: pd.DataFrame,
) -> Plotted:
    """Draw each of `shapes`, (axes,) in [0, 1], as a closed line; the `chosen` one filled and on top.

    Parameters
    ----------
    axes : a name for each axis, clockwise from the top; at least three make a shape.
    hover : what the pointer shows at each corner, one line of text an axis.
    axis_title : what the distance from the middle is.
    table : the numbers behind it.

    Raises
    ------
    ValueError : fewer than three axes, NaN or infinity, a wrong number of labels, a chosen one that is not there.
    """
    if len(axes) < 3:
        raise ValueError(f"radar: a shape needs at least three axes, got {len(axes)}.")
    if chosen not in shapes:
        raise ValueError(f"radar: {chosen!r} is not among the shapes.")
    arrays = {name: numbers(values, ("axes",), of=f"radar, “{name}”") for name, values in shapes.items()}
    for name, values in arrays.items():
        check_labels(len(values), axes, of=f"radar, “{name}”", what="values")
        check_labels(len(values), hover[name], of=f"radar, “{name}”", what="values")
    last = sorted(arrays, key=lambda name: name == chosen)
    traces = [_shape(name, arrays[name].tolist(), axes, hover[name], name == chosen) for name in last]
    top = max(range(len(axes)), key=lambda place: arrays[chosen][place])
    alt = (
        f"Radar of {len(axes)} values, {axis_title}. {visible(chosen)} reaches farthest at {axes[top]}, "
        f"{arrays[chosen][top]:.2f}."
    )
    return Plotted(_figure(traces, title, axis_title, len(axes)), alt, partial(pd.DataFrame.copy, table))


def _shape(name: str, values: list[float], axes: Sequence[str], hover: Sequence[str], chosen: bool) -> dict[str, Any]:
    return {
        "type": "scatterpolar", "name": name, "r": [*values, values[0]], "theta": [*axes, axes[0]],
        "mode": "lines+markers", "text": [*hover, hover[0]], "hovertemplate": "%{text}<extra></extra>",
        "line": {"color": _CHOSEN if chosen else _FAINT, "width": 3 if chosen else 1.2},
        "marker": {"size": 8 if chosen else 5}, "fill": "toself" if chosen else "none", "fillcolor": _FILL,
        "hoveron": "points",
    }  # fmt: skip


def _figure(traces: list[dict[str, Any]], title: str, axis_title: str, count: int) -> PlotlyFigure:
    import plotly.graph_objects as go

    # The scale stands between the first two axes, where no name is in its way.
    radial = {
        "range": [0, 1], "tickvals": [0, 0.5, 1], "ticktext": ["0", "", f"1 · {axis_title}"], "tickangle": 0,
        "angle": 90 - 180 / count, "tickfont": {"size": 11},
    }  # fmt: skip
    layout = {
        "title": {"text": title, "x": 0}, "showlegend": False, "height": 460,
        "margin": {"l": 70, "r": 70, "t": 70, "b": 40},
        "polar": {
            "radialaxis": radial, "angularaxis": {"direction": "clockwise", "rotation": 90}, "bgcolor": "rgba(0,0,0,0)"
        },
    }  # fmt: skip
    return go.Figure(data=traces, layout=layout)
