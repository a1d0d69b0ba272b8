"""Draw a figure as a picture file on the server, by the library with which Altair saves charts."""

from __future__ import annotations

import json

from lab.charts.base.figure import Figure

# At most this many marks: a drawing of more marks takes seconds and tens of megabytes; the browser's own menu can still
# save such a chart.
MOST_MARKS = 20_000
_PIXELS_A_POINT = 2.0


def drawable(figure: Figure) -> bool:
    """Return whether ``figure`` is small enough for a picture file."""
    return len(figure.data) <= MOST_MARKS


def svg(figure: Figure) -> str:
    """Draw ``figure`` as SVG, in the light theme."""
    import vl_convert

    return str(vl_convert.vegalite_to_svg(_complete(figure)))


def png(figure: Figure) -> bytes:
    """Draw ``figure`` as PNG, with two pixels for each point."""
    import vl_convert

    return bytes(vl_convert.vegalite_to_png(_complete(figure), scale=_PIXELS_A_POINT))


def _complete(figure: Figure) -> str:
    return json.dumps(figure.complete())
