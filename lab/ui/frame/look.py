"""The style sheets: of every page, what Streamlit's theme cannot set; and of a page on paper, without its menus."""

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


# Charts and explanations are not split between pages.
SHEET = """
  .stAppHeader, .stSidebar, .stPopover, .stButton, .stDownloadButton, .st-key-not_on_paper { display: none !important; }
  html, body, #root, #root div:has(.stMain), .stApp, .stAppViewContainer, .stMain {
    position: static !important; display: block !important; height: auto !important; min-height: 0 !important;
    overflow: visible !important; }
  .stMainBlockContainer { padding: 0; max-width: none; }
  [class*="st-key-printed_round"], .stAlert, .stVegaLiteChart, .tokens, li { break-inside: avoid; }
  h1, h2, h3 { break-after: avoid; }
"""
ON_PAPER = f"@media print {{ @page {{ margin: 15mm; }} {SHEET} }}"
# The parameters of Streamlit with which a page has no menus and a light background.
EMBEDDED = {"embed": "true", "embed_options": "light_theme"}
HOW_TO_PRINT = "Print this page or save it as PDF with the browser’s **Print** (Ctrl+P, on a Mac Cmd+P)."
