"""The style sheet of every page: sizes, and what Streamlit's theme does not say."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from lab.ui import teaching


@cache
def style() -> str:
    """``look.css`` for :func:`streamlit.html`; on a telephone, rows are in one line, as they are before a class."""
    sheet = Path(__file__).with_name("look.css").read_text("utf-8")
    return f"<style>{sheet.replace('/* in one line */', teaching.IN_ONE_LINE)}</style>"
