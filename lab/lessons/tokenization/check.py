"""Check: questions about the tokenizer; each is in the file of the step that it is about."""

from __future__ import annotations

from lab.lessons.tokenization import LESSON
from lab.lessons.tokenization.pieces import unknown_sign, why_this_cut
from lab.lessons.tokenization.tokens import in_capitals
from lab.lessons.tokenization.view import TokenizationView
from lab.ui.quiz.draw_check import draw_checks


def show(view: TokenizationView) -> None:
    """Ask the three questions."""
    draw_checks(LESSON, [each() for each in (why_this_cut, in_capitals, unknown_sign)])
