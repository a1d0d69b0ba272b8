"""The charts of the lab: arrays in, a `Figure` out. No Streamlit here; `lab.ui` does the showing.

`heatmap`, `strips`, `bars`, `columns` and `lines`, each in the module of its name (`columns` beside `bars`), return
a Figure: a Vega-Lite specification, its data, a description for readers who cannot see it, and a table.
`tokens.token_chips` returns safe HTML.

Plain charts (`marks`) are written in Altair, and grids of cells (`cells`) in Vega-Lite. Vega has no mark for some
charts: those are written in Plotly, or by hand (`components`).
"""
