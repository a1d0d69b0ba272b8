"""What lesson 7 asks again, later on."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from lab.analysis.heads.values import is_causal
from lab.analysis.sentences.split import expected, split
from lab.course.heads import aside
from lab.course.words import escaped
from lab.figures.sentences import apart, read
from lab.lessons.inter_sentence_attention import checks
from lab.questions.question import Question
from lab.questions.returning import Spot
from lab.text.sentences.unavailable import SentencesUnavailable


def questions(spot: Spot) -> Iterator[Question | None]:
    """Where a sentence's attention goes, and what its length has to do with it; nothing of a single sentence."""
    trace, causal = spot.trace, is_causal(spot.trace)
    try:
        sentences = split(trace)
    except SentencesUnavailable:
        return
    if len(sentences) < 2:
        return
    a, b = len(sentences) - 1, 0
    found, what = read(trace, sentences, left_out=False), escaped(aside(trace))
    even = expected(found, len(trace), causal, a, b)
    counting = partial(checks.counting, what=what, left_out=False)
    yield counting(checks.keeps_or_sends(found, a))
    yield counting(checks.why_less(found))
    yield counting(checks.one_weight(found))
    yield counting(checks.even_share(found, len(trace), even, a, b))
    yield counting(checks.corrected(found, even, a, b))
    yield checks.where_it_goes(apart(trace, sentences), a, what)
    yield checks.to_specials(apart(trace, sentences), a, what)
