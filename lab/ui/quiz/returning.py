"""What was answered wrong comes back once, at the end of a lesson at least two lessons later.

A question that is asked again after a while is remembered (Roediger & Karpicke 2006, "Test-enhanced learning").
"""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

from lab.questions.progress import LearnerProgress
from lab.questions.question import Question, selected
from lab.ui import parameters
from lab.ui.quiz.draw_check import ask_one
from lab.ui.quiz.question_on_screen import progress

MOST = 2  # questions at the end of a lesson


def missed(known: LearnerProgress, earlier: Iterable[Question], lesson: str) -> list[Question]:
    """Return the questions of ``earlier`` lessons that were answered wrong, and that no other lesson has asked again.

    An answer in a step is the last one, an answer in a check the first one.
    """
    steps: dict[str, int | None] = {}
    for options in known.predictions.values():
        steps |= options

    def wrong(question: Question) -> bool:
        answer = known.checks.get((question.lesson, question.id))
        if answer is not None:
            return not answer.correct
        kept = steps.get(question.key)
        return kept is not None and question.on_screen(kept) != question.answer

    again = {name: of for of, name in known.checks if of != lesson}
    return [each for each in earlier if wrong(each) and f"{each.lesson}.{each.id}" not in again]


def bring_back(lesson: str, earlier: Iterable[Question]) -> None:
    """Ask again what was answered wrong in ``earlier`` lessons: nothing about a toy, nor of a class."""
    if parameters.TEACH.chosen() or parameters.MODE.chosen() == parameters.TOY:
        return
    questions = selected(missed(progress(), earlier, lesson), MOST)
    if questions:
        st.subheader("Once more")
        st.caption("You answered this wrong in an earlier lesson.")
        for number, question in enumerate(questions, start=1):
            with st.container(border=True):
                ask_one(lesson, number, question, f"{lesson}.earlier")
