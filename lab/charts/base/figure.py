"""The parts of every chart: a Vega-Lite specification, its numbers, a description and a table."""

from __future__ import annotations

import json
import textwrap
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from lab.charts.base import alt, colour
from lab.charts.base.axes import Axis, Scale, visible
from lab.charts.kept.file import Chart
from lab.charts.kept.keepable import Keepable

CANVAS_ABOVE = 44  # tokens per side; a larger map is drawn on a canvas, because thousands of SVG nodes make a page slow
_PAGE_WIDTH = 720  # pixels, the default width of a figure that fills its container
_LABEL_LIMIT = 96  # pixels for labels, which leave more than two thirds of a phone's width to the drawing


@dataclass(frozen=True)
class Figure(Keepable):
    """A chart, ready to draw.

    `st.vega_lite_chart(figure.data, figure.spec, width=figure.width, alt=figure.alt, key=...)`

    Attributes
    ----------
    spec
        Vega-Lite specification, plain JSON. Outlines and, if `domain` is given, new numbers leave the specification
        unchanged, and Streamlit then mends the drawing in place instead of building a new one.
    data
        The numbers, one row for each mark; they travel as Arrow.
    width
        Pixels, or "stretch". Pixels are a maximum: on a narrower page the chart shrinks.
    alt
        The chart in a sentence, for readers who cannot see it.
    table
        Makes the table view when a reader opens it; `lab.charts.to_csv` turns the table into a file.
    """

    spec: dict[str, Any]
    data: pd.DataFrame
    width: int | Literal["stretch"]
    alt: str
    table: Callable[[], pd.DataFrame]

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Any:
        """Draw the figure in a notebook, as Altair draws the same specification."""
        return alt.Chart.from_dict(self.complete())._repr_mimebundle_(include, exclude)

    def complete(self) -> dict[str, Any]:
        """Return the specification with the numbers and a width in pixels: a complete drawing."""
        width = _PAGE_WIDTH if self.width == "stretch" else self.width
        return {**self.spec, "width": width, "data": {"values": self.data.to_dict(orient="records")}}

    @property
    def heading(self) -> str:
        """The title of the chart."""
        lines = next(each["value"] for each in self.spec["params"] if each["name"] == "title_lines")
        return " ".join(lines)

    def drawing(self) -> Chart:
        """Return the chart with its numbers, each as short as it is exact in single precision."""
        columns = {name: _written_out(self.data[name]) for name in self.data.columns}
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        return Chart({**self.spec, "description": self.alt, "data": {"values": rows}}, self.width)


def _written_out(column: pd.Series) -> list[Any]:
    """The values of a column as JSON has them: a float32 as its shortest decimal number, and None for no number."""
    if column.dtype == np.float32:
        return [float(str(value)) if np.isfinite(value) else None for value in column.to_numpy()]
    if column.dtype == np.float64:
        return [value if np.isfinite(value) else None for value in column.tolist()]
    return list(column.tolist())


@dataclass(frozen=True)
class CellFigure(Figure):
    """A Figure of coloured cells that keeps its numbers, so that two figures of one kind can be subtracted.

    Attributes
    ----------
    title
        As the reader sees it.
    values
        The numbers, as exact as they were given.
    axes
        The sides of ``values``, in the order of its dimensions.
    scale
        The quantity, as it was given.
    causal
        True if there are no cells above the diagonal of the last two sides.
    """

    title: str
    values: NDArray[Any]
    axes: tuple[Axis, ...]
    scale: Scale
    causal: bool


# The width of the whole chart, as an expression. The `width` of the plot alone changes when the axes are laid out, so a
# line of the title or of the legend that depended on it would be cut.
ROOM = "max(containerSize()[0] || 0, width + 20)"


def base(
    title: str, height: float, *, canvas: bool = False, texts: Mapping[str, Sequence[str]] | None = None
) -> dict[str, Any]:
    """Return the part of a specification that all charts share. A title too long for the page is broken into lines.

    `texts` become parameters, which expressions look up by index.
    """
    wide, narrow = (textwrap.wrap(visible(title, None), characters, break_on_hyphens=False) for characters in (36, 18))
    lines = [{"name": "title_lines", "value": wide}, {"name": "short_title_lines", "value": narrow}]
    text = {
        "expr": f"{ROOM} > {8 * len(title)} ? [join(title_lines, ' ')] : "
        f"{ROOM} > {8 * 36} ? title_lines : short_title_lines"
    }
    spec: dict[str, Any] = {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "title": {"text": text, "anchor": "start", "frame": "bounds", "offset": 12},
        "height": height,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "params": [colour.DARK, *lines, *(names(name, labels) for name, labels in (texts or {}).items())],
        "config": {"view": {"stroke": None}},
    }
    if canvas:
        spec["usermeta"] = {"embedOptions": {"renderer": "canvas"}}
    return spec


