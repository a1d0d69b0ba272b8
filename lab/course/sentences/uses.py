"""A word in several sentences: its runs, and the places of its token."""

from __future__ import annotations

from dataclasses import dataclass

from lab.course.words import quoted
from lab.models.encoding import Encoding
from lab.models.interventions import Interventions
from lab.models.loading import LoadedModel
from lab.models.memo import once
from lab.models.trace import Trace, trace

_PLAIN = Interventions()


@dataclass(frozen=True)
class Use:
    """A word in a sentence: the run, and the place of its token, from 0."""

    trace: Trace
    token: int

    @property
    def word(self) -> str:
        return quoted(self.trace.labels[self.token])


def place_of(encoding: Encoding, word: str) -> int | None:
    """The place, from 0, at which ``word`` is one token, whatever its capitals; None if the word is cut or missing."""
    spelled = [encoding.text[start:end].strip().lower() for start, end in encoding.offsets]
    return spelled.index(word.lower()) if word.lower() in spelled else None


@once
def uses_of(model: LoadedModel, word: TwoMeanings, changes: Interventions = _PLAIN) -> tuple[Use, ...]:
    """The uses of the word in its two sentences, except where the word is not one token."""
    traces = [trace(model, text, None, changes) for text in (word.first, word.second)]
    places = [place_of(each.encoding, word.word) for each in traces]
    return tuple(Use(each, place) for each, place in zip(traces, places, strict=True) if place is not None)


@dataclass(frozen=True)
class TwoMeanings:
    """A word in two sentences."""

    word: str
    first: str
    second: str
