"""Write a figure as one HTML file; a drawing is a live component, a chart or a still picture.

The file holds data and the lab's own scripts. Its policy names these scripts by their hashes and allows nothing else:
no other script, no network. A learner's text is in it as text (escaped), in JSON without "<", or in a block of base64.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
import pandas as pd

from lab.charts.base.axes import visible
from lab.charts.base.chart_table import ROWS
from lab.charts.components import javascript, style
from lab.charts.kept import vega
from lab.course.words import number_of


@dataclass(frozen=True)
class Live:
    """A hand-written component.

    Attributes
    ----------
    name
        The component's file in :mod:`lab.charts.components`.
    payloads
        Its data, one block for each of its states; it begins with the first.
    moves
        For a state, the states to which a click leads, by what the component reports, as JSON without its first part.
    titled
        Whether the component writes the figure's name itself.
    """

    name: str
    payloads: Sequence[bytes] = field(repr=False)
    moves: Mapping[int, Mapping[str, int]] = field(default_factory=dict)
    titled: bool = False


@dataclass(frozen=True)
class Chart:
    """A Vega-Lite chart: its specification with the numbers, and its most pixels across."""

    spec: Mapping[str, Any]
    width: int | Literal["stretch"]


@dataclass(frozen=True)
class StillPicture:
    """A picture, as SVG."""

    svg: str


Drawing = Live | Chart | StillPicture


_HERE = Path(__file__).parent
# Bytes that a file may have without a word: a longer text makes a larger file, and the page says so before.
EXPECTED = {Live: 400_000, Chart: 1_200_000, StillPicture: 400_000}
_MARK = re.compile(r"\{\{ (\w+) \}\}")
_QUOTED = re.compile("\u2068([^\u2069]*)\u2069")  # a token, as lab/course/words.py quotes it
_CELL = 24  # about the bytes of a table's cell


@dataclass(frozen=True)
class About:
    """The texts that a file has around its figure.

    Attributes
    ----------
    heading
        The heading; "" for the figure's own name.
    caption
        A sentence on how to read the figure; "" for its description, unless the figure describes itself as it changes.
    meaning
        What the figure's numbers mean, in plain text.
    stamp
        Where the figure comes from: pairs of a name and what it is.
    link
        The address of the same view in the lab; "" for none.
    only_here
        Whether this address leads nowhere on another computer.
    """

    heading: str = ""
    caption: str = ""
    meaning: Sequence[str] = ()
    stamp: Sequence[tuple[str, str]] = ()
    link: str = ""
    only_here: bool = False


class Shown(Protocol):
    """A figure as a file needs it: a name, the figure in a sentence, its numbers, its drawing."""

    @property
    def heading(self) -> str: ...
    @property
    def alt(self) -> str: ...
    @property
    def table(self) -> Callable[[], pd.DataFrame]: ...
    def drawing(self) -> Drawing: ...


def written(figure: Shown, about: About, drawing: Drawing | None = None, table: pd.DataFrame | None = None) -> bytes:
    """Return the file of a figure, in UTF-8.

    ``drawing`` and ``table`` take the place of the figure's own.
    """
    drawn = figure.drawing() if drawing is None else drawing
    frame = figure.table() if table is None else table
    scripts = _scripts(drawn)
    data = "" if isinstance(drawn, StillPicture) else _json(_data(drawn, about.link))
    named = visible(figure.heading, None)
    body = (_HERE / "page.html").read_text("utf-8")
    parts = {
        "policy": _policy(scripts),
        "style": _own("page.css"),
        "title": escape(f"{named} — Inside BERT"),
        "heading": escape(about.heading or named),
        "name": escape(named),
        "unseen": "unseen" if _is_named(drawn) or not about.heading else "",
        "caption": _caption(about.caption or ("" if isinstance(drawn, Live) else _description(figure))),
        "drawing": drawn.svg if isinstance(drawn, StillPicture) else "",
        "meaning": _meaning(about.meaning),
        "table": _table(frame, named),
        "stamp": _stamp(about.stamp),
        "link": _link(about),
        "data": data,
        "scripts": "\n".join(f'<script type="module">{script}</script>' for script in scripts),
    }
    # All at once: a learner's text may hold such a mark, too.
    return _MARK.sub(lambda mark: parts[mark[1]], body).encode("utf-8", "replace")


def expected(drawing: Drawing, table: pd.DataFrame) -> int:
    """Return about how many bytes the file of a figure will have, without making it."""
    cells = _CELL * (table.shape[0] * (table.shape[1] + 1))
    if isinstance(drawing, Live):
        return cells + len(_live(drawing.name)) + len(_css(drawing.name)) + sum(map(len, drawing.payloads)) * 4 // 3
    if isinstance(drawing, Chart):
        return cells + 910_000 + _CELL * len(drawing.spec["data"]["values"])
    return cells + len(drawing.svg)


def _caption(text: str) -> str:
    return f'<p class="caption">{escape(text)}</p>' if text else ""


def _is_named(drawing: Drawing) -> bool:
    """Return whether the drawing has the figure's name in it."""
    return isinstance(drawing, Chart) or (isinstance(drawing, Live) and drawing.titled)


