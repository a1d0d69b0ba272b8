"""A step that needs another sentence than the learner's says whose the sentence is, and gives the learner's back."""

from __future__ import annotations

import streamlit as st


def borrows(step: str, why: str) -> bool:
    """Say that a step shows a sentence of the lab, and ``why``; return whether it does.

    A button brings the learner's own sentence into the step, and the lab's sentence back. ``step`` names the choice.
    """
    key = f"_own_sentence.{step}"
    own = bool(st.session_state.get(key))
    told = "You see your own sentence." if own else f"This step shows another sentence, from the lab: {why}"
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(told, width="content")
        label = "Use the lab’s sentence" if own else "Use my sentence"
        st.button(label, key=f"{key}.turn", type="tertiary", icon=":material/swap_horiz:", on_click=_turn, args=(key,))
    return not own


def _turn(key: str) -> None:
    st.session_state[key] = not st.session_state.get(key)
