"""The choice whether special tokens, or the first token of a model without them, take part in what is measured."""

from __future__ import annotations

import streamlit as st

from lab.ui.parameters import KEPT, SINKS


def sinks_left_out() -> bool:
    """As chosen."""
    return SINKS.chosen() != KEPT


def choose_sinks(otherwise: str | None = None) -> None:
    """The switch. ``otherwise`` says why it does nothing here, where it does nothing."""
    SINKS.choose(
        "Special tokens or first token",
        help="Left out: rows and columns of [CLS] and [SEP], or of the first token of a model without them, are "
        "removed, and each row is divided by what is left of it.",
    )
    if otherwise is not None:
        st.caption(otherwise)
