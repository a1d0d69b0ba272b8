"""Lesson 3: the steps, from query and key to the weighted sum of values."""

from lab.lessons.self_attention import screens
from lab.lessons.self_attention.break_it import break_it
from lab.lessons.self_attention.by_hand import by_hand
from lab.lessons.self_attention.row import show_built
from lab.ui.play import Screens, at_one_head
from lab.ui.shared.one_head import OneHead, show_sentence

SCREENS: Screens[OneHead] = Screens(
    steps={
        "map": screens.show_map,
        "build-a-row": show_built,
        "scale": screens.show_scale,
        "break-it": break_it,
        "check": screens.show_checks,
        "by-hand": by_hand,
    },
    look=at_one_head(),
    sentence=show_sentence,
    places_sentence=("map", "by-hand"),
)
