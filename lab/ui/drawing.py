"""Draw a :class:`lab.charts.base.figure.Figure`: the chart, its numbers as a table and CSV, and its notebook."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, partial
from typing import Any, Literal

import pandas as pd
import pyarrow as pa
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from lab.charts.base.chart_table import to_csv
from lab.charts.base.figure import Figure, drawable, png, svg
from lab.charts.base.plotted import Plotted
from lab.charts.cells.heatmap import Heatmap
from lab.charts.kept.keepable import Keepable
from lab.models.memo import kept
from lab.ui import taking
from lab.ui.parameter_kinds import Parameter
from lab.ui.reports import CellsClicked, heard
from lab.ui.teaching import larger_chart, larger_plotly

_PLAIN = (str, int, float, bool, type(None))
_SPECIFICATION = 30_000  # about the bytes of a chart's specification
_LAST, _SEEN, _CODE = "_last_figure", "_seen_figure", "The code behind the numbers"
_ARCS = "An arc leads from a token to a token at which it looks. The thicker an arc, the more the token looks there."
_KEEPS = "One HTML file with this figure, its numbers and its sources. It needs no network."
_FIT = 4  # the number of columns that fit on the page without scrolling
_MIME = {
    "csv": "text/csv",
    "tsv": "text/tab-separated-values",
    "png": "image/png",
    "svg": "image/svg+xml",
    "ipynb": "application/x-ipynb+json",
    "html": "text/html",
}


@dataclass(frozen=True, eq=False)
class _Ready:
    """A figure in the form that Streamlit takes: the numbers as Arrow, the specification's data sets as bytes."""

    figure: Figure
    data: pa.Table
    spec: dict[str, Any]

    @property
    def nbytes(self) -> int:
        """The approximate bytes of the figure: the numbers, as Arrow and for the table, and the specification."""
        return 3 * int(self.data.nbytes) + _SPECIFICATION


def draw(
    figure: Figure | partial[Any], key: str, *, clickable: bool = False, again: partial[Any] | None = None
) -> dict[str, Any]:
    """Show a figure with its table behind a button; return the chart's event (empty unless clickable).

    If ``figure`` is the call that makes the figure, a notebook can be downloaded, and the figure is kept with its run.
    ``again`` is such a call for a figure that the page makes from results at hand.
    """
    call = figure if isinstance(figure, partial) else again
    return _draw(_made(figure, clickable), key, clickable, call)


def draw_cells(call: partial[Heatmap], key: str) -> tuple[int, int] | None:
    """Draw a heatmap whose cells can be clicked; return row and column of the cell clicked last, from 0."""
    ready = _made(call, True)
    assert isinstance(ready.figure, Heatmap)
    return ready.figure.clicked(_draw(ready, key, True, call))


def _made(figure: Figure | partial[Any], clickable: bool) -> _Ready:
    """Return the figure. It is made only once for a run (or for two) if all other arguments are plain values."""
    if not isinstance(figure, partial):
        return _ready(figure, clickable)
    from lab.models.trace import Trace

    asked = (*figure.args[1:], *figure.keywords.values())
    if not (figure.args and isinstance(figure.args[0], Trace) and all(map(_says_which, asked))):
        return _ready(figure(), clickable)
    names = tuple(figure.keywords)
    return kept(figure.args[0], (figure.func, names, asked, clickable), lambda: _ready(figure(), clickable))


def _says_which(value: object) -> bool:
    """Return whether an equal value always makes the same figure: a plain value, a record of plain values, or a run."""
    from lab.models.trace import Trace

    if is_dataclass(value) and not isinstance(value, Trace | type):
        return all(isinstance(getattr(value, each.name), _PLAIN) for each in fields(value))
    return isinstance(value, (*_PLAIN, Trace))


def _ready(figure: Figure, clickable: bool) -> _Ready:
    if clickable and isinstance(figure, Heatmap):
        figure = figure.clickable()
    spec = dict(figure.spec)
    if "datasets" in spec:
        spec["datasets"] = {name: _sent(rows) for name, rows in spec["datasets"].items()}
    return _Ready(figure, _arrow(figure.data), spec)


