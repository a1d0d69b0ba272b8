"""The choice whether special tokens, or the first token of a model without them, take part in what is measured."""

from __future__ import annotations

import streamlit as st

from lab.ui.parameters import KEPT, LEFT_OUT


def sinks_left_out() -> bool:
    """As chosen, or as the link asks before the widget was ever drawn."""
    return st.session_state.get("sinks", st.query_params.get("sinks")) != KEPT


def choose_sinks(otherwise: str | None = None) -> None:
    """The switch. ``otherwise`` says why it does nothing here, where it does nothing."""
    st.segmented_control(
        "Special tokens or first token", [LEFT_OUT, KEPT], default=LEFT_OUT, required=True, key="sinks",
        bind="query-params", persist_state="session",
        help="Left out: rows and columns of [CLS] and [SEP], or of the first token of a model without them, are "
        "removed, and each row is divided by what is left of it.",
    )  # fmt: skip
    if otherwise is not None:
        st.caption(otherwise)