def axis_text(size: int = 12) -> dict[str, Any]:
    """Return the settings of an axis: readable text at small sizes, no lines, labels next to their marks."""
    return {
        "labelFontSize": size,
        "labelColor": colour.SOFT_INK,
        "titleColor": colour.SOFT_INK,
        "labelPadding": 5,
        "titlePadding": 8,
        "labelFlush": False,
        "ticks": False,
        "domain": False,
        "grid": False,
    }


def ticks(count: int) -> list[int]:
    """Return the places to label, at most nine of `count` places (from 0): the first place, then round steps."""
    step = next(step for step in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, count) if count / step <= 8)
    return sorted({0, *range(step - 1, count, step)})


def names(parameter: str, labels: Sequence[str]) -> dict[str, Any]:
    """Return labels as a parameter, where expressions find them by index; a label is never part of an expression."""
    return {"name": parameter, "value": [visible(label) for label in labels]}


def quoted(text: str) -> str:
    """Return `text` (a title or a number format of the caller) as a string literal for Vega's expressions."""
    return json.dumps(text)


def label_extent(labels: Sequence[str], size: int) -> int:
    """Return the approximate width in pixels of the widest of `labels` at font `size`.

    The width has a limit, so that a phone has room for the drawing.
    """
    widths = (sum(1.0 if unicodedata.east_asian_width(c) in "WF" else 0.56 for c in visible(text)) for text in labels)
    return min(_LABEL_LIMIT, round(max(widths) * size) + 2)


def numbers(values: ArrayLike, shape: tuple[str, ...], *, of: str) -> NDArray[np.float32]:
    """`values` as finite float32 with the dimensions named by `shape`, e.g. `("rows", "columns")`.

    Raises
    ------
    ValueError
        Other dimensions, no values, or NaN or infinity; the message says where the first such value is.
    """
    array = np.asarray(values, dtype=np.float32)
    if array.ndim != len(shape) or array.size == 0:
        raise ValueError(f"{of}: expected numbers of shape ({', '.join(shape)}), got shape {array.shape}.")
    wrong = np.argwhere(~np.isfinite(array))
    if len(wrong):
        first = tuple(int(index) for index in wrong[0])
        raise ValueError(
            f"{of}: {len(wrong)} of {array.size} values are NaN or infinite, the first at {first}: {array[first]}. "
            "A chart cannot show them; mask them, or mend the step before."
        )
    return array


def check_labels(count: int, labels: Sequence[str], *, of: str, what: str) -> None:
    """Raise a ValueError unless there is one label for each of `count` things called `what`."""
    if len(labels) != count:
        raise ValueError(f"{of}: {count} {what} but {len(labels)} labels; give one label to each.")


def written(value_format: str) -> str:
    """An expression for `datum.value` in this format. With an explicit sign d3 would write a small loss as −0.00."""
    text = f"format(datum.value, {quoted(value_format)})"
    return f"replace({text}, regexp('^−(?=0[.0]*%?$)'), '+')" if value_format.startswith("+") else text


def check_index(index: int | None, count: int, *, of: str, what: str) -> None:
    """Raise a ValueError unless `index` is None or one of `count` things called `what`, counted from 0."""
    if index is not None and not 0 <= index < count:
        raise ValueError(f"{of}: there is no {what} {index}; they run from 0 to {count - 1}.")


# At most this many marks: a drawing of more marks takes seconds and tens of megabytes; the browser's own menu can still
# save such a chart.
MOST_MARKS = 20_000
_PIXELS_A_POINT = 2.0


def drawable(figure: Figure) -> bool:
    """Return whether ``figure`` is small enough for a picture file."""
    return len(figure.data) <= MOST_MARKS


def svg(figure: Figure) -> str:
    """Draw ``figure`` as SVG, in the light theme."""
    import vl_convert

    return str(vl_convert.vegalite_to_svg(_complete(figure)))


def png(figure: Figure) -> bytes:
    """Draw ``figure`` as PNG, with two pixels for each point."""
    import vl_convert

    return bytes(vl_convert.vegalite_to_png(_complete(figure), scale=_PIXELS_A_POINT))


def _complete(figure: Figure) -> str:
    return json.dumps(figure.complete())
