"""The style sheet of every page: sizes, and what Streamlit's theme does not say."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import streamlit as st

from lab.ui import teaching

# Streamlit tells the theme's colours to components alone; the sheet has them under these names.
_COLOURS = {"paper": "backgroundColor", "ink": "textColor", "primary": "primaryColor"}


@cache
def style() -> str:
    """``look.css`` for :func:`streamlit.html`; on a telephone, rows are in one line, as they are before a class."""
    sheet = Path(__file__).with_name("look.css").read_text("utf-8")
    colours = " ".join(f"--{name}: {_themed(option)};" for name, option in _COLOURS.items())
    return f"<style>:root {{ {colours} }}\n{sheet.replace('/* in one line */', teaching.IN_ONE_LINE)}</style>"


def _themed(option: str) -> str:
    """A colour of the theme, for a light page and for a dark one."""
    return f"light-dark({st.get_option(f'theme.light.{option}')}, {st.get_option(f'theme.dark.{option}')})"
