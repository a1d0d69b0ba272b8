"""Numbers for the learner to fill in."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

_TOLERANCE = 0.01


def blanks(truths: Mapping[str, float], hint: str, key: str) -> bool:
    """Draw a row of number fields (label -> right answer); return True if all values are right to two decimals.

    The values are still there after a visit to another page. Wrong values are named, with ``hint``.
    """
    given = [
        field.number_input(label, value=None, step=0.01, key=f"{key}.{i}", persist_state="session")
        for i, (field, label) in enumerate(zip(st.columns(len(truths)), truths, strict=True))
    ]
    if any(value is None for value in given):
        return False
    wrong = [
        label
        for value, (label, truth) in zip(given, truths.items(), strict=True)
        if value is None or abs(value - truth) > _TOLERANCE
    ]
    if wrong:
        st.error(f"{', '.join(wrong)}: not yet. {hint}", icon=":material/close:")
    return not wrong
