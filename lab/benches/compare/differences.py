"""Two runs, A and B: any figure of :data:`lab.benches.compare.comparable.COMPARABLE` side by side, and B minus A."""

from __future__ import annotations

from lab.analysis.layers.compared import apart, same_tokens
from lab.benches.compare.comparable import At, shown
from lab.charts.base.axes import AxisPlaces, Scale
from lab.charts.base.figure import Figure
from lab.charts.marks.lines import lines
from lab.models.trace import Trace


def figure_a(a: Trace, b: Trace, figure: str, at: At) -> Figure:
    """Draw ``figure`` for A, on a scale that both runs share. Raises the errors of :func:`shown`."""
    return shown(a, figure, at).drawn("A", shown(b, figure, at))


def figure_b(a: Trace, b: Trace, figure: str, at: At) -> Figure:
    """Draw ``figure`` for B, on a scale that both runs share. Raises the errors of :func:`shown`."""
    return shown(b, figure, at).drawn("B", shown(a, figure, at))


def difference(a: Trace, b: Trace, figure: str, at: At) -> Figure:
    """Draw B minus A, with colours around 0. Also raises ValueError if the two runs have no cells in common."""
    return shown(b, figure, at).less(shown(a, figure, at))


def streams(a: Trace, b: Trace) -> Figure:
    """Return the distance between the residual streams after each layer, averaged over the places with equal tokens.

    Raises ValueError if the streams have different shapes, or no tokens are equal.
    """
    found, same = apart(a, b), same_tokens(a, b)
    if not same.any():
        raise ValueError("A and B share no token at the same place.")
    series = {
        "‖B − A‖ ÷ ‖A‖": found.distance[:, same].mean(axis=1),
        "1 − cosine": 1 - found.cosine[:, same].mean(axis=1),
    }
    places = AxisPlaces("Layer (0: embeddings)", range(len(found.distance)))
    return lines(series, places, Scale("Distance"), title="Distance of the residual streams")
