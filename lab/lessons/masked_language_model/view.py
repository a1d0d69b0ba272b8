"""Code that several screens of the masked-language-model lesson share."""

from __future__ import annotations

import pandas as pd

from lab.ui.parameters import TEMPERATURE
from lab.ui.tables import show_table


def temperature() -> float:
    """Draw the slider of the temperature."""
    return TEMPERATURE.choose("Temperature", 0.1)


def numbers_table(table: pd.DataFrame, **formats: str) -> None:
    """Draw a table whose numbers have four decimals, unless ``formats`` names another format for a column."""
    columns = table.select_dtypes("number").columns
    four = [name for name in columns if name not in formats]
    table = table.assign(**{name: table[name].mask(table[name].abs() < 0.00005, 0.0) for name in four})  # no −0.0000
    show_table(table, formats={name: formats.get(name, "%.4f") for name in columns})
