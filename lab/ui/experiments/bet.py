"""The prediction before an experiment's result, and what the result says of it."""

from __future__ import annotations

import streamlit as st

from lab.questions.bets import Bet
from lab.questions.progress import LONGEST_NAME
from lab.questions.question import Right
from lab.ui import parameters
from lab.ui.quiz.question_on_screen import COMMIT, progress, remember


def is_predicted(name: str) -> bool:
    """Return whether the result may be seen: the prediction was made, or a class was shown the result."""
    return _step(name) in progress().predictions or _key(name) in st.session_state


def predicted(name: str, bet: Bet) -> bool:
    """Ask for the prediction, once for each ``name`` (experiment and model). Returns whether the result may be seen.

    A class answers aloud, and a button reveals the result.
    """
    if is_predicted(name):
        return True
    teach = bool(parameters.TEACH.chosen())
    with st.container(border=True):
        st.markdown(f":material/psychology_alt: **Predict.** {bet.prompt}")
        if teach:
            st.markdown("\n".join(f"- **{belief.text}.** {belief.reason}" for belief in bet.beliefs))
            st.button("Reveal", key=f"{_key(name)}.reveal", on_click=_reveal, args=(name,))
            return False
        choice = st.radio(
            bet.prompt,
            range(len(bet.beliefs)),
            index=None,
            format_func=[belief.text for belief in bet.beliefs].__getitem__,
            captions=[belief.reason for belief in bet.beliefs],
            label_visibility="collapsed",
            key=f"{_key(name)}.{bet.id}",
        )
        with st.container(horizontal=True):
            st.button(
                COMMIT,
                key=f"{_key(name)}.commit",
                type="primary",
                disabled=choice is None,
                on_click=_commit,
                args=(name, bet, choice),
            )
            st.button("Show me", key=f"{_key(name)}.skip", type="tertiary", on_click=_commit, args=(name, bet, None))
    return False


def show_answer(name: str, bet: Bet, decided: Right | None) -> None:
    """Draw what the result says of the prediction; folded, with the question, if no prediction was made."""
    choice = progress().predictions.get(_step(name), {}).get(bet.question.key)
    place = (
        st.expander("What was asked", icon=":material/psychology_alt:") if choice is None else st.container(border=True)
    )
    with place:
        if choice is None:
            st.markdown(bet.prompt)
        st.markdown(_answer(bet, decided, choice))
        st.button(
            "Ask me again",
            key=f"{_key(name)}.again",
            type="tertiary",
            icon=":material/undo:",
            on_click=_forget,
            args=(name,),
        )


def _answer(bet: Bet, decided: Right | None, choice: int | None) -> str:
    if decided is None:
        yours = "" if choice is None else f" You expected: {bet.beliefs[choice].text}."
        return f"**Not decided.** The result fits more than one answer.{yours}"
    if choice is None:
        return bet.told(decided)
    return f":material/{'check' if choice == decided[0] else 'close'}: {bet.told(decided, choice)}"


def _key(name: str) -> str:
    return f"_predicted.{name}"


def _step(name: str) -> str:
    """Return the name under which the learner's progress keeps the prediction of an experiment."""
    return f"experiment/{name}"[:LONGEST_NAME]


def _commit(name: str, bet: Bet, choice: int | None) -> None:
    now = progress().saw(_step(name))
    remember(now if choice is None else now.predicted(_step(name), bet.question.key, choice))


def _reveal(name: str) -> None:
    st.session_state[_key(name)] = True


def _forget(name: str) -> None:
    st.session_state.pop(_key(name), None)
    remember(progress().forgot(_step(name)))
