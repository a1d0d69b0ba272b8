"""Plans for a class of 45 and of 90 minutes: a series of questions, and a page to print with its answer key."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

import streamlit as st

from lab.course.pages import Lesson, lesson_of, number, step_name
from lab.questions.question import Question, lettered
from lab.rooms.series import PreparedQuestion, Series, said_of
from lab.ui.frame.paper import EMBEDDED, HOW_TO_PRINT, ON_PAPER
from lab.ui.parameters import PLAN, STEP
from lab.ui.room.look import style
from lab.ui.room.series import add


@dataclass(frozen=True)
class Planned:
    """A part of a class: how long it takes, and what the teacher does.

    With the ids of a lesson, its step and a question that the step asks, if the class is asked something.
    """

    minutes: int
    does: str
    lesson: str = ""
    step: str = ""
    question: str = ""


_BEGIN = "On the first page, let the class guess the word in the blank, play the picture, and cut one word off."
_TEACH = "On the page Room, let the class teach a model: everybody writes one sentence with one of two labels."
_LOOKS = Planned(8, "Follow the arcs of one head. Whose weights add up to 1?", "self-attention", "map", "looks-back")
_HEADS = Planned(8, "Cut a word off, and read what is left.", "multi-head-attention", "word-brings", "without-capital")
_WORD = Planned(8, "Follow a vector to a word.", "masked-language-model", "from-vector-to-word", "others-fall")
_STEP = Planned(8, "Move one weight, and watch the loss.", "how-it-learns", "one-step", "which-way")
PLANS: Mapping[int, Sequence[Planned]] = {
    45: (Planned(4, _BEGIN), _LOOKS, _HEADS, _WORD, _STEP, Planned(9, _TEACH)),
    90: (
        Planned(6, _BEGIN),
        Planned(8, "Compare the vectors of two words.", "embeddings", "like-words", "cosine-of-one"),
        _LOOKS,
        _HEADS,
        Planned(8, "Swap what two heads bring.", "multi-head-attention", "head-brings", "two-heads-swapped"),
        Planned(8, "Read a map of sentences.", "inter-sentence-attention", "matrix", "longer-gets-more"),
        Planned(8, "See what a layer adds.", "feed-forward", "residual", "scaled-input"),
        _WORD,
        Planned(8, "Exchange one vector.", "masked-language-model", "learns-of-france", "when-it-learns"),
        _STEP,
        Planned(12, _TEACH),
    ),
}
# Gives the written questions of a lesson.
Written = Callable[[Lesson], Iterable[Question]]


def asked(part: Planned, written: Written) -> Question | None:
    """The question of a part; None if the class is asked nothing."""
    if not part.question:
        return None
    return next(each for each in written(lesson_of(part.lesson)) if each.id == part.question)


def series_of(minutes: int, written: Written) -> Series:
    """The questions of a plan as a series; the lab makes them again, with their figures, when the class gets there."""
    items = []
    for part in PLANS[minutes]:
        if (question := asked(part, written)) is not None:
            step = step_name(part.lesson, part.step)
            items.append(PreparedQuestion(part.lesson, step, {STEP.name: step}, said_of(question)))
    return Series(tuple(items))


def show_offers(code: str, written: Written) -> None:
    """Offer each plan: its questions for the series of this room, and a page to print."""
    with st.container(horizontal=True, vertical_alignment="center"):
        for minutes in PLANS:
            label = f"Add the plan for {minutes} minutes"
            st.button(label, key=f"_plan.{minutes}", on_click=_take, args=(code, minutes, written))
            st.link_button("Print it", link(minutes), icon=":material/print:", type="tertiary")


def _take(code: str, minutes: int, written: Written) -> None:
    add(code, series_of(minutes, written).items)


def link(minutes: int) -> str:
    """The link to the page that prints a plan."""
    return "?" + urlencode({PLAN.name: minutes, **EMBEDDED})


def show(minutes: int, written: Written) -> None:
    """Draw a plan with its answer key, to print."""
    st.html(f"<style>.stMainBlockContainer {{ max-width: 50rem; margin: 0 auto; }}{ON_PAPER}</style>")
    style()
    st.title(f"A class of {minutes} minutes", anchor=False)
    with st.container(key="not_on_paper"):
        st.markdown(HOW_TO_PRINT)
    begin = 0
    for part in PLANS[minutes]:
        _show_part(begin, part, asked(part, written))
        begin += part.minutes


def _show_part(begin: int, part: Planned, question: Question | None) -> None:
    with st.container(key=f"printed_round_{begin}"):
        st.header(f"Minute {begin} to {begin + part.minutes}", anchor=False)
        where = ""
        if part.lesson:
            lesson = lesson_of(part.lesson)
            where = f"Lesson {number(lesson)}, {lesson.title}, step **{step_name(part.lesson, part.step)}**: "
        st.markdown(f"{where}{part.does}")
        if question is not None:
            st.markdown(f"Ask: {question.prompt}")
            st.markdown("\n".join(f"- {lettered(question, place)}" for place in range(len(question.options))))
            right = question.answer
            st.markdown(f"Answer: {lettered(question, right)}. {question.options[right].why}")
