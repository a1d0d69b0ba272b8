"""Lesson: inter-sentence attention, from the maps of all heads to one matrix of sentences."""

from lab.lessons.attention_metrics import again as attention_metrics
from lab.lessons.inter_sentence_attention import again, even
from lab.lessons.inter_sentence_attention import screens as steps
from lab.lessons.inter_sentence_attention.pair import show_pair
from lab.lessons.inter_sentence_attention.view import MATRIX, look, proven
from lab.lessons.multi_head_attention import again as multi_head_attention
from lab.lessons.self_attention import again as self_attention
from lab.ui.drawing import take_click
from lab.ui.page import open_lesson
from lab.ui.parameters import FROM_SENTENCE, TO_SENTENCE, TOY
from lab.ui.play import play
from lab.ui.quiz.returning import with_earlier
from lab.ui.toys.pairs import PAIR_STEPS, pair_trace

EARLIER = {
    "attention-metrics": attention_metrics.questions,
    "self-attention": self_attention.questions,
    "multi-head-attention": multi_head_attention.questions,
}

page = open_lesson("7_Inter-sentence_attention.py", again.questions)
trace = pair_trace(page) if page.selection.mode == TOY else page.trace()
take_click(MATRIX, {FROM_SENTENCE: "q", TO_SENTENCE: "k"})
play(
    page,
    trace,
    {
        "Sentences": proven(steps.show_sentences),
        "Matrix": proven(steps.show_matrix),
        "Special tokens": proven(even.show_specials),
        "Pair or not": proven(show_pair),
        "Check": with_earlier(page, proven(steps.show_checks), EARLIER),
    },
    lambda: look(page, trace),
    more={"By hand": proven(even.show_by_hand)},
    toys=PAIR_STEPS,
)