def _draw(ready: _Ready, key: str, clickable: bool, call: partial[Any] | None) -> dict[str, Any]:
    figure, drawn = ready.figure, larger_chart(dict(ready.spec))
    select: Literal["rerun", "ignore"] = "rerun" if clickable else "ignore"
    saw(figure)
    with framed(key):
        event = st.vega_lite_chart(ready.data, drawn, width=figure.width, key=key, alt=figure.alt, on_select=select)
        show_numbers(figure.table, key, call, figure)
    return dict(event) if clickable and isinstance(event, dict) else {}


def _arrow(frame: pd.DataFrame) -> pa.Table:
    """Convert the columns of ``frame`` to Arrow.

    Streamlit would convert the columns by way of pandas, which takes twenty times as long.
    """
    return pa.table({name: frame[name].to_numpy() for name in frame.columns})


def _sent(rows: list[dict[str, Any]]) -> Any:
    """A data set of a specification, in the form that Streamlit sends; an empty data set is left to Streamlit."""
    if not rows:
        return rows
    table, sink = pa.Table.from_pylist(rows), pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return bytes(sink.getvalue().to_pybytes())


def draw_plotly(call: partial[Plotted], key: str) -> None:
    """Draw a Plotly chart, with its table, files and notebook."""
    plotted = call()
    with framed(key):
        st.plotly_chart(larger_plotly(plotted.figure), key=key, alt=plotted.alt, config={"displayModeBar": False})
        show_numbers(plotted.table, key, call, plotted)


def draw_sankey(call: partial[Plotted], key: str) -> None:
    """Draw a Sankey diagram with labels on its bands; on a telephone, the diagram scrolls sideways."""
    _clear_labels()
    with st.container(key="sankey"):
        draw_plotly(call, key)


def _clear_labels() -> None:
    """Draw a rim in the page's colour around each label, wide enough that no band runs through the letters.

    Plotly draws labels on the bands, with a shadow of one pixel in a colour that Plotly chooses.
    """
    paper, ink = (
        f"light-dark({st.get_option(f'theme.light.{name}')}, {st.get_option(f'theme.dark.{name}')})"
        for name in ("backgroundColor", "textColor")
    )
    st.html(
        "<style>.js-plotly-plot .sankey .node-label { paint-order: stroke; stroke-width: 6px; stroke-linejoin: round; "
        f"stroke: {paper}; fill: {ink} !important; text-shadow: none !important; }}</style>"
    )


def framed(key: str) -> DeltaGenerator:
    """Make the place of a figure.

    :func:`show_numbers`, called in this place, has a small button in the upper right corner.
    """
    taking.begin_figure(key)
    return st.container(key=f"figure-{key}")


def show_numbers(
    make_table: Callable[[], pd.DataFrame],
    key: str,
    call: partial[Any] | None = None,
    figure: Keepable | None = None,
    *,
    of_step: bool = True,
) -> None:
    """Draw the button of a figure.

    The button opens the numbers as a table, which is made only at the click, the files to download, the Python that
    makes the figure, and the frame for another page. :func:`code` adds the code that made the numbers, for the
    figure of the step (``of_step``) and not for the sentence above it. What the page says of the figure next
    (:func:`lab.ui.taking.tell`) goes into its file.
    """
    label = "Numbers and files" if of_step else "Take the sentence along"
    icon = ":material/more_horiz:"
    told = taking.told_of(key)
    if not of_step:
        told.append(_ARCS)
    with st.popover(label, icon=icon, type="tertiary", help=label, on_change="rerun", key=f"{key}.table") as pop:
        if of_step:
            st.session_state[_LAST] = pop
        if pop.open:
            table = make_table()
            with st.container(horizontal=True):
                file("CSV", key, "csv", to_csv(table))
                if isinstance(figure, Figure) and drawable(figure):
                    file("PNG", key, "png", partial(_drawn, png, figure))
                    file("SVG", key, "svg", partial(_drawn, svg, figure))
                if call is not None:
                    take_notebook(call, key, kept=figure is not None)
                if figure is not None:
                    said, make = taking.kept_file(figure, call, table, told)
                    file(said, key, "html", make, _KEEPS)
            if figure is not None:
                taking.show_frame(key, figure)
            if call is not None:
                taking.show_script(call, key, kept=figure is not None)
            st.dataframe(table)
            if len(table.columns) > _FIT:
                st.caption(f"{len(table.columns)} columns: scroll the table sideways, or download the CSV.")


