"""What a chart is that Vega has no answer for: a Plotly figure, the chart in a sentence, and its table."""

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
    """A Plotly figure, the chart in a sentence, and what makes its table."""

    figure: PlotlyFigure
    alt: str
    table: Callable[[], pd.DataFrame]


def plotly_text(text: str) -> str:
    """A learner's text as Plotly shows it to the letter: it reads labels as markup and $…$ as TeX."""
    return escape(visible(text), quote=False).replace("$", "&#36;")
