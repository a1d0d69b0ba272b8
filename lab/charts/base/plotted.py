"""A chart that Vega cannot draw: a Plotly figure, its description and its table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import pandas as pd

from lab.charts.base.labels import visible

if TYPE_CHECKING:
    from plotly.graph_objects import Figure as PlotlyFigure


@dataclass(frozen=True)
class Plotted:
    """A Plotly figure, its description, and the function that makes its table."""

    figure: PlotlyFigure
    alt: str
    table: Callable[[], pd.DataFrame]


def plotly_text(text: str) -> str:
    """Escape a learner's text for Plotly, which would read labels as markup and $…$ as TeX."""
    return escape(visible(text), quote=False).replace("$", "&#36;")
