"""Parts that the plain charts (bars, lines, points, ranges) share. These charts are written in Altair.

The numbers of a chart travel beside its specification, so no chart is given data, and every field says its type.
Texts of a learner are parameters that expressions look up by index: they are never part of an expression.
Channels of a constant are written `alt.YValue(0)`, `alt.XDatum(0)`, `alt.ColorValue(…).condition(…)`: for each
`alt.value`, `alt.datum` or `alt.when` Altair searches the whole schema of Vega-Lite, which takes 8 ms.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ParamSpec

from lab.charts.base import alt
from lab.charts.base.figure import axis_text, label_extent, quoted

Given = ParamSpec("Given")

CHECKED = False  # whether charts are held against the schema of Vega-Lite: the tests do, a page has no time for it


def specification(
    frame: dict[str, Any], draw: Callable[Given, alt.LayerChart], *args: Given.args, **named: Given.kwargs
) -> dict[str, Any]:
    """Call `draw` with these arguments, and return its chart in a `frame`: plain JSON without any of the numbers.

    Raises
    ------
    altair.SchemaValidationError
        What is drawn is no Vega-Lite, where `CHECKED`.
    """
    from altair.utils.schemapi import debug_mode

    # Visitors share the mode. Whoever finds it changed by another only checks more, or less, than was asked.
    with debug_mode(CHECKED):
        chart = draw(*args, **named)
        # Altair gives an empty data set to each layer that comes to know of none, and its theme to what is on top.
        return frame | chart.to_dict(validate=CHECKED, context={"data": None, "top_level": False})


def of_kind(*kinds: int | str) -> alt.Chart:
    """A layer of the rows whose field `kind` is one of these."""
    return alt.Chart().transform_filter(" || ".join(f"datum.kind === {kind!r}" for kind in kinds))


def quiet_axis(**more: Any) -> alt.Axis:
    """An axis with nothing but words, and with whatever is given."""
    return alt.Axis(**axis_text() | more)


def ruled_axis(ticks: int, **more: Any) -> alt.Axis:
    """A quiet axis with a faint line at each tick. Vega chooses about `ticks` of them."""
    return quiet_axis(**{"tickCount": ticks, "grid": True, "gridOpacity": 0.5} | more)


def label_axis(labels: Sequence[str], **more: Any) -> alt.Axis:
    """A quiet axis that writes `labels`, the parameter of this name, at 0, 1, 2 … in a column as wide as they need."""
    extent = label_extent(labels, 12)
    look = {"labelLimit": extent, "labelOverlap": False, "minExtent": extent + 5, "maxExtent": extent + 5}
    return quiet_axis(labelExpr="labels[datum.value]", **look, **more)


def dashed_rule(ink: Mapping[str, str]) -> alt.Chart:
    """A dashed line from top to bottom, to compare with; it wants an x."""
    rule = alt.Chart().mark_rule(color=ink, strokeDash=[5, 4], strokeWidth=1.5, aria=False, tooltip=None)
    return rule.encode(alt.YValue(0), alt.Y2Value("height"))


def tooltip(lines: Mapping[str, str]) -> alt.ExprRef:
    """What the pointer shows: a line for each name, with what its expression gives."""
    return alt.ExprRef("{" + ", ".join(f"{quoted(name)}: {said}" for name, said in lines.items()) + "}")


def spoken(lines: Mapping[str, str]) -> alt.ExprRef:
    """What the same lines say to somebody who does not see the mark."""
    return alt.ExprRef(" + ': ' + ".join(f"({said})" for said in lines.values()))


def number(field: str) -> str:
    """An expression for the number in `field` with six digits, as tooltips show it."""
    return f"format(datum.{field}, '.6~g')"
