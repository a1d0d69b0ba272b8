"""The legend of coloured cells: a bar with the colours of the scale, and its numbers below.

It is drawn with marks and not as a legend of Vega's, which names a gradient by the page's address, and loses it when
the address changes (vega/vega#3948).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lab.charts.base import colour
from lab.charts.base.axes import Domain, Scale
from lab.charts.base.figure import quoted

_WIDTH, _STEPS = 180, 60  # pixels, and pieces of the bar
_TITLE, _BAR, _THICK, _NUMBERS = 24, 34, 12, 49  # pixels below the cells


def colours(scale: Scale, limits: Domain) -> dict[str, Any]:
    """Return the encoding of ``value`` as a colour between ``limits``; :func:`scale_bar` is its legend."""
    ramp = {"domain": list(limits), "range": colour.ramp(scale.signed), "interpolate": "rgb", "clamp": True}
    return {"field": "value", "type": "quantitative", "scale": ramp, "legend": None}


def beyond(values: NDArray[np.float32], limits: Domain) -> tuple[bool, bool]:
    """Return whether some ``values`` are below the colours' ``limits``, and whether some are above them."""
    margin = 1e-6 * (limits[1] - limits[0])
    return bool(values.min() < limits[0] - margin), bool(values.max() > limits[1] + margin)


def scale_bar(scale: Scale, limits: Domain, outside: tuple[bool, bool]) -> list[dict[str, Any]]:
    """Return the layers of the legend: the quantity, the bar, and the numbers at its ends and in the middle.

    ``outside`` is :func:`beyond` of the numbers: an end beyond which there are some reads "≤ −3" or "≥ 3".
    """
    ends = {"x": {"value": 0}, "x2": {"value": _WIDTH}, "y": _below(_BAR), "y2": _below(_BAR + _THICK)}
    frame = {"type": "rect", "filled": False, "stroke": colour.SOFT_INK, "strokeWidth": 0.5}
    low, high = limits
    numbers: tuple[tuple[str, float, float, str], ...] = (
        ("≤ " * outside[0], low, 0, "left"),
        ("", (low + high) / 2, _WIDTH / 2, "center"),
        ("≥ " * outside[1], high, _WIDTH, "right"),
    )
    return [
        _pieces(scale, limits),
        _layer(frame, ends),
        _text(quoted(scale.title), 0, _TITLE, "left", fontSize=11, fontWeight="bold"),
        *(
            # From their top, so that larger numbers, as on a wall, grow away from the bar.
            _text(f"'{sign}' + {_number(scale, value)}", x, _NUMBERS, align, fontSize=11, baseline="top")
            for sign, value, x, align in numbers
        ),
    ]


def _pieces(scale: Scale, limits: Domain) -> dict[str, Any]:
    """Return the layer of the bar itself; each piece reaches a little below the next, so that no line is between."""
    (low, high), piece = limits, _WIDTH / _STEPS
    calculated = {
        "value": f"{low!r} + (datum.piece + 0.5) * {(high - low) / _STEPS!r}",
        "bar_left": f"datum.piece * {piece}",
        "bar_right": f"min(datum.piece * {piece} + {piece + 0.4}, {_WIDTH})",
    }
    encoding = {
        "x": {"field": "bar_left", "type": "quantitative", "scale": None, "axis": None},
        "x2": {"field": "bar_right"},
        "y": _below(_BAR),
        "y2": _below(_BAR + _THICK),
        "color": colours(scale, limits),
    }
    return {
        **_layer({"type": "rect"}, encoding),
        "data": {"sequence": {"start": 0, "stop": _STEPS, "as": "piece"}},
        "transform": [{"calculate": formula, "as": name} for name, formula in calculated.items()],
    }


def _text(expression: str, x: float, below: int, align: str, **look: Any) -> dict[str, Any]:
    mark = {"type": "text", "align": align, "baseline": "alphabetic", "color": colour.SOFT_INK, **look}
    return _layer(mark, {"x": {"value": x}, "y": _below(below), "text": {"value": {"expr": expression}}})


def _layer(mark: dict[str, Any], encoding: dict[str, Any]) -> dict[str, Any]:
    return {"data": {"values": [{}]}, "mark": mark | {"aria": False, "tooltip": None}, "encoding": encoding}


def _below(pixels: int) -> dict[str, Any]:
    return {"value": {"expr": f"height + {pixels}"}}


def _number(scale: Scale, value: float) -> str:
    return f"format({value!r}, {quoted('.0%' if scale.format.endswith('%') else '.3~g')})"
