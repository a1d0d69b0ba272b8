"""The parts of a question on the screen, how its subject is named, and the progress of this session."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import streamlit as st

from lab.charts.base.figure import Figure
from lab.course.words import quoted
from lab.questions.progress import LearnerProgress
from lab.questions.question import Question, lettered
from lab.ui import parameters

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


@dataclass(frozen=True)
class OnScreen:
    """Questions at the end of a lesson, and the figures that a class sees beside them, by the question's id.

    ``of`` names the layer and head that the questions about a run are about.
    """

    questions: tuple[Question, ...]
    figures: Mapping[str, Figure] = field(default_factory=dict)
    of: str = ""


_SHOWN = 120  # characters of a text that a caption names


def about(link: Mapping[str, str], of: str = "", says: str = "Asked about") -> str:
    """Name the texts of a check, for its caption; a link without a sentence means the sentence of a new visit."""
    if link.get(parameters.MODE.name) == parameters.TOY:
        asked = f"{says} a toy"
    else:
        texts = [link.get(each.name, each.default) for each in (parameters.TEXT, parameters.PAIR)]
        shown = [text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…" for text in texts if text]
        asked = f"{says} {' and '.join(map(quoted, shown))}"
    return f"{asked}, {of}" if of else asked
