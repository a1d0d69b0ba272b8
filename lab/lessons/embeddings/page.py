"""Lesson 2: the steps, from an id to the vector that enters the first layer."""

from lab.lessons.embeddings import like_words, positions, screens
from lab.lessons.embeddings.position_lab import show_position_lab
from lab.lessons.embeddings.quiz import show_checks
from lab.lessons.embeddings.rotary import show_rotary
from lab.lessons.embeddings.screens import EmbeddingView
from lab.lessons.embeddings.summed import show_sum
from lab.ui.play import Screens

SCREENS: Screens[EmbeddingView] = Screens(
    steps={
        "vectors": screens.show_vectors,
        "like-words": like_words.show_like_words,
        "sum": show_sum,
        "position-lab": show_position_lab,
        "learned-or-computed": positions.show_tables,
        "check": show_checks,
        "rotary": show_rotary,
        "two-meanings": like_words.show_two_meanings,
    },
    look=lambda page, trace: lambda step: screens.look(page, trace),
)
