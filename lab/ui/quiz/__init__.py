"""Questions on the screen: predictions before an answer, checks after it, questions that return."""

from lab.ui.quiz.checks import ask_about, checks
from lab.ui.quiz.predictions import keep_place, predict
from lab.ui.quiz.question import progress, remember
from lab.ui.quiz.returning import with_earlier

__all__ = ["ask_about", "checks", "keep_place", "predict", "progress", "remember", "with_earlier"]
