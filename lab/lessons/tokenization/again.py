"""The questions of lesson 1 that return later."""

from __future__ import annotations

from collections.abc import Iterator

from lab.lessons.tokenization import checks
from lab.lessons.tokenization.reading import TextReading
from lab.questions.question import Question
from lab.questions.returning import Spot


def questions(spot: Spot) -> Iterator[Question | None]:
    """Ask how words are cut and looked up; ask nothing for a tokenizer that the lab cannot explain."""
    from lab.text.tokenizers.steps import tokenization_steps

    trace = spot.trace
    try:
        steps = tuple(tokenization_steps(trace.model.tokenizer, text) for text in (trace.text, trace.pair) if text)
    except ValueError:
        return
    reading = TextReading(trace.encoding, steps, trace.model.tokenizer)
    for builder in (checks.neighbours_in_the_list, checks.in_capitals, checks.why_this_cut, checks.unknown_word):
        yield builder(reading)
