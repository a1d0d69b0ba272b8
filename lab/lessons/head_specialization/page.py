"""Lesson 6: the steps, from kinds of words to a head that is taken away."""

from lab.lessons.head_specialization import grammar, matters, patterns, screens, survey
from lab.lessons.head_specialization.quiz import show_checks
from lab.lessons.head_specialization.tagged import show_kinds
from lab.ui.parameters import HEAD, LAYER
from lab.ui.play import Screens, at_one_head
from lab.ui.shared.one_head import OneHead, show_sentence

SCREENS: Screens[OneHead] = Screens(
    steps={
        "tagged-sentence": show_kinds,
        "seven-metrics": screens.show_profile,
        "named-patterns": patterns.show_patterns,
        "grammar": grammar.show_grammar,
        "does-it-matter": matters.show_matters,
        "check": show_checks,
        "many-sentences": survey.show_many,
    },
    look=at_one_head(),
    sentence=show_sentence,
    places_sentence=("tagged-sentence", "grammar", "does-it-matter"),
    clicks={chart: {LAYER: "q", HEAD: "k"} for chart in (patterns.NAMED, survey.AVERAGED)},
)
