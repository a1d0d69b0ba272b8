"""Check: what a classifier has learned, what training changed, and what shows a reason; each in its step's file."""

from __future__ import annotations

from lab.lessons.a_task_of_your_own import LESSON
from lab.lessons.a_task_of_your_own.change_the_model import why_forgotten
from lab.lessons.a_task_of_your_own.teach_it import topic_or_task
from lab.lessons.a_task_of_your_own.why_this_answer import which_proves
from lab.questions.spot import Spot
from lab.ui.play import LessonRun
from lab.ui.quiz.asking import draw_checks


def show(view: LessonRun) -> None:
    """Ask the three questions."""
    spot = Spot.of(view.trace)
    draw_checks(LESSON, [each(spot) for each in (topic_or_task, why_forgotten, which_proves)])
