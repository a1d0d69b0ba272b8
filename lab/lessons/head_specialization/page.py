"""Lesson 6: the steps, from parts of speech to names of heads."""

from lab.evidence.notable import grammar_head
from lab.lessons.head_specialization import again, grammar, patterns, screens, survey
from lab.lessons.head_specialization.tagged import show_tags
from lab.ui.parameters import HEAD, LAYER
from lab.ui.play import Screens, at_one_head
from lab.ui.shared.one_head import OneHead, show_sentence

SCREENS: Screens[OneHead] = Screens(
    steps={
        "tagged-sentence": show_tags,
        "seven-metrics": screens.show_seven,
        "radar": screens.show_radar,
        "named-patterns": patterns.show_patterns,
        "grammar": grammar.show_grammar,
        "check": patterns.show_checks,
        "many-sentences": survey.show_many,
    },
    look=at_one_head(grammar_head),
    again=again.questions,
    sentence=show_sentence,
    places_sentence=("grammar",),
    clicks={chart: {LAYER: "q", HEAD: "k"} for chart in (patterns.NAMED, survey.AVERAGED)},
)
