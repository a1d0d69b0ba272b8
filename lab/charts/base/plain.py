"""Parts that the plain charts (bars, lines, points, ranges) share. These charts are written in Altair.

The numbers of a chart are sent beside the specification, so no Altair chart contains data, and every field states its
type. A learner's texts are parameters that expressions look up by index: a text is never part of an expression.
Channels of a constant are written `alt.YValue(0)`, `alt.XDatum(0)`, `alt.ColorValue(…).condition(…)`: for each
`alt.value`, `alt.datum` or `alt.when` Altair searches the whole schema of Vega-Lite, which takes 8 ms.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ParamSpec

from lab.charts.base import alt, colour
from lab.charts.base.figure import ROOM, axis_text, label_extent, quoted

Given = ParamSpec("Given")

CHECKED = False  # true to check charts against Vega-Lite's schema, as the tests do; a page has no time for the check


_BESIDE_PLOT = 60  # pixels of a chart's width that the axis of its values and labels takes


def specification(
    frame: dict[str, Any], draw: Callable[Given, alt.LayerChart], *args: Given.args, **named: Given.kwargs
) -> dict[str, Any]:
    """Call `draw` with these arguments and return its chart in a `frame`, as plain JSON without the numbers.

    Raises
    ------
    altair.SchemaValidationError
        If `CHECKED`, and the chart is not valid Vega-Lite.
    """
    from altair.utils.schemapi import debug_mode

    # Visitors share the debug mode. If another visitor has changed the mode meanwhile, this chart is only checked more
    # or less than wanted.
    with debug_mode(CHECKED):
        chart = draw(*args, **named)
        # Altair adds an empty data set to each layer without data, and its theme to the top level; the context prevents
        # both.
        return frame | chart.to_dict(validate=CHECKED, context={"data": None, "top_level": False})


def of_kind(*kinds: int | str) -> alt.Chart:
    """Return a layer of the rows whose field `kind` is one of `kinds`."""
    return alt.Chart().transform_filter(" || ".join(f"datum.kind === {kind!r}" for kind in kinds))


def quiet_axis(**more: Any) -> alt.Axis:
    """Return an axis that has only words, and the settings in `more`."""
    return alt.Axis(**axis_text() | more)


def ruled_axis(ticks: int, **more: Any) -> alt.Axis:
    """Return a plain axis with a faint line at each tick. Vega chooses the ticks, about `ticks` in number."""
    return quiet_axis(**{"tickCount": ticks, "grid": True, "gridOpacity": 0.5} | more)


def label_axis(labels: Sequence[str], **more: Any) -> alt.Axis:
    """Return a quiet axis that writes `labels` (a parameter's name) at 0, 1, 2 … in a column as wide as the labels."""
    extent = label_extent(labels, 12)
    look = {"labelLimit": extent, "labelOverlap": False, "minExtent": extent + 5, "maxExtent": extent + 5}
    return quiet_axis(labelExpr="labels[datum.value]", **look, **more)


def dashed_rule(ink: Mapping[str, str]) -> alt.Chart:
    """Draw a dashed line from top to bottom, to compare values with; the caller encodes the line's x."""
    rule = alt.Chart().mark_rule(color=ink, strokeDash=[5, 4], strokeWidth=1.5, aria=False, tooltip=None)
    return rule.encode(alt.YValue(0), alt.Y2Value("height"))


def tooltip(lines: Mapping[str, str]) -> alt.ExprRef:
    """Return a tooltip with one line for each name: the name and the value of its expression."""
    return alt.ExprRef("{" + ", ".join(f"{quoted(name)}: {said}" for name, said in lines.items()) + "}")


def spoken(lines: Mapping[str, str]) -> alt.ExprRef:
    """Return the tooltip's lines as a description, for readers who cannot see the mark."""
    return alt.ExprRef(" + ': ' + ".join(f"({said})" for said in lines.values()))


def number(field: str) -> str:
    """Return an expression for the number in `field` with six digits, as tooltips show numbers."""
    return f"format(datum.{field}, '.6~g')"


def legend_below(param: str, names: Sequence[str], most: int, **more: Any) -> alt.Legend:
    """Return a legend below the chart, at most `most` names in a row; expressions find `names` in the parameter
    `param`.

    A narrow chart has fewer names in a row.
    """
    widest = 28 + 6 * max(map(len, names))
    return alt.Legend(
        title=None,
        orient="bottom",
        labelExpr=f"{param}[datum.value]",
        labelColor=colour.SOFT_INK,
        columns=alt.ExprRef(f"clamp(floor(({ROOM} - {_BESIDE_PLOT}) / {widest}), 1, {most})"),
        offset=6,
        padding=0,
        labelLimit=260,
        **more,
    )
