"""Draw a radar: several values of one thing, or of a few things, on axes around a circle.

Vega has no radar, so Plotly draws it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd
from numpy.typing import ArrayLike

from lab.charts.base.axes import visible
from lab.charts.base.figure import numbers
from lab.charts.base.plotted import Plotted
from lab.charts.kept import svg

if TYPE_CHECKING:
    from plotly.graph_objects import Figure as PlotlyFigure

_BETWEEN_WORDS = re.compile(r" (?![^(]*\))")  # spaces, but not those inside parentheses
_FAINT = "rgba(128, 132, 149, 0.75)"
_GRID = "rgba(128, 132, 149, 0.4)"
_MIDDLE, _RADIUS = 260, 160  # pixels of the picture for a file
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
        f"Radar of {len(axes)} values, {axis_title}. {visible(chosen, None)} reaches farthest at {axes[top]}, "
        f"{arrays[chosen][top]:.2f}."
    )
    drawn = partial(_picture, {name: (arrays[name].tolist(), shapes[name].hover) for name in last}, axes, chosen, alt)
    return Plotted(_figure(traces, title, axis_title), title, alt, partial(pd.DataFrame.copy, table), drawn)


def _picture(
    shapes: Mapping[str, tuple[Sequence[float], Sequence[str]]], axes: Sequence[str], chosen: str, alt: str
) -> str:
    """Draw the shapes as SVG, the last one on top; a corner says its numbers to who points at it."""
    parts = [
        svg.element("circle", cx=_MIDDLE, cy=_MIDDLE, r=_RADIUS * ring, fill="none", stroke=_GRID) for ring in (0.5, 1)
    ]
    for place, axis in enumerate(axes):
        (x, y), (far, low) = _corner(place, len(axes), 1.0), _corner(place, len(axes), 1.1)
        side = "middle" if abs(far - _MIDDLE) < _RADIUS / 10 else "start" if far > _MIDDLE else "end"
        parts.append(svg.element("line", x1=_MIDDLE, y1=_MIDDLE, x2=x, y2=y, stroke=_GRID))
        lines = _BETWEEN_WORDS.split(axis)
        top = low + 5 - 16 * (len(lines) - 1) * (1 - (low - _MIDDLE + _RADIUS) / (2 * _RADIUS))
        parts += [svg.text(line, far, top + 16 * at, text_anchor=side, font_size=14) for at, line in enumerate(lines)]
    for name, (values, hover) in shapes.items():
        mine, corners = name == chosen, [_corner(at, len(axes), value) for at, value in enumerate(values)]
        line = {"stroke": _CHOSEN if mine else _FAINT, "stroke_width": 3 if mine else 1.2}
        outline = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
        parts.append(svg.element("polygon", points=outline, fill=_FILL if mine else "none", **line))
        parts += [
            svg.element(
                "circle", svg.tooltip(told.replace("<br>", "\n")), cx=x, cy=y, r=4.5 if mine else 3, fill=line["stroke"]
            )
            for (x, y), told in zip(corners, hover, strict=True)
        ]
    return svg.picture(2 * _MIDDLE, 2 * _MIDDLE, alt, *parts, least=330)


def _corner(place: int, count: int, value: float) -> tuple[float, float]:
    """Return the place of a value on an axis; the first axis is at the top, and the others follow clockwise."""
    angle = 2 * math.pi * place / count
    return _MIDDLE + _RADIUS * value * math.sin(angle), _MIDDLE - _RADIUS * value * math.cos(angle)


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
    margin = {"l": 54, "r": 82, "t": 108, "b": 56}  # *Punctuation* is long, and one word
    layout = {"title": heading, "showlegend": False, "height": 500, "margin": margin, "polar": polar}
    return go.Figure(data=traces, layout=layout)
