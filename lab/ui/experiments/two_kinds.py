"""The cases behind a number: cases of two kinds side by side, and more of them at the click of a button."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import streamlit as st

Case = TypeVar("Case")
AT_ONCE = 3  # cases of each kind


def two_kinds(
    kinds: Mapping[str, Sequence[Case]], draw: Callable[[Case, str], None], others: str, none: str = "There are none."
) -> list[Case]:
    """Draw :data:`AT_ONCE` cases of each kind under the kind's title, in their order; returns the cases drawn.

    ``draw`` gets a case, and a prefix that makes the keys of the case's widgets unique. A button, labelled ``others``,
    turns to the next cases if a kind has more cases; ``none`` is shown under the title of a kind without cases.
    """
    name, shown = f"_experiment_turns.{others}", []
    first = st.session_state.get(name, 0) * AT_ONCE
    for column, (title, cases) in zip(st.columns(len(kinds)), kinds.items(), strict=True):
        here = [cases[(first + at) % len(cases)] for at in range(min(AT_ONCE, len(cases)))]
        with column:
            st.subheader(title)
            if not here:
                st.markdown(none)
            for at, case in enumerate(here):
                draw(case, f"{title}.{at}")
        shown += here
    if any(len(cases) > AT_ONCE for cases in kinds.values()):
        st.button(others, icon=":material/refresh:", key="_experiment_others", on_click=_turn, args=(name,))
    return shown


def _turn(name: str) -> None:
    st.session_state[name] = st.session_state.get(name, 0) + 1
