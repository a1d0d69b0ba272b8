"""Lesson 5: the steps, from a head's map to numbers that can be compared."""

from lab.lessons.attention_metrics import limits, parked, screens
from lab.lessons.attention_metrics.quiz import show_checks
from lab.ui.parameters import HEAD, LAYER
from lab.ui.play import Screens, at_one_head
from lab.ui.shared.one_head import OneHead, show_sentence

SCREENS: Screens[OneHead] = Screens(
    steps={
        "effective": screens.show_effective,
        "two-heads": screens.show_two,
        "numbers": screens.show_numbers,
        "by-hand": screens.show_by_hand,
        "parked-heads": parked.show_parked,
        "check": show_checks,
        "limits": limits.show_limits,
    },
    look=at_one_head(),
    sentence=show_sentence,
    places_sentence=("parked-heads",),
    clicks={chart: {LAYER: "q", HEAD: "k"} for chart in (screens.ALL_HEADS, parked.SHARES)},
)
