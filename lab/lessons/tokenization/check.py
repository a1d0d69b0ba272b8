"""Check: questions about this text; each is in the file of the step that it is about."""

from __future__ import annotations

from lab.lessons.tokenization import LESSON
from lab.lessons.tokenization.cut import in_capitals
from lab.lessons.tokenization.pieces import unknown_sign, why_this_cut
from lab.lessons.tokenization.tokens import neighbours
from lab.lessons.tokenization.view import TokenizationView
from lab.questions.returning import Spot
from lab.ui.quiz.asking import draw_checks


def show(view: TokenizationView) -> None:
    """Ask at most three of the questions, those about the learner's own words first."""
    spot = Spot.of(view.trace)
    found = [asking(spot) for asking in (why_this_cut, in_capitals, neighbours, unknown_sign)]
    draw_checks(LESSON, [each for each in found if each is not None][:3])
