"""The numbers behind a chart as a table, and the table as a CSV file."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from lab.charts.base.axes import distinct, visible

# In the ``attrs`` of a table: the number of all rows, where it has only the first ones.
ROWS = "rows of the whole"
# The characters at which a spreadsheet begins a formula; the wide forms count in East Asian locales
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def table(
    values: ArrayLike, rows: Sequence[str], columns: Sequence[str], *, causal: bool = False, long: bool = False
) -> pd.DataFrame:
    """`values` (rows, columns) under the names in the chart; repeated names get their position added (`the·5`).

    `causal` leaves the cells above the diagonal empty. `long` gives one line per cell instead: row, column,
    value; cells that do not exist are left out.
    """
    array = np.asarray(values)
    exists = np.tri(*array.shape) > 0 if causal else np.ones(array.shape, dtype=bool)
    row_names, column_names = unique_names(rows), unique_names(columns)
    if not long:
        return pd.DataFrame(np.where(exists, array, np.nan) if causal else array, row_names, column_names)
    q, k = np.nonzero(exists)
    return pd.DataFrame(
        {"row": np.asarray(row_names)[q], "column": np.asarray(column_names)[k], "value": array[q, k]},
    )


def unique_names(labels: Sequence[str]) -> list[str]:
    """Return `labels` as the charts show them, but uncut and each different from the others."""
    return distinct([visible(label, limit=None) for label in labels])


def to_csv(frame: pd.DataFrame) -> bytes:
    """Write `frame` as CSV in UTF-8, with the byte-order mark by which spreadsheets recognise UTF-8.

    A text that a spreadsheet would run as a formula gets an apostrophe in front; numbers stay numbers.
    Row names are written unless they are only 0, 1, 2 …
    """
    safe = frame.copy()
    safe.columns = pd.Index([harmless(name) for name in frame.columns])
    for place in range(frame.shape[1]):
        column = frame.iloc[:, place]
        if not pd.api.types.is_numeric_dtype(column):
            safe.isetitem(place, [harmless(cell) for cell in column])
    named = not isinstance(frame.index, pd.RangeIndex)
    if named:
        safe.index = pd.Index([harmless(name) for name in frame.index], name=harmless(frame.index.name))
    text: str = safe.to_csv(index=named, lineterminator="\r\n")
    return text.encode("utf-8-sig")


def harmless(cell: object) -> object:
    """Return a cell that no spreadsheet runs as a formula: a text that it would run has an apostrophe in front."""
    return f"'{cell}" if isinstance(cell, str) and is_formula(cell) else cell


def is_formula(text: str) -> bool:
    """Return whether a spreadsheet may run a text; some drop the spaces before a sign, so such a text counts, too."""
    return text.startswith(_FORMULA) or text.lstrip().startswith(_FORMULA)
