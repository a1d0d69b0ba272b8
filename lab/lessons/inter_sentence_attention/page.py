"""Lesson 7: the steps, from the maps of all heads to one map of sentences."""

from lab.lessons.inter_sentence_attention import behind, even, screens
from lab.lessons.inter_sentence_attention.pair import show_pair
from lab.lessons.inter_sentence_attention.row import draw_sentence
from lab.lessons.inter_sentence_attention.view import MATRIX, SentencesView, look, proven
from lab.ui.parameters import FROM_SENTENCE, TO_SENTENCE
from lab.ui.play import Screens
from lab.ui.toys.pairs import PAIR_STEPS, pair_trace

SCREENS: Screens[SentencesView] = Screens(
    steps={
        "sentences": proven(screens.show_sentences),
        "matrix": proven(screens.show_matrix),
        "behind-a-cell": proven(behind.show_behind),
        "special-tokens": proven(even.show_specials),
        "check": proven(screens.show_checks),
        "pair-or-not": proven(show_pair),
    },
    look=lambda page, trace: lambda step: look(page, trace),
    sentence=lambda view, arcs: draw_sentence(view),
    places_sentence=("behind-a-cell",),
    toy=pair_trace,
    toy_steps=PAIR_STEPS,
    clicks={MATRIX: {FROM_SENTENCE: "q", TO_SENTENCE: "k"}},
)
