"""Predictions before an answer, checks after it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import streamlit as st

from lab.course.checks import Question
from lab.course.progress import Progress

_PROGRESS = "progress"


def progress() -> Progress:
    """This session's progress."""
    stored = st.session_state.get(_PROGRESS)
    return stored if isinstance(stored, Progress) else Progress()


def score(lesson: str) -> tuple[int, int]:
    """(right at first try, answered) in a lesson."""
    return progress().score(lesson)


def _fingerprint(question: Question) -> str:
    text = question.prompt + "".join(option.text for option in question.options)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:12]


def predict(lesson: str, question: Question) -> bool:
    """Ask before the figure is shown; return True once the learner has committed, or skipped.

    After that the figure stays, and the prediction is compared with what the tensors say.
    """
    name = f"_predict.{lesson}.{question.id}"
    committed: dict[str, int | None] = st.session_state.setdefault(name, {})
    asked = _fingerprint(question)
    if committed and asked not in committed:
        return True  # revealed for another sentence: do not hide the figure again
    with st.container(border=True):
        if asked in committed:
            _compare(question, committed[asked])
            return True
        st.markdown(f":material/psychology_alt: **Predict.** {question.prompt}")
        choice = st.radio(
            question.prompt, range(len(question.options)), index=None, label_visibility="collapsed",
            format_func=lambda i: question.options[i].text, key=f"{name}.choice",
        )  # fmt: skip
        with st.container(horizontal=True):
            st.button(
                "Commit and show", key=f"{name}.commit", disabled=choice is None, on_click=_reveal,
                args=(name, asked, choice),
            )  # fmt: skip
            st.button("Skip", key=f"{name}.skip", type="tertiary", on_click=_reveal, args=(name, asked, None))
    return False


def _reveal(name: str, asked: str, choice: int | None) -> None:
    st.session_state[name][asked] = choice


def _compare(question: Question, choice: int | None) -> None:
    truth = question.options[question.answer]
    if choice is None:
        st.markdown(f":material/psychology_alt: {question.prompt} **{truth.text}.** {truth.why}")
        return
    chosen = question.options[choice]
    verdict = "as you predicted" if chosen.correct else f"you predicted {chosen.text}"
    st.markdown(f":material/psychology_alt: {question.prompt} **{truth.text}**, {verdict}. {truth.why}")


def checks(lesson: str, questions: Sequence[Question | None], most: int = 3) -> None:
    """Ask the first ``most`` questions that this trace decides clearly; the first try counts."""
    asked = [question for question in questions if question is not None][:most]
    st.subheader("Check yourself")
    if not asked:
        st.markdown("This sentence decides none of the questions clearly. Try a longer one.")
        return
    for index, question in enumerate(asked, start=1):
        _check(lesson, question, index)


def _check(lesson: str, question: Question, index: int) -> None:
    name = f"_check.{lesson}.{question.id}.{_fingerprint(question)}"
    with st.container(border=True):
        st.markdown(f"**{index}.** {question.prompt}")
        choice = st.radio(
            question.prompt, range(len(question.options)), index=None, label_visibility="collapsed",
            format_func=lambda i: question.options[i].text, key=name,
        )  # fmt: skip
        if choice is None:
            return
        correct = question.options[choice].correct
        st.session_state[_PROGRESS] = progress().answered(lesson, question.id, correct)
        if correct:
            st.success(question.options[choice].why, icon=":material/check:")
        else:
            st.error(question.options[choice].why, icon=":material/close:")
        with st.expander("Why each option is right or wrong"):
            st.markdown("\n".join(f"- **{option.text}**: {option.why}" for option in question.options))
