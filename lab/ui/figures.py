"""Draw a :class:`lab.charts.figure.Figure`: the chart, its numbers as a table, the table as CSV."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pandas as pd
import streamlit as st

from lab.charts.figure import Figure
from lab.charts.radar import Radar
from lab.charts.tables import to_csv


def draw(figure: Figure, key: str, *, clickable: bool = False) -> dict[str, Any]:
    """Show ``figure`` with its table behind a button; return the chart's event (empty unless clickable)."""
    event = st.vega_lite_chart(
        figure.data, dict(figure.spec), width=figure.width, key=key, alt=figure.alt,
        on_select="rerun" if clickable else "ignore",
    )  # fmt: skip
    show_numbers(figure.table, key)
    return dict(event) if clickable and isinstance(event, dict) else {}


def draw_radar(radar: Radar, key: str) -> None:
    """The same for a radar."""
    st.plotly_chart(radar.figure, key=key, alt=radar.alt, config={"displayModeBar": False})
    show_numbers(radar.table, key)


def show_numbers(make_table: Callable[[], pd.DataFrame], key: str) -> None:
    """The button under a figure: its numbers as a table, made when it is opened, and as CSV."""
    with st.popover("Numbers", icon=":material/table:", type="tertiary", on_change="rerun", key=f"{key}.table") as pop:
        if pop.open:
            table = make_table()
            st.dataframe(table)
            st.download_button(
                "CSV", to_csv(table), file_name=f"{key}.csv", mime="text/csv", icon=":material/download:",
                key=f"{key}.csv", on_click="ignore",
            )  # fmt: skip


def code(*functions: Callable[..., Any]) -> None:
    """The source of the functions that computed what is on screen."""
    with st.expander("The code that just ran", icon=":material/code:"):
        st.code("\n\n".join(inspect.getsource(function) for function in functions), language="python")
