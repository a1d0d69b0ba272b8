"""What every chart of the lab is: a Vega-Lite specification, its numbers, its words and its table."""

import json
import re
import textwrap
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from lab.charts import colour
from lab.charts.labels import visible

_FORMAT = re.compile(r"\+?\.\d+[feg%]")


@dataclass(frozen=True)
class Figure:
    """A chart, ready to be drawn.

    `st.vega_lite_chart(figure.data, figure.spec, width=figure.width, alt=figure.alt, key=...)`

    Attributes
    ----------
    spec : Vega-Lite specification, plain JSON. It does not change when only numbers or the highlight change,
        so Streamlit updates the drawing in place instead of building it anew.
    data : the numbers, one row a mark; Streamlit sends them as Arrow.
    width : pixels, or "stretch". A number is a maximum: on a narrower page the chart shrinks.
    alt : the chart in a sentence, for those who do not see it.
    table : makes the table view (and the CSV) when asked.
    """

    spec: Mapping[str, Any]
    data: pd.DataFrame
    width: int | Literal["stretch"]
    alt: str
    table: Callable[[], pd.DataFrame]


def base(title: str, height: float, *, canvas: bool = False) -> dict[str, Any]:
    """The part of a specification that all charts share. The title is wrapped to fit a phone."""
    lines = {"name": "title_lines", "value": textwrap.wrap(title, 36)}
    text = {"expr": f"width > {9 * len(title)} ? [join(title_lines, ' ')] : title_lines"}
    spec: dict[str, Any] = {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "title": {"text": text, "anchor": "start", "frame": "bounds", "offset": 12},
        "height": height,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "params": [colour.DARK, lines],
        "config": {"view": {"stroke": None}},
    }
    if canvas:
        spec["usermeta"] = {"embedOptions": {"renderer": "canvas"}}
    return spec


def flat(values: NDArray[np.float32]) -> pd.DataFrame:
    """The numbers as one float32 column, row after row: the cheapest way to the browser."""
    return pd.DataFrame({"value": values.ravel()})


def numbers(values: ArrayLike, shape: str, *, of: str) -> NDArray[np.float32]:
    """`values` as finite float32 with the dimensions that `shape` names, e.g. `"(rows, columns)"`.

    Raises
    ------
    ValueError : wrong number of dimensions, nothing inside, NaN or infinity (and where the first one is).
    """
    array = np.asarray(values, dtype=np.float32)
    dimensions = len(shape.strip("(),").split(","))
    if array.ndim != dimensions or array.size == 0:
        raise ValueError(f"{of}: expected numbers of shape {shape}, got shape {array.shape}.")
    wrong = np.argwhere(~np.isfinite(array))
    if len(wrong):
        first = tuple(int(index) for index in wrong[0])
        raise ValueError(
            f"{of}: {len(wrong)} of {array.size} values are NaN or infinite, the first at {first} "
            f"({array[first]}). A chart cannot show them: mask them or mend the step before."
        )
    return array


def check_labels(count: int, labels: Sequence[str], *, of: str, what: str) -> None:
    """Raise a ValueError unless there is one label for each of `count` things."""
    if len(labels) != count:
        raise ValueError(f"{of}: {count} {what} but {len(labels)} labels; give one label for each.")


def check_format(value_format: str, *, of: str) -> None:
    """Raise a ValueError unless Python and the browser (d3) read `value_format` alike."""
    if not _FORMAT.fullmatch(value_format):
        raise ValueError(f"{of}: format {value_format!r} is not like '.3f', '+.2f', '.1%', '.2e' or '.3g'.")


def names(parameter: str, labels: Sequence[str]) -> dict[str, Any]:
    """Labels as a parameter: a value that expressions look up, never a part of an expression."""
    return {"name": parameter, "value": [visible(label) for label in labels]}


def text_width(labels: Sequence[str], size: float) -> int:
    """About how many pixels the widest of `labels` takes at font `size`."""
    wide = ("W", "F")
    lengths = (sum(1.0 if unicodedata.east_asian_width(c) in wide else 0.56 for c in visible(text)) for text in labels)
    return round(max(lengths) * size)


def quoted(text: str) -> str:
    """`text` (a caller's title) as a string literal of the expression language."""
    return json.dumps(text)
