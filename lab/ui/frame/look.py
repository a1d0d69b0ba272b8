"""The style sheet of every page: sizes, and the looks that Streamlit's theme cannot set."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import streamlit as st

from lab.ui import teaching

# Streamlit passes the theme's colours only to components; the style sheet gets the colours under these names.
_COLOURS = {"paper": "backgroundColor", "ink": "textColor", "primary": "primaryColor"}


@cache
def style() -> str:
    """Return ``look.css`` for :func:`streamlit.html`; on a telephone, rows stay in one line, as they do for a class."""
    sheet = Path(__file__).with_name("look.css").read_text("utf-8")
    colours = " ".join(f"--{name}: {_themed(option)};" for name, option in _COLOURS.items())
    return f"<style>:root {{ {colours} }}\n{sheet.replace('/* in one line */', teaching.IN_ONE_LINE)}</style>"


def _themed(option: str) -> str:
    """Return a colour of the theme in CSS, for a light page and for a dark page."""
    return f"light-dark({st.get_option(f'theme.light.{option}')}, {st.get_option(f'theme.dark.{option}')})"
