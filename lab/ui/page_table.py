"""A table on a page: its columns, the format of their numbers, and their widths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
import pyarrow as pa
import streamlit as st
from streamlit.elements.lib.column_types import ColumnConfig

DECIMAL, SHARE = "%.2f", "percent"
# The text in cells without a value.
NO_VALUE = "–"
ROWS = 24
_NONE: Mapping[str, str] = {}
_TWO_LINES = 66  # pixels: only in rows taller than 4 rem does Streamlit wrap a text


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes
    ----------
    name
        The name of the column in the frame.
    width
        The width in pixels; without a width, the column is as wide as its words.
    format
        The format of the column's numbers: "percent", "localized" or as in C ("%.2f"); empty for texts and counts.
    heading
        The text above the column if the name is too long.
    help
        A description of the column, in a tooltip at the heading.
    """

    name: str
    width: int | None = None
    format: str = ""
    heading: str = ""
    help: str = ""

    def config(self) -> ColumnConfig:
        """Return the column as Streamlit's column configuration."""
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
    """Draw a table at its full height; a table of more than :data:`ROWS` rows scrolls.

    Parameters
    ----------
    frame
        The values.
    columns
        The columns to draw, in their order; all columns of ``frame`` if no columns are named.
    formats
        The format of a column's numbers, by the column's name, if ``columns`` do not name it.
    numbered
        Draw the index of ``frame``, too.
    long_texts
        Give each row two lines.
    scrolls
        Let a shorter table scroll, too, because it is beside other tables.
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
