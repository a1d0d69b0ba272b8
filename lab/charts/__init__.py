"""The charts of the lab: arrays in, a `Figure` out. No chart imports Streamlit; `lab.ui` shows the charts on a page.

`heatmap`, `strips`, `bars`, `columns` and `lines`, each in the module of its name (`columns` is in `bars`), return a
Figure: a Vega-Lite specification, its data, a description for readers who cannot see it, and a table.
`tokens.token_chips` returns safe HTML.

Plain charts (`marks`) are written in Altair, and grids of cells (`cells`) in Vega-Lite. Charts for which Vega has no
mark are written in Plotly, or by hand (`components`).
"""
