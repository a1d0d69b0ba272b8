"""Numbers for the learner to fill in."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

_TOLERANCE = 0.01


def blanks(truths: Mapping[str, float], hint: str, key: str) -> bool:
    """Draw a row of number fields (label -> right answer); return True if all values are right to two decimals.

    Each right value gets a tick below its field. If all fields are filled in, the wrong values are named, with
    ``hint``. The values are still there after a visit to another page.
    """
    wrong, empty = [], False
    for i, (field, (label, truth)) in enumerate(zip(st.columns(len(truths)), truths.items(), strict=True)):
        with field:
            given = st.number_input(label, value=None, step=0.01, key=f"{key}.{i}", persist_state="session")
            if given is None:
                empty = True
            elif abs(given - truth) > _TOLERANCE:
                wrong.append(label)
            else:
                st.markdown(":green[:material/check: right]")
    if wrong and not empty:
        st.error(f"{', '.join(wrong)}: not yet. {hint}", icon=":material/close:")
    return not wrong and not empty


def fill(truths: Mapping[str, float], key: str) -> None:
    """Fill in the right values, rounded to two decimals. For a button's callback."""
    for i, truth in enumerate(truths.values()):
        st.session_state[f"{key}.{i}"] = round(truth, 2)
