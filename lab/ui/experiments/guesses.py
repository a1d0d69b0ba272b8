"""The prediction before an experiment's result, and its score compared with blind guessing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from lab.questions.guesses import GuessScore, score
from lab.questions.progress import LONGEST_NAME
from lab.questions.question import Question, Right
from lab.ui import parameters
from lab.ui.quiz.question import progress, remember

Choices = dict[str, int]


def is_predicted(name: str) -> bool:
    """Return whether the result may be seen: the prediction was made, or a class was shown the result."""
    return _step(name) in progress().predictions or _key(name) in st.session_state


def predicted(name: str, asks: Sequence[Question]) -> bool:
    """Ask for the prediction, once for each ``name`` (experiment and model). Returns whether the result may be seen.

    A class answers aloud, and a button reveals the result.
    """
    if is_predicted(name):
        return True
    teach = bool(parameters.TEACH.chosen())
    with st.container(border=True):
        st.markdown(":material/psychology_alt: **Predict.** What do you expect?")
        chosen: Choices = {}
        for ask in asks:
            if teach:
                st.markdown(f"{ask.prompt} *{' · '.join(_texts(ask))}*")
            elif (choice := _choose(name, ask)) is not None:
                chosen[ask.id] = choice
        with st.container(horizontal=True):
            if teach:
                st.button("Reveal", key=f"{_key(name)}.reveal", on_click=_reveal, args=(name,))
                return False
            off, commit = len(chosen) < len(asks), (name, asks, chosen)
            st.button(
                "Commit and show",
                key=f"{_key(name)}.commit",
                type="primary",
                disabled=off,
                on_click=_commit,
                args=commit,
            )
            st.button("Show me", key=f"{_key(name)}.skip", type="tertiary", on_click=_commit, args=(name, asks, {}))
    return False


def show_score(name: str, asks: Sequence[Question], answers: Mapping[str, Right]) -> None:
    """Draw each question with its answer, and the score of the prediction; folded if no prediction was made."""
    kept = progress().predictions.get(_step(name), {})
    chosen = {ask.id: option for ask in asks if (option := kept.get(ask.key)) is not None}
    place = st.container(border=True) if chosen else st.expander("What was asked", icon=":material/psychology_alt:")
    with place:
        found = score(asks, chosen, answers)
        if found.count:
            st.markdown(f":material/psychology_alt: {_scored(found)}")
        st.markdown("\n".join(_line(ask, chosen.get(ask.id), answers.get(ask.id)) for ask in asks))
        st.button(
            "Ask me again",
            key=f"{_key(name)}.again",
            type="tertiary",
            icon=":material/undo:",
            on_click=_forget,
            args=(name,),
        )


def _scored(found: GuessScore) -> str:
    """Say how many predictions were right, and how many blind guesses would be right.

    If none was, say that surprise is welcome.
    """
    said = (
        f"You predicted **{found.right} of {found.count}** right; guessing gets {found.expected:.1f} right on average."
    )
    return said if found.right else f"{said} Surprised? That is why we measure."


def _choose(name: str, ask: Question) -> int | None:
    places = range(len(ask.options))
    key = f"{_key(name)}.{ask.id}"
    return st.radio(ask.prompt, places, index=None, format_func=_texts(ask).__getitem__, horizontal=True, key=key)


def _line(ask: Question, choice: int | None, answer: Right | None) -> str:
    """Return a line with a question's answer (and the question, if nobody chose), or that the result leaves it open."""
    yours = "" if choice is None else f" You said: {ask.options[choice].text}."
    if answer is None:
        return f"- {ask.prompt} **Not decided**: the result fits more than one answer, so it does not count.{yours}"
    known = ask.answered(*answer)
    right = known.options[known.answer]
    if choice is None:
        return f"- {known.prompt} **{right.text}**: {right.why}"
    if choice == known.answer:
        return f"- :material/check: **{right.text}**: {right.why}"
    return f"- :material/close: **{right.text}**: {right.why}{yours}"


def _key(name: str) -> str:
    return f"_guessed.{name}"


def _step(name: str) -> str:
    """Return the name under which the learner's progress keeps the prediction of an experiment."""
    return f"experiment/{name}"[:LONGEST_NAME]


def _texts(ask: Question) -> list[str]:
    return [option.text for option in ask.options]


def _commit(name: str, asks: Sequence[Question], chosen: Choices) -> None:
    now = progress().saw(_step(name))
    for ask in asks:
        if ask.id in chosen:
            now = now.predicted(_step(name), ask.key, chosen[ask.id])
    remember(now)


def _reveal(name: str) -> None:
    st.session_state[_key(name)] = True


def _forget(name: str) -> None:
    st.session_state.pop(_key(name), None)
    remember(progress().forgot(_step(name)))
