"""The parts of a question on the screen, and the progress of this session."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from lab.questions.progress import LearnerProgress
from lab.questions.question import Question, lettered

_PROGRESS = "progress"
# The button that takes an answer before its figure or its result is shown.
COMMIT = "Commit and show"


def progress() -> LearnerProgress:
    """This session's progress."""
    stored = st.session_state.get(_PROGRESS)
    return stored if isinstance(stored, LearnerProgress) else LearnerProgress()


def remember(now: LearnerProgress) -> None:
    """Make ``now`` this session's progress."""
    st.session_state[_PROGRESS] = now


def choose(question: Question, **given: Any) -> int | None:
    """Draw the options with their letters, as a choice; ``given`` are arguments of ``st.radio``."""
    places = range(len(question.options))
    named = partial(lettered, question)
    return st.radio(question.prompt, places, index=None, label_visibility="collapsed", format_func=named, **given)


def list_options(question: Question) -> None:
    """List the options for a class, one per line, so that the class can vote by letter."""
    st.markdown("  \n".join(lettered(question, i) for i in range(len(question.options))))


def explain_each(question: Question) -> None:
    """Explain why each option is right or wrong."""
    st.markdown("\n".join(f"- {lettered(question, i)}: {each.why}" for i, each in enumerate(question.options)))
