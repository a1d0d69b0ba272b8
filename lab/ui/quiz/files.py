"""The checks on screen as files for a course system, for a teacher."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import streamlit as st

from lab.charts.base.figure import drawable, png
from lab.course.pages import lesson_of
from lab.course.words import escaped, stopped
from lab.models.cores import one_core
from lab.questions.course_systems import Exercise, gift, moodle_xml
from lab.questions.question import Question
from lab.ui import parameters, selection
from lab.ui.address import absolute, is_only_here
from lab.ui.quiz.question_on_screen import OnScreen, about

_PLACE = re.compile("\u2069”? \\(\\d+\\)")
_BRACKETS = " A number in brackets is the place of a token in the text."
# Writes exercises for a category of a question bank.
Write = Callable[[Sequence[Exercise], str], str]


def offer_files(lesson: str, kept: OnScreen) -> None:
    """Offer these questions, with their answers, as files. They are written at the click."""
    if not kept.questions:
        return
    seed, shown = parameters.SEED.chosen(), selection.link()
    name = f"{lesson}-seed-{seed}" if seed else lesson
    # The link leads to the beginning of the lesson, not to the questions. At the click, no address is known any more.
    link = absolute({name: value for name, value in shown.items() if name != parameters.STEP.name})
    with st.container(horizontal=True, vertical_alignment="center"):
        told = "These questions for a course system such as Moodle, with their answers:"
        if is_only_here(link):
            told = f"{told[:-1]}. The links in them lead to this computer alone:"
        st.caption(told, width="content")
        _offer("Moodle XML", f"{name}.xml", "application/xml", partial(_written, moodle_xml, lesson, kept, shown, link))
        _offer("GIFT", f"{name}-gift.txt", "text/plain", partial(_written, gift, lesson, kept, shown, link))


def _offer(label: str, name: str, mime: str, write: Callable[[], str]) -> None:
    icon = ":material/download:"
    st.download_button(label, write, name, mime, f"_take.{name}", on_click="ignore", type="tertiary", icon=icon)


def _written(write: Write, lesson: str, kept: OnScreen, shown: Mapping[str, str], link: str) -> str:
    return write(exercises(kept, shown, link), f"Inside BERT/{lesson_of(lesson).title}")


def _view(shown: Mapping[str, str], of: str) -> str:
    """Say what the lab shows beside the questions; a general question needs none of it."""
    asked = stopped(about(shown, of, says="In the lab, with"))
    if shown.get(parameters.MODE.name) == parameters.TOY:
        return asked
    return f"{asked} Model: {escaped(shown.get(parameters.MODEL.name, parameters.MODEL.default))}."


def _counts_tokens(question: Question) -> bool:
    """Return whether a text of the question names the place of a token."""
    texts = [question.prompt, *(text for option in question.options for text in (option.text, option.why))]
    return any(_PLACE.search(text) for text in texts)


def exercises(kept: OnScreen, shown: Mapping[str, str], link: str) -> list[Exercise]:
    """Return the questions on screen, each with its texts, the ``link`` to the view, and its figure as a picture.

    ``shown`` are the choices in the lab, by the names of their parameters.
    """
    view, made = _view(shown, kept.of), []
    for question in kept.questions:
        asked = "" if question.always else view + _BRACKETS * _counts_tokens(question)
        figure = kept.figures.get(question.id)
        if figure is None or not drawable(figure):
            made.append(Exercise(question, asked, link))
        else:
            with one_core():
                made.append(Exercise(question, asked, link, png(figure), figure.heading))
    return made
