"""The story of a word that forms at a token: the tokens that bring most, and the word that leads after each layer.

The picture shows which vectors arrive; :mod:`lab.figures.cut_story` says what happens without some of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from lab.analysis.flow.arriving import Arriving, arriving
from lab.analysis.flow.cuts import Cuts, cut_run
from lab.analysis.layers.lens import first_read, likeliest_after
from lab.analysis.words.masking import is_hidden
from lab.charts.base.axes import visible
from lab.charts.components.word_forms_picture import FROM, LEADS, PLAIN, WORD, Spans
from lab.course.words import percent
from lab.models.encoding import word_of
from lab.models.trace import Trace

MOST = 5  # number of words listed after each layer
_ALIKE = 0.6  # the second token is named, too, if its share is at least this part of the largest share


@dataclass(frozen=True, eq=False)
class Forming:
    """A word that forms at token ``watched`` of the run ``now``, which has ``cuts``; the run ``before`` has none."""

    before: Trace
    now: Trace
    watched: int
    cuts: Cuts

    @classmethod
    def of(cls, trace: Trace, watched: int, cuts: Cuts) -> Forming:
        """Run ``trace`` again, with the cuts."""
        return cls(trace, cut_run(trace, watched, cuts), watched, cuts)

    @property
    def arriving(self) -> Arriving:
        return arriving(self.now, self.watched)

    @property
    def layers(self) -> int:
        return self.now.model.config.layers

    @property
    def is_blank(self) -> bool:
        """True if the watched token hides a word."""
        return is_hidden(self.now, self.watched)

    @property
    def has_words(self) -> bool:
        return not self.now.model.headless

    @property
    def kind(self) -> str:
        """The kind of word that forms: the next word in a causal model."""
        return "next word" if self.now.model.config.causal else "word"

    def name(self, token: int) -> str:
        """Name a token in a sentence; if the text has equal tokens, add its place among them."""
        if token == self.watched and self.is_blank:
            return "the blank"
        label, labels = self.now.labels[token], self.now.labels
        which = f"the {ordinal(labels[: token + 1].count(label))} " if labels.count(label) > 1 else ""
        return f"{which}“{bare(label)}”"


@dataclass(frozen=True)
class Word:
    """A word of the vocabulary, and its probability."""

    token_id: int
    name: str
    probability: float


def words_after(trace: Trace, watched: int, layer: int, fitted: bool = False) -> tuple[Word, ...]:
    """The likeliest words at a token, read as if the model ended after ``layer`` (0: the embeddings)."""
    found = likeliest_after(trace, watched, MOST, fitted=fitted)
    return tuple(
        Word(int(each), bare(word_of(trace.model.tokenizer, int(each))), float(share))
        for each, share in zip(found.ids[layer], found.probabilities[layer], strict=True)
    )


def story(forming: Forming, fitted: bool = False) -> tuple[Spans, ...]:
    """Write a sentence for each state, from the embeddings on."""
    told = [_beginning(forming)]
    told += [(*_arrives(forming, layer), *_best(forming, layer, fitted)) for layer in range(1, forming.layers + 1)]
    return tuple(told)


def _beginning(forming: Forming) -> Spans:
    lines, at = "Each line is a token on its way through the model. ", forming.name(forming.watched)
    if forming.is_blank:
        return ((f"{lines}So far, the blank knows only its place.", PLAIN),)
    return (lines, PLAIN), (at, FROM), (" knows nothing about the other tokens yet.", PLAIN)


def _arrives(forming: Forming, layer: int) -> Spans:
    """Name the tokens from which the watched token receives most in a layer, from 1."""
    row = forming.arriving.row[layer - 1]
    first, *rest = (int(each) for each in (-row).argsort(kind="stable"))
    at = forming.name(forming.watched)
    if row[first] <= 0:
        return ((f"In layer {layer}, nothing arrives at {at}. ", PLAIN),)
    second = next((each for each in rest[:1] if row[each] >= _ALIKE * row[first]), None)
    spans = [(f"In layer {layer}, {at} receives most from ", PLAIN), *_source(forming, first, row[first])]
    if second is not None:
        spans += [(" and ", PLAIN), *_source(forming, second, row[second])]
    return (*spans, (". ", PLAIN))


def _source(forming: Forming, token: int, share: float) -> Spans:
    """Name a token from which a vector comes, and the vector's share."""
    name = ("itself", PLAIN) if token == forming.watched else (forming.name(token), FROM)
    return name, (f" ({percent(float(share))})", PLAIN)


def _best(forming: Forming, layer: int, fitted: bool) -> Spans:
    """Name the word that leads after a layer, and say whether it led before."""
    if not forming.has_words:
        return ()
    first = first_read(forming.now, forming.watched, fitted=fitted)
    if layer < first:
        return (("The lens cannot read a word yet.", PLAIN),)
    words, kind = words_after(forming.now, forming.watched, layer, fitted), forming.kind
    best = words[0]
    if best.probability < LEADS:
        return ((f"No {kind} has {percent(LEADS)}{' yet' if layer < forming.layers else ''}.", PLAIN),)
    led = layer > first and _leads(words_after(forming.now, forming.watched, layer - 1, fitted), best)
    return (
        (f"The best {kind} {'is still' if led else 'becomes'} ", PLAIN),
        *said(best.name, best.probability),
        (".", PLAIN),
    )


def _leads(words: tuple[Word, ...], word: Word) -> bool:
    return words[0].token_id == word.token_id and words[0].probability >= LEADS


def said(name: str, probability: float) -> Spans:
    """Name a word of the vocabulary, and its probability."""
    return (f"“{name}”", WORD), (f" ({percent(probability)})", PLAIN)


def ordinal(number: int) -> str:
    """Write an ordinal number, from 1, in figures.

    >>> [ordinal(number) for number in (1, 2, 3, 4, 11, 22)]
    ['1st', '2nd', '3rd', '4th', '11th', '22nd']
    """
    teens = number % 100 in (11, 12, 13)
    return f"{number}{'th' if teens else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


def bare(label: str) -> str:
    """Name a token in a sentence of the lab, without the sign for the space before it."""
    return visible(label.removeprefix("␣") or label)
