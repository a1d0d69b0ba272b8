"""Lesson 7: Inter-sentence attention. Each step is the file of its id; ``lesson.toml`` has their order and texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.models.trace import Trace
from lab.ui.page import LessonPage
from lab.ui.parameters import FROM_SENTENCE, TO_SENTENCE
from lab.ui.play import Parts
from lab.ui.toys.pairs_toy import PAIR_STEPS, pair_trace

if TYPE_CHECKING:
    from lab.lessons.inter_sentence_attention.view import SentencesView

LESSON = "inter-sentence-attention"
MATRIX = "sentences"  # the chart in which a click chooses two sentences


def look(page: LessonPage, trace: Trace, step: str) -> SentencesView | None:
    """Find the sentences; see :mod:`lab.lessons.inter_sentence_attention.view`, which needs this package complete."""
    from lab.lessons.inter_sentence_attention.view import look as find_sentences

    return find_sentences(page, trace, step)


PARTS: Parts[SentencesView] = Parts(
    look=look,
    toy=pair_trace,
    toy_steps=PAIR_STEPS,
    clicks={MATRIX: {FROM_SENTENCE: "q", TO_SENTENCE: "k"}},
)
