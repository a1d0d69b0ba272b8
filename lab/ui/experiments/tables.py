"""The tables of an experiment, with columns as wide as they need, and the rule behind its verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st
from streamlit.elements.lib.column_types import ColumnConfig

from lab.evidence.verdicts import RULE

DECIMAL, SHARE = "%.2f", "percent"
# What stands where there is no value.
NO_VALUE = "–"
_TWO_LINES = 66  # pixels: only in rows of more than 4 rem does Streamlit let a text go on below


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes
    ----------
    name
        Of the column in the frame.
    width
        In pixels.
    format
        How its numbers are written, :data:`DECIMAL` or :data:`SHARE`; empty for texts and counts.
    heading
        What stands above it where the name is too long for that.
    help
        What it is, in a tooltip at the heading.
    """

    name: str
    width: int
    format: str = ""
    heading: str = ""
    help: str = ""

    def config(self) -> ColumnConfig:
        """What Streamlit is told about it."""
        heading, told = self.heading or self.name, self.help or None
        if self.format:
            return st.column_config.NumberColumn(heading, width=self.width, help=told, format=self.format)
        return st.column_config.Column(heading, width=self.width, help=told)


def show_rule(effect: str) -> None:
    """The rule of the verdicts, one for every experiment, behind a fold; ``effect`` says what it is applied to here."""
    with st.expander("The rule of the verdict", icon=":material/gavel:"):
        st.markdown(f"{effect}\n\n{RULE}")


def show_table(
    frame: pd.DataFrame, columns: Sequence[Column], *, long_texts: bool = False, scrolls: bool = False
) -> None:
    """Draw the ``columns`` of ``frame`` in their order.

    ``long_texts`` gives each row two lines; a table of many rows ``scrolls`` instead of being as tall as they are.
    """
    st.dataframe(
        frame[[each.name for each in columns]],
        height="auto" if scrolls else "content",
        hide_index=True,
        column_config={each.name: each.config() for each in columns},
        row_height=_TWO_LINES if long_texts else None,
        placeholder=NO_VALUE,
    )
