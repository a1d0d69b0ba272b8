"""The questions of lesson 7 that return later."""

from __future__ import annotations

from collections.abc import Iterator

from lab.analysis.sentences.split import split
from lab.course.words import aside, escaped
from lab.figures.sentences import apart, read
from lab.lessons.inter_sentence_attention import checks
from lab.questions.question import Question
from lab.questions.returning import Spot
from lab.text.sentences.unavailable import SentencesUnavailable


def questions(spot: Spot) -> Iterator[Question | None]:
    """Ask where a sentence's attention goes, and how length matters; nothing about a single sentence."""
    trace = spot.trace
    try:
        sentences = split(trace)
    except SentencesUnavailable:
        return
    if len(sentences) < 2:
        return
    last = len(sentences) - 1
    found, what = read(trace, sentences, left_out=False), escaped(aside(trace))
    for asked in (checks.keeps_or_sends(found, last), checks.why_less(found), checks.one_weight(found)):
        yield checks.counting(asked, what, left_out=False)
    yield checks.where_it_goes(apart(trace, sentences), last, what)
