"""The charts of the lab: arrays in, a `Figure` out. No Streamlit here; `lab.ui` does the showing.

`heatmap`, `strips`, `bars`, `columns` and `lines` return a Figure: Vega-Lite specification, data, a sentence
for those who do not see it, and a table. `token_chips` returns safe HTML.
"""

from lab.charts.bars import bars, columns
from lab.charts.figure import Figure
from lab.charts.heatmap import Heatmap, heatmap
from lab.charts.lines import lines
from lab.charts.strips import strips
from lab.charts.tables import table, to_csv
from lab.charts.tokens import token_chips

__all__ = [
    "Figure",
    "Heatmap",
    "bars",
    "columns",
    "heatmap",
    "lines",
    "strips",
    "table",
    "to_csv",
    "token_chips",
]
