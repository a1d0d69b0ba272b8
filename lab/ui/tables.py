"""A table on a page: which columns, how their numbers are written, and how wide they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
import pyarrow as pa
import streamlit as st
from streamlit.elements.lib.column_types import ColumnConfig

DECIMAL, SHARE = "%.2f", "percent"
# What stands where there is no value.
NO_VALUE = "–"
ROWS = 24
_NONE: Mapping[str, str] = {}
_TWO_LINES = 66  # pixels: only in rows of more than 4 rem does Streamlit let a text go on below


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes
    ----------
    name
        Of the column in the frame.
    width
        In pixels; as wide as its words where none is given.
    format
        How its numbers are written: "percent", "localized" or as in C ("%.2f"); empty for texts and counts.
    heading
        What stands above it where the name is too long for that.
    help
        What it is, in a tooltip at the heading.
    """

    name: str
    width: int | None = None
    format: str = ""
    heading: str = ""
    help: str = ""

    def config(self) -> ColumnConfig:
        """What Streamlit is told about it."""
        heading, told = self.heading or self.name, self.help or None
        if self.format:
            return st.column_config.NumberColumn(heading, width=self.width, help=told, format=self.format)
        return st.column_config.Column(heading, width=self.width, help=told)


def show_table(
    frame: pd.DataFrame | pa.Table,
    columns: Sequence[Column] = (),
    *,
    formats: Mapping[str, str] = _NONE,
    numbered: bool = False,
    long_texts: bool = False,
    scrolls: bool = False,
) -> None:
    """Draw a table as tall as its rows; one of more than :data:`ROWS` rows scrolls.

    Parameters
    ----------
    frame
        The values.
    columns
        Which columns are drawn, in their order; all of ``frame`` where none is named.
    formats
        How the numbers of a column are written, by its name, where ``columns`` do not say it.
    numbered
        Whether the index of ``frame`` is drawn, too.
    long_texts
        Give each row two lines.
    scrolls
        Let a shorter table scroll, too, where it stands among others.
    """
    written = {name: st.column_config.NumberColumn(format=each) for name, each in formats.items()}
    st.dataframe(
        frame[[each.name for each in columns]] if columns else frame,
        height="auto" if scrolls or len(frame) > ROWS else "content",
        hide_index=not numbered,
        column_config=written | {each.name: each.config() for each in columns},
        row_height=_TWO_LINES if long_texts else None,
        placeholder=NO_VALUE,
    )
