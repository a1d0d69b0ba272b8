"""Lesson 4: the steps, from the heads of a layer to a head that is taken away."""

from lab.lessons.multi_head_attention import compared, heads_off, screens
from lab.lessons.multi_head_attention.several_layers import show_layers
from lab.ui.parameters import HEAD, LAYER
from lab.ui.play import Screens, at_one_head
from lab.ui.shared.one_head import OneHead, show_sentence

SCREENS: Screens[OneHead] = Screens(
    steps={
        "all-heads": screens.show_all,
        "alike-or-different": compared.show_two,
        "add-up": screens.show_sum,
        "one-head-off": heads_off.show_one,
        "each-head-off": heads_off.show_each,
        "check": screens.show_checks,
        "through-several-layers": show_layers,
        "how-many": compared.show_count,
    },
    look=at_one_head(),
    sentence=show_sentence,
    places_sentence=("one-head-off", "each-head-off"),
    clicks={screens.MAPS: {HEAD: "map"}, heads_off.EFFECTS: {LAYER: "q", HEAD: "k"}},
)
