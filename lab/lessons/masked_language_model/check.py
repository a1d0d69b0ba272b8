"""Check: questions about what a blank and its logits show; each is in the file of the step that it is about."""

from __future__ import annotations

from lab.lessons.masked_language_model import LESSON
from lab.lessons.masked_language_model.every_place import why_hidden
from lab.lessons.masked_language_model.from_vector_to_word import shifted
from lab.lessons.masked_language_model.hide_words import other_subject
from lab.lessons.masked_language_model.view import spot_of
from lab.models.trace import Trace
from lab.ui.quiz.asking import draw_checks
from lab.ui.shared.prediction import PredictionView


def show(view: PredictionView) -> Trace:
    """Ask the three questions."""
    draw_checks(LESSON, [each(spot_of(view)) for each in (other_subject, why_hidden, shifted)])
    return view.trace
