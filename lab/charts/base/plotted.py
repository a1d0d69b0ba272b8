"""A chart that Vega cannot draw: a Plotly figure, its description and its table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import pandas as pd

from lab.charts.base.axes import visible
from lab.charts.kept.file import StillPicture
from lab.charts.kept.keepable import Keepable

if TYPE_CHECKING:
    from plotly.graph_objects import Figure as PlotlyFigure


@dataclass(frozen=True)
class Plotted(Keepable):
    """A Plotly figure, its title and description, and the functions that make its table and its picture for a file.

    A file has no Plotly inside, which takes 4.5 MB, but a picture (SVG) that the lab draws of the same numbers.
    """

    figure: PlotlyFigure
    title: str
    alt: str
    table: Callable[[], pd.DataFrame]
    picture: Callable[[], str]

    @property
    def heading(self) -> str:
        """The name of the figure."""
        return self.title

    def drawing(self) -> StillPicture:
        """Return the figure as a file draws it."""
        return StillPicture(self.picture())


def plotly_text(text: str) -> str:
    """Escape a learner's text for Plotly, which would read labels as markup and $…$ as TeX."""
    return escape(visible(text), quote=False).replace("$", "&#36;")