def file(label: str, key: str, kind: str, data: bytes | Callable[[], str | bytes], help: str | None = None) -> None:
    """Offer a download that does not rerun the page; if ``data`` is a function, the function is called at the click."""
    name, mime, icon = f"{key}.{kind}", _MIME[kind], ":material/download:"
    st.download_button(label, data, name, mime, name, help=help, on_click="ignore", type="tertiary", icon=icon)


def take_notebook(call: partial[Any], key: str, *, kept: bool) -> None:
    """Offer a notebook for download that recomputes ``call``, a table unless the figure can be ``kept`` as a file."""
    told = "The Python below, as a notebook for Jupyter."
    file("Notebook", key, "ipynb", partial(_notebook, call, key, kept), told)


def _drawn(draw_it: Callable[[Figure], str | bytes], figure: Figure) -> str | bytes:
    from lab.models.cores import one_core

    with one_core():
        return draw_it(figure)


def _notebook(call: partial[Any], title: str, kept: bool) -> str:
    from lab.figures.notebook import notebook

    return notebook(call, title, kept=kept)


def code(*functions: Callable[..., Any]) -> None:
    """Show the source of the functions that computed the numbers on screen, behind the button of the last figure.

    If no figure has such a button, the source is in a folded box.
    """
    last = st.session_state.pop(_LAST, None)
    if not isinstance(last, DeltaGenerator):
        with st.expander(_CODE, icon=":material/code:"):
            st.code("\n\n".join(map(_source, functions)), language="python")
    elif getattr(last, "open", False):
        with last:
            st.markdown(f"**{_CODE}**")
            st.code("\n\n".join(map(_source, functions)), language="python")


def forget_figures() -> None:
    """Forget the last figure: another run of the page begins."""
    st.session_state.pop(_LAST, None)
    st.session_state.pop(_SEEN, None)


def saw(figure: Figure | partial[Figure]) -> None:
    """Note what is on screen above: a figure, or the call that makes a figure with the same numbers."""
    st.session_state[_SEEN] = figure


def seen() -> Figure | None:
    """Return the last figure above, with which a question can be answered; None if there is none."""
    found = st.session_state.get(_SEEN)
    return found() if isinstance(found, partial) else found


_source = cache(inspect.getsource)


def clicked(chart: str, fields: Mapping[Parameter[int], str]) -> dict[Parameter[int], int]:
    """Return the place clicked last in ``chart`` for each parameter, from 1; each click counts once."""
    cells = _selected(chart)
    if not cells or cells == st.session_state.get(f"_taken.{chart}"):
        return {}
    st.session_state[f"_taken.{chart}"] = cells
    places = {field: cells[0].get(place) for field, place in fields.items()}
    return {field: int(place) + 1 for field, place in places.items() if isinstance(place, int | float)}


def take_click(chart: str, fields: Mapping[Parameter[int], str]) -> None:
    """Set each parameter to the place clicked last in ``chart``; each click counts once."""
    for field, place in clicked(chart, fields).items():
        field.set(place)


def _selected(name: str) -> list[dict[str, float | str]]:
    """Return the cells that were clicked last in the chart ``name``."""
    event = st.session_state.get(name)
    report = heard(event.get("selection") if isinstance(event, Mapping) else None, CellsClicked)
    return [] if report is None else [*report.map, *report.cell]
