"""A word in several sentences: its runs, and the places of its token."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lab.course.sentences.two_meanings import TWO_MEANINGS, TwoMeanings
from lab.course.words import quoted
from lab.models.encoding import Encoding, encode
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


def offered(model: LoadedModel) -> Mapping[str, TwoMeanings]:
    """The words, by name, that are one token for this model, and the same token in both sentences."""
    found = {}
    for each in TWO_MEANINGS:
        encodings = [encode(model.tokenizer, model.config, text) for text in (each.first, each.second)]
        places = [place_of(encoding, each.word) for encoding in encodings]
        ids = {e.token_ids[place] for e, place in zip(encodings, places, strict=True) if place is not None}
        if None not in places and len(ids) == 1:
            found[each.word] = each
    return found


@once
def uses_of(model: LoadedModel, word: TwoMeanings, changes: Interventions = _PLAIN) -> tuple[Use, ...]:
    """The uses of the word in its two sentences, except where the word is not one token."""
    traces = [trace(model, text, None, changes) for text in (word.first, word.second)]
    places = [place_of(each.encoding, word.word) for each in traces]
    return tuple(Use(each, place) for each, place in zip(traces, places, strict=True) if place is not None)


@once
def same_meaning(model: LoadedModel, word: TwoMeanings) -> Use | None:
    """The word in the other sentence with its first meaning; None if the model has another token there."""
    first = encode(model.tokenizer, model.config, word.first)
    here, traced = place_of(first, word.word), trace(model, word.alike)
    place = place_of(traced.encoding, word.word)
    if here is None or place is None or traced.token_ids[place] != first.token_ids[here]:
        return None
    return Use(traced, place)
