"""Lesson 1: the steps, from the characters of a text to the ids that a model reads."""

from lab.lessons.tokenization import screens
from lab.lessons.tokenization.pieces import show_pieces
from lab.lessons.tokenization.toy import show_toy
from lab.lessons.tokenization.view import TokenizationView, look, with_agreement
from lab.ui.play import Screens

SCREENS: Screens[TokenizationView] = Screens(
    steps={
        "tokens": with_agreement(screens.show_tokens),
        "cut": with_agreement(screens.show_cut),
        "pieces": with_agreement(show_pieces),
        "special-tokens": with_agreement(screens.show_special_tokens),
        "check": with_agreement(screens.show_checks),
    },
    look=lambda page, trace: lambda step: look(page, trace),
    toy_page=show_toy,
)
