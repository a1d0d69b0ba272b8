"""Check: what a loss is, what a step does, and why a model says a wrong word; each in the file of its step."""

from __future__ import annotations

from lab.lessons.how_it_learns import LESSON
from lab.lessons.how_it_learns.one_step import too_far
from lab.lessons.how_it_learns.surprise import halved
from lab.lessons.how_it_learns.what_did_it_read import why_this_word
from lab.ui.play import LessonRun
from lab.ui.quiz.draw_check import draw_checks


def show(view: LessonRun) -> None:
    """Ask the three questions."""
    draw_checks(LESSON, [each() for each in (halved, too_far, why_this_word)])
