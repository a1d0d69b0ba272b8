"""Plans for a class of 45 and of 90 minutes: each is a series of questions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from lab.course.pages import Lesson, lesson_of, step_name
from lab.questions.question import Question
from lab.rooms.series import PreparedQuestion, Series, said_of
from lab.ui.parameters import STEP
from lab.ui.room.teacher_steps import add

# Gives the written questions of a lesson.
Written = Callable[[Lesson], Iterable[Question]]


@dataclass(frozen=True)
class Planned:
    """A question of a plan, by the ids of its lesson, of the step that asks it, and its own."""

    lesson: str
    step: str
    question: str


_LOOKS = Planned("self-attention", "map", "looks-back")
_HEADS = Planned("multi-head-attention", "word-brings", "without-capital")
_WORD = Planned("masked-language-model", "from-vector-to-word", "others-fall")
_STEP = Planned("how-it-learns", "one-step", "which-way")
PLANS: Mapping[int, Sequence[Planned]] = {
    45: (_LOOKS, _HEADS, _WORD, _STEP),
    90: (
        Planned("embeddings", "like-words", "cosine-of-one"),
        _LOOKS,
        _HEADS,
        Planned("multi-head-attention", "head-brings", "two-heads-swapped"),
        Planned("inter-sentence-attention", "matrix", "longer-gets-more"),
        Planned("feed-forward", "residual", "scaled-input"),
        _WORD,
        Planned("masked-language-model", "learns-of-france", "when-it-learns"),
        _STEP,
    ),
}
_HOW = (
    "A plan has 8 minutes for each question. The rest of the time is for the first page, on which you begin (let the "
    "class guess the word in the blank, play the picture, and cut one word off), and for the end: the class teaches a "
    "model."
)


def series_of(minutes: int, written: Written) -> Series:
    """The questions of a plan as a series; the lab makes them again, with their figures, when the class gets there."""
    items = []
    for part in PLANS[minutes]:
        question = next(each for each in written(lesson_of(part.lesson)) if each.id == part.question)
        step = step_name(part.lesson, part.step)
        items.append(PreparedQuestion(part.lesson, step, {STEP.name: step}, said_of(question)))
    return Series(tuple(items))


def show_offers(code: str, written: Written) -> None:
    """Offer the questions of each plan for the series of this room."""
    with st.container(horizontal=True, vertical_alignment="center"):
        for minutes in PLANS:
            label = f"Add the plan for {minutes} minutes"
            st.button(label, key=f"_plan.{minutes}", on_click=_take, args=(code, minutes, written))
    st.caption(_HOW)


def _take(code: str, minutes: int, written: Written) -> None:
    add(code, series_of(minutes, written).items)
