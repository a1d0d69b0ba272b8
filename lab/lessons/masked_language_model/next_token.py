"""Next token: a model that reads from left to right gives every token a probability to come next."""

from __future__ import annotations

from lab.course.words import quoted
from lab.lessons.masked_language_model.view import choose_temperature, show_best
from lab.models.trace import Trace
from lab.ui import sidebar
from lab.ui.parameters import TEMPERATURE
from lab.ui.screen import say
from lab.ui.shared.prediction import PredictionView

_TASK = (
    "{model} reads from left to right and never sees what comes after a token. So nothing is hidden: you ask for the "
    "next token. It gives every token of its vocabulary a **probability**, and all probabilities add up to 1."
)


def show(view: PredictionView) -> Trace:
    """Show the most probable next tokens."""
    say(_TASK.format(model=quoted(view.model.id)))
    show_best(view, view.prediction.at(TEMPERATURE.chosen()), f"In your text, token {view.place + 2} is")
    with sidebar.controls():
        choose_temperature()
    return view.trace
