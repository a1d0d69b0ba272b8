"""A figure as the picture of a room's question: drawn once, for the wall and for every phone."""

from __future__ import annotations

import textwrap
from base64 import b64encode
from dataclasses import replace
from html import escape
from typing import Any

import streamlit as st

from lab.charts.base.figure import Figure, drawable, png, svg
from lab.models.cores import one_core
from lab.questions.question import MOST_OF_PICTURE, QuestionPicture
from lab.ui.teaching import with_larger_type

# The width of a picture, and the factor of its type: half as wide as a wall of 1024 pixels, it has words of a thirtieth
# of the wall's height, which can be read from the last row.
_WIDTH, _LARGER = 440, 1.9
_TITLE = 28  # characters of a line of the title


def picture(figure: Figure | None) -> QuestionPicture | None:
    """Return ``figure`` as a picture; None if it is too large for a phone, or if there is none."""
    if figure is None or not drawable(figure):
        return None
    narrow = replace(figure, spec=_larger(figure.spec), width=_WIDTH)
    with one_core():
        source = _address("svg+xml", svg(narrow).encode())
        if len(source) > MOST_OF_PICTURE // 2:
            source = _address("png", png(narrow))
    return QuestionPicture(source, figure.alt) if len(source) <= MOST_OF_PICTURE else None


def _larger(spec: dict[str, Any]) -> dict[str, Any]:
    """Return a specification with larger type, also where it leaves the size to Vega (12 pixels or so)."""
    size = 12 * _LARGER
    # The boxes of two words may meet a little, where the words do not: otherwise every second word would go.
    larger: dict[str, Any] = _with(with_larger_type(spec, _LARGER), "labelSeparation", -size / 4)
    own = {"title": {"fontSize": size}, "axis": {"titleFontSize": size, "labelFontSize": size}}
    own["legend"] = {"titleFontSize": size, "labelFontSize": size}
    title = {**larger["title"], "text": in_lines(_title(spec))} if "title" in larger else {}
    return {**larger, "title": title, "config": {**own, **larger.get("config", {})}}


def _with(part: Any, name: str, value: float) -> Any:
    """Return a part of a specification in which every property of this name has this value."""
    if isinstance(part, list):
        return [_with(each, name, value) for each in part]
    if not isinstance(part, dict):
        return part
    return {key: value if key == name else _with(each, name, value) for key, each in part.items()}


def in_lines(title: str) -> list[str]:
    """Break a title into lines of about equal length, so that no word is left alone.

    >>> in_lines("From he: every head of layer 5")
    ['From he: every', 'head of layer 5']
    """
    lines = len(textwrap.wrap(title, _TITLE))
    widths = range(max(1, len(title) // max(1, lines)), len(title) + 1)
    return next((found for width in widths if len(found := textwrap.wrap(title, width)) == lines), [title])


def _title(spec: dict[str, Any]) -> str:
    """The title of a figure, which has it in two forms (lab.charts.base.figure.base)."""
    lines: list[str] = next((each["value"] for each in spec.get("params", ()) if each["name"] == "title_lines"), [])
    return " ".join(lines)


def show_picture(shown: QuestionPicture | None) -> None:
    """Draw a picture on white, as its colours are made for; draw nothing without one."""
    if shown is not None:
        st.html(f'<img class="room-picture" src="{shown.source}" alt="{escape(shown.alt, quote=True)}">')


def _address(kind: str, image: bytes) -> str:
    return f"data:image/{kind};base64,{b64encode(image).decode()}"
