"""The look of a room's parts: the teacher's bar, the bars of a result, the wall, the phone."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import streamlit as st


def style(name: str = "look") -> None:
    """Draw the style sheet ``name`` of rooms."""
    st.html(f"<style>{_read(name)}</style>")


@cache
def _read(name: str) -> str:
    return Path(__file__).with_name(f"{name}.css").read_text("utf-8")
