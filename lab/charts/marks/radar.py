"""Draw a radar: several values of one thing, or of a few things, on axes around a circle.

Vega has no radar, so Plotly draws it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd
from numpy.typing import ArrayLike

from lab.charts.base.figure import numbers
from lab.charts.base.labels import visible
from lab.charts.base.plotted import Plotted

if TYPE_CHECKING:
    from plotly.graph_objects import Figure as PlotlyFigure

_BETWEEN_WORDS = re.compile(r" (?![^(]*\))")  # spaces, but not those inside parentheses
_FAINT = "rgba(128, 132, 149, 0.75)"
_GRID = "rgba(128, 132, 149, 0.4)"
_CHOSEN, _FILL = "#2f86d6", "rgba(47, 134, 214, 0.22)"


@dataclass(frozen=True, eq=False)
class Shape:
    """A closed line: ``values`` (axes,) in [0, 1], and the tooltip of each corner, one text for each axis."""

    values: ArrayLike
    hover: Sequence[str]


def radar(
    shapes: Mapping[str, Shape],
    axes: Sequence[str],
    *,
    title: str,
    axis_title: str,
    chosen: str,
    table: pd.DataFrame,
) -> Plotted:
    """Draw each of `shapes` under its name, and fill the `chosen` shape and draw it on top.

    Parameters
    ----------
    axes
        A name for each axis, clockwise from the top; at least three make a shape.
    axis_title
        The quantity that the distance from the middle shows.
    table
        The numbers behind the chart.

    Raises
    ------
    ValueError
        NaN or infinity.
    """
    arrays = {name: numbers(shape.values, ("axes",), of=f"radar, “{name}”") for name, shape in shapes.items()}
    last = sorted(arrays, key=lambda name: name == chosen)
    traces = [_shape(name, arrays[name].tolist(), axes, shapes[name].hover, name == chosen) for name in last]
    top = max(range(len(axes)), key=lambda place: arrays[chosen][place])
    alt = (
        f"Radar of {len(axes)} values, {axis_title}. {visible(chosen)} reaches farthest at {axes[top]}, "
        f"{arrays[chosen][top]:.2f}."
    )
    return Plotted(_figure(traces, title, axis_title), alt, partial(pd.DataFrame.copy, table))


def _shape(name: str, values: list[float], axes: Sequence[str], hover: Sequence[str], chosen: bool) -> dict[str, Any]:
    names = [_BETWEEN_WORDS.sub("<br>", name) for name in axes]  # a telephone has little room beside the circle
    corners = {"r": [*values, values[0]], "theta": [*names, names[0]], "text": [*hover, hover[0]]}
    line = {"color": _CHOSEN if chosen else _FAINT, "width": 3 if chosen else 1.2}
    drawn = {"mode": "lines+markers", "line": line, "marker": {"size": 8 if chosen else 5}}
    area = {"fill": "toself" if chosen else "none", "fillcolor": _FILL}
    told = {"hovertemplate": "%{text}<extra></extra>", "hoveron": "points"}
    return {"type": "scatterpolar", "name": name, **corners, **drawn, **area, **told}


def _figure(traces: list[dict[str, Any]], title: str, axis_title: str) -> PlotlyFigure:
    import plotly.graph_objects as go

    # No line shows the numbers of the scale, because it would look like one more axis. The heading explains instead
    # what the middle and the rim mean.
    radial = {"range": [0, 1], "tickvals": [0.5, 1], "showline": False, "showticklabels": False, "ticks": ""}
    around = {"direction": "clockwise", "rotation": 90, "tickfont": {"size": 14}, "gridcolor": _GRID}
    polar = {"radialaxis": radial | {"gridcolor": _GRID}, "angularaxis": around, "bgcolor": "rgba(0,0,0,0)"}
    told = f'<span style="font-size: 13px; font-weight: 400">{axis_title}</span>'
    heading = {"text": f"{title}<br>{told}", "x": 0, "y": 0.97, "yanchor": "top"}
    margin = {"l": 68, "r": 68, "t": 108, "b": 36}
    layout = {"title": heading, "showlegend": False, "height": 480, "margin": margin, "polar": polar}
    return go.Figure(data=traces, layout=layout)
