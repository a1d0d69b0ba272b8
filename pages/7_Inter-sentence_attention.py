"""Lesson: inter-sentence attention, from the maps of all heads to one matrix of sentences."""

from lab.lessons.inter_sentence_attention import even
from lab.lessons.inter_sentence_attention import screens as steps
from lab.lessons.inter_sentence_attention.pair import show_pair
from lab.lessons.inter_sentence_attention.view import MATRIX, look
from lab.ui.drawing import take_click
from lab.ui.page import open_lesson
from lab.ui.parameters import FROM_SENTENCE, TO_SENTENCE

STEPS = {
    "Sentences": steps.show_sentences,
    "Matrix": steps.show_matrix,
    "Direction": steps.show_direction,
    "By hand": even.show_by_hand,
    "Special tokens": even.show_specials,
    "Pair or not": show_pair,
    "Check": steps.show_checks,
}

page = open_lesson("7_Inter-sentence_attention.py")
own = page.trace()
step = page.step(list(STEPS))
take_click(MATRIX, {FROM_SENTENCE: "q", TO_SENTENCE: "k"})
view = look(page, own)
if view is not None:
    STEPS[step](view)
    page.next_step(list(STEPS))
page.finish()
page.prove(own if view is None else view.trace)
