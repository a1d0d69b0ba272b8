"""Check: questions about these sentences; each is in the file of the step that it is about."""

from __future__ import annotations

from lab.lessons.inter_sentence_attention import LESSON
from lab.lessons.inter_sentence_attention.matrix import into_the_future, one_weight, why_less
from lab.lessons.inter_sentence_attention.row import show_tokens
from lab.lessons.inter_sentence_attention.shuffled import what_a_share_proves
from lab.lessons.inter_sentence_attention.view import SentencesView
from lab.questions.toys import pair_checks
from lab.toy.pairs import PAIRED
from lab.ui.parameters import TEXT
from lab.ui.quiz.asking import draw_checks


def show(view: SentencesView) -> None:
    """Ask about these sentences."""
    show_tokens(view)
    if view.trace.model.id == PAIRED:
        draw_checks(LESSON, pair_checks(*(text.split() for text in view.sentences.texts)))
        return
    asked = (what_a_share_proves, into_the_future, why_less, one_weight)
    own = "" if view.trace.text == view.page.selection[TEXT] else view.trace.text
    draw_checks(LESSON, [each(view.spot) for each in asked], text=own)
