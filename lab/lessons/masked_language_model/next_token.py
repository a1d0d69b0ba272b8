"""Next token: a model that reads from left to right gives every token a probability to come next."""

from __future__ import annotations

import streamlit as st

from lab.course.words import quoted
from lab.lessons.masked_language_model.best import show_best
from lab.lessons.masked_language_model.tries import show_one_word_changed
from lab.lessons.masked_language_model.view import choose_temperature
from lab.models.trace import Trace
from lab.ui import sidebar
from lab.ui.parameters import TEMPERATURE, TOP
from lab.ui.shared.prediction import PredictionView
from lab.ui.terms import say


def show(view: PredictionView) -> Trace:
    """Show the most probable next tokens."""
    say(
        f"{quoted(view.model.id)} reads from left to right and never sees what comes after a token. So it has no "
        "[MASK]: you ask it for the next token. It gives every token of its vocabulary a **probability**, a number "
        "from 0 to 1. All probabilities add up to 1."
    )
    show_best(view, view.prediction.at(TEMPERATURE.chosen()), f"In your text, token {view.place + 2} is")
    show_one_word_changed(view)
    with sidebar.controls():
        TOP.choose("Tokens in the figure")
        choose_temperature()
    st.caption(
        "A temperature below 1 makes the model’s distribution sharper, and a temperature above 1 makes it flatter."
    )
    return view.trace
