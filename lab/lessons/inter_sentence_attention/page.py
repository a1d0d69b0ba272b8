"""Lesson 7: the steps, from the maps of all heads to one matrix of sentences."""

from lab.lessons.inter_sentence_attention import again, even, screens
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
        "special-tokens": proven(even.show_specials),
        "pair-or-not": proven(show_pair),
        "check": proven(screens.show_checks),
    },
    look=lambda page, trace: lambda step: look(page, trace),
    again=again.questions,
    sentence=draw_sentence,
    toy=pair_trace,
    toy_steps=PAIR_STEPS,
    clicks={MATRIX: {FROM_SENTENCE: "q", TO_SENTENCE: "k"}},
)