def _description(figure: Shown) -> str:
    """The figure in a sentence, without the name that is its heading already."""
    told = figure.alt.removeprefix(figure.heading).lstrip(".: ")
    return told[:1].upper() + told[1:]


def _policy(scripts: Sequence[str]) -> str:
    """The policy of the file: only these scripts run, and nothing is fetched."""
    hashes = " ".join(f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" for script in scripts)
    return (
        f"default-src 'none'; script-src {hashes or chr(39) + 'none' + chr(39)}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def _scripts(drawing: Drawing) -> list[str]:
    match drawing:
        case Live():
            return [_live(drawing.name)]
        case Chart():
            return [vega.script(), _own("chart.js")]
        case _:
            return []


@cache
def _own(name: str) -> str:
    return (_HERE / name).read_text("utf-8")


@cache
def _live(name: str) -> str:
    """The component's module with its function under a name, and the code that puts it on the page."""
    before, mark, after = javascript(name).partition("export default ")
    if not mark or "export default " in after:
        raise ValueError(f"{name}.js must have one default export.")
    return f"{before}const component = {after}\n{_own('host.js')}"


@cache
def _css(name: str) -> str:
    return style(name)


def _data(drawing: Live | Chart, link: str) -> dict[str, Any]:
    if isinstance(drawing, Chart):
        return {"spec": drawing.spec, "width": drawing.width}
    payloads = [b64encode(each).decode() for each in drawing.payloads]
    return {
        "name": drawing.name,
        "css": _css(drawing.name),
        "payloads": payloads,
        "moves": {str(state): dict(moves) for state, moves in drawing.moves.items()},
        "linked": bool(link),
    }


def _json(data: dict[str, Any]) -> str:
    """JSON that cannot end its script element; letters beyond ASCII are written as numbers."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return f'<script type="application/json" id="kept">{text.replace("<", chr(92) + "u003c")}</script>'


def _meaning(said: Sequence[str]) -> str:
    if not said:
        return ""
    texts = (_QUOTED.sub(r'<bdi translate="no">\1</bdi>', escape(each)) for each in said)
    return "<section><h2>What this means</h2>" + "".join(f"<p>{each}</p>" for each in texts) + "</section>"


def _stamp(lines: Sequence[tuple[str, str]]) -> str:
    """The lines of the stamp; a long hash may break."""
    return "".join(
        f"<div><dt>{escape(name)}</dt><dd><bdi>{escape(visible(value, None))}</bdi></dd></div>" for name, value in lines
    )


def _link(about: About) -> str:
    if not about.link.startswith(("http://", "https://")):
        return ""
    where = ", on the computer on which it was kept" if about.only_here else ""
    return f'<p><a id="back" href="{escape(about.link)}">Open this view in the lab</a>{where}</p>'


def _table(frame: pd.DataFrame, named: str) -> str:
    """The numbers as a table whose first column names the rows, if they have names."""
    rows_named = not isinstance(frame.index, pd.RangeIndex)
    heads = [*([""] if rows_named else []), *map(str, frame.columns)]
    columns = [_cells(frame.iloc[:, place]) for place in range(frame.shape[1])]
    index = [f'<th scope="row">{_text(name)}</th>' for name in frame.index] if rows_named else [""] * len(frame)
    lines = [
        f"<tr>{name}{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
        for name, *cells in zip(index, *columns, strict=True)
    ]
    top = "".join(f'<th scope="col">{_text(head) if head else "<span>row</span>"}</th>' for head in heads)
    return (
        f"<table><caption>{escape(named)}: {_rows(frame)}</caption><thead><tr>{top}</tr></thead>"
        f"<tbody>{''.join(lines)}</tbody></table>"
    )


def _rows(frame: pd.DataFrame) -> str:
    """Count the rows, and say if they are only the first ones."""
    every = frame.attrs.get(ROWS, len(frame))
    return number_of(every, "row") if every == len(frame) else f"the first {len(frame)} of {every:,} rows"


def _cells(column: pd.Series) -> list[str]:
    """Numbers as short as they are exact, so that a reader of the file gets what Python has; empty for none."""
    if not pd.api.types.is_numeric_dtype(column):
        return [_text(each) for each in column]
    return [shortest(each) for each in column.to_numpy()]


def shortest(number: Any) -> str:
    """Return the shortest decimal number that is read as this one in its own precision; "" for none."""
    if isinstance(number, np.floating | float):
        return "" if np.isnan(number) else str(number)
    return str(number)


def _text(value: object) -> str:
    if isinstance(value, np.floating | float):
        return shortest(value)
    return f"<bdi>{escape(visible(str(value), None))}</bdi>" if str(value) else ""
