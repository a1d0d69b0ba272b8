"""Shares of attention in words, for all steps of the lesson, and the questions' common parts."""

from __future__ import annotations

from dataclasses import replace

from lab.analysis.sentences.attention import InterSentence
from lab.analysis.sentences.split import Sentences, aside, split
from lab.course.words import aside as set_apart
from lab.course.words import escaped, mostly
from lab.figures.sentences import read
from lab.models.trace import Trace
from lab.questions.question import Question
from lab.questions.spot import Spot
from lab.text.sentences.unavailable import SentencesUnavailable

# In one text, a smaller change of a share of attention does not count as a finding.
NOTABLE = 0.05
# A share of at least this multiple of a uniform head's share is called “much”.
MUCH = 2


def percents(part: float) -> str:
    """Write a share in percent; a share that is below 1 only by rounding counts as 1."""
    return mostly(round(part, 6))


def sentence_name(sentence: int) -> str:
    """Name a sentence by its number on screen."""
    return f"sentence {sentence + 1}"


def sentences_of(spot: Spot) -> Sentences | None:
    """The sentences of a run; None for a single sentence, and where no sentence can be found."""
    try:
        found = split(spot.trace)
    except SentencesUnavailable:
        return None
    return found if len(found) > 1 else None


def read_for_question(trace: Trace, sentences: Sentences) -> InterSentence:
    """The attention that questions are about: among sentences only, wherever that is possible."""
    return read(trace, sentences, left_out=True)


def counted(trace: Trace, sentences: Sentences, question: Question | None) -> Question | None:
    """Make a question say that its numbers leave out special tokens, or the first token, if they do."""
    if question is None or aside(trace, sentences) is None:
        return question
    return replace(question, prompt=f"{question.prompt} (Without {escaped(set_apart(trace))}.)")
