"""Predictions before an answer, checks after it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import streamlit as st

from lab.course.checks import Question, reordered, selected
from lab.course.progress import Progress, answer_to
from lab.ui import selection

_PROGRESS = "progress"


def progress() -> Progress:
    """This session's progress."""
    stored = st.session_state.get(_PROGRESS)
    return stored if isinstance(stored, Progress) else Progress()


def remember(now: Progress) -> None:
    """Make ``now`` this session's progress."""
    st.session_state[_PROGRESS] = now


def _fingerprint(question: Question) -> str:
    text = question.prompt + "".join(option.text for option in question.options)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:12]


def predict(lesson: str, question: Question) -> bool:
    """Ask before the figure is shown; return True once the learner has committed, or skipped.

    After that the figure stays, and the prediction is compared with what the tensors say. While a class is
    taught, the class answers aloud and a button reveals.
    """
    chosen = selection.current()
    question = reordered(question, chosen.seed)
    name = f"_predict.{'teach.' if chosen.teach else ''}{lesson}.{question.id}"
    committed: dict[str, int | None] = st.session_state.setdefault(name, {})
    asked = _fingerprint(question)
    if committed and asked not in committed:
        return True  # revealed for another sentence: do not hide the figure again
    with st.container(border=True):
        if asked in committed:
            _compare(question, committed[asked])
            return True
        st.markdown(f":material/psychology_alt: **Predict.** {question.prompt}")
        if chosen.teach:
            _options(question)
            st.button("Reveal", key=f"{name}.reveal", on_click=_reveal, args=(name, asked, None))
            return False
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


def _options(question: Question) -> None:
    st.markdown("\n".join(f"- {option.text}" for option in question.options))


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
    """Ask ``most`` of the questions that this trace decides clearly; the first try counts.

    While a class is taught, nothing counts, and the answers stay hidden until a button reveals them.
    """
    chosen = selection.current()
    asked = selected(questions, most, chosen.seed)
    st.header("Check yourself")
    if not asked:
        st.markdown("This sentence decides none of the questions clearly. Try a longer one.")
        return
    for index, question in enumerate(asked, start=1):
        with st.container(border=True):
            st.markdown(f"**{index}.** {question.prompt}")
            if chosen.teach:
                _show(lesson, question)
            else:
                _check(lesson, question)


def _show(lesson: str, question: Question) -> None:
    """A check for a class: its options, and behind a button which one is right."""
    name = f"_show.{lesson}.{question.id}.{_fingerprint(question)}"
    if not st.session_state.get(name):
        _options(question)
        st.button("Reveal", key=f"{name}.reveal", on_click=_uncover, args=(name,))
        return
    truth = question.options[question.answer]
    st.success(f"**{truth.text}** {truth.why}", icon=":material/check:")
    _why_each(question)


def _uncover(name: str) -> None:
    st.session_state[name] = True


def _check(lesson: str, question: Question) -> None:
    name = f"_check.{lesson}.{question.id}.{_fingerprint(question)}"
    remember(progress().asked(lesson, question.id))
    choice = st.radio(
        question.prompt, range(len(question.options)), index=None, label_visibility="collapsed",
        format_func=lambda i: question.options[i].text, key=name,
        on_change=_answer, args=(name, lesson, question, selection.link()),
    )  # fmt: skip
    if choice is None:
        return
    if question.options[choice].correct:
        st.success(question.options[choice].why, icon=":material/check:")
    else:
        st.error(question.options[choice].why, icon=":material/close:")
    with st.expander("Why each option is right or wrong"):
        _why_each(question)


def _answer(name: str, lesson: str, question: Question, link: dict[str, str]) -> None:
    """Before the page is drawn again, so that its header knows."""
    choice = st.session_state.get(name)
    if isinstance(choice, int):
        remember(progress().answered(lesson, question.id, answer_to(question, choice, link)))


def _why_each(question: Question) -> None:
    st.markdown("\n".join(f"- **{option.text}**: {option.why}" for option in question.options))
