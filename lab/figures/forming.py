"""The story of a word that forms at a token: the tokens that bring most, the leading word, and the effect of a cut.

The picture shows which vectors arrive; only a cut shows which of them matter. So a sentence says *because* only if a
cut changes the best word or halves its probability.
"""

from __future__ import annotations

from dataclasses import dataclass

from lab.analysis.flow.arriving import Arriving, arriving
from lab.analysis.flow.cuts import Cuts, cut_run
from lab.analysis.layers.lens import likeliest_after
from lab.analysis.words.masking import mask_of
from lab.analysis.words.predictions import prediction_at
from lab.charts.base.labels import visible
from lab.charts.components.word_forms import FROM, LEADS, PLAIN, WORD, Spans
from lab.course.heads import listed
from lab.course.words import percent
from lab.models.encoding import word_of
from lab.models.trace import Trace

MOST = 5  # number of words listed after each layer
_ALIKE = 0.6  # the second token is named, too, if its share is at least this part of the largest share
_HALF, _LITTLE = 0.5, 0.1


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
        return is_blank(self.now, self.watched)

    @property
    def has_words(self) -> bool:
        return self.now.model.weights.vocabulary_head is not None

    def name(self, token: int) -> str:
        """Name a token in a sentence; if the text has equal tokens, add its place among them."""
        if token == self.watched and self.is_blank:
            return "the blank"
        label, labels = self.now.labels[token], self.now.labels
        which = f"the {ordinal(labels[: token + 1].count(label))} " if labels.count(label) > 1 else ""
        return f"{which}“{bare(label)}”"


def is_blank(trace: Trace, token: int) -> bool:
    """Return whether a token is a mask that hides a word."""
    mask = mask_of(trace.model.tokenizer)
    return mask is not None and trace.token_ids[token] == mask[1]


@dataclass(frozen=True)
class Word:
    """A word of the vocabulary, and its probability."""

    token_id: int
    name: str
    probability: float


@dataclass(frozen=True)
class CutVerdict:
    """The effect of the cuts on the result: the best word before them, its probability now, and the best word now."""

    was: Word
    kept: float
    now: Word

    @property
    def changed(self) -> bool:
        return self.was.token_id != self.now.token_id

    @property
    def matters(self) -> bool:
        """True if the best word has changed, or has lost at least half of its probability."""
        return self.changed or self.kept <= _HALF * self.was.probability


def words_after(trace: Trace, watched: int, layer: int, fitted: bool = False) -> tuple[Word, ...]:
    """The likeliest words at a token, read as if the model ended after ``layer`` (0: the embeddings)."""
    found = likeliest_after(trace, watched, MOST, fitted=fitted)
    return tuple(
        Word(int(each), bare(word_of(trace.model.tokenizer, int(each))), float(share))
        for each, share in zip(found.ids[layer], found.probabilities[layer], strict=True)
    )


def verdict(forming: Forming) -> CutVerdict:
    """The effect of the cuts. Raises ValueError for a model without a vocabulary head."""
    at, last = forming.watched, forming.layers
    was, now = (words_after(run, at, last)[0] for run in (forming.before, forming.now))
    return CutVerdict(was, float(prediction_at(forming.now, at, None).probabilities[was.token_id]), now)


def story(forming: Forming, fitted: bool = False) -> tuple[Spans, ...]:
    """Write a sentence for each state, from the embeddings on; the last sentence says what the cuts changed."""
    told = [_beginning(forming)]
    told += [(*_arrives(forming, layer), *_best(forming, layer, fitted)) for layer in range(1, forming.layers + 1)]
    if forming.cuts:
        cut = (f"{_cut_off(forming.cuts, forming)} ", PLAIN)
        told[-1] = _because(forming, verdict(forming)) if forming.has_words else (cut, *told[-1])
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
        return ((f"In layer {layer} nothing arrives at {at}. ", PLAIN),)
    second = next((each for each in rest[:1] if row[each] >= _ALIKE * row[first]), None)
    spans = [(f"In layer {layer} {at} receives most from ", PLAIN), *_source(forming, first, row[first])]
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
    words, earlier = (words_after(forming.now, forming.watched, at, fitted) for at in (layer, layer - 1))
    best, kind = words[0], "next word" if forming.now.model.config.causal else "word"
    if best.probability < LEADS:
        return ((f"No {kind} leads{' yet' if layer < forming.layers else ''}.", PLAIN),)
    led = earlier[0].token_id == best.token_id and earlier[0].probability >= LEADS
    return (f"The best {kind} {'is still' if led else 'becomes'} ", PLAIN), *_word(best), (".", PLAIN)


def _word(word: Word) -> Spans:
    return (f"“{word.name}”", WORD), (f" ({percent(word.probability)})", PLAIN)


def _because(forming: Forming, found: CutVerdict) -> Spans:
    """State the effect of the cuts; they are called the reason only if they changed much."""
    cut, was = (_cut_off(forming.cuts, forming), PLAIN), found.was
    if not found.matters:
        little = abs(found.kept - was.probability) < _LITTLE
        says = f" has {percent(found.kept)} instead of {percent(was.probability)}. {_next_cut(forming)}"
        changes = " Little changes: " if little else " The best word stays: "
        return cut, (changes, PLAIN), (f"“{was.name}”", WORD), (says, PLAIN)
    reason = f" because {_heard(forming)}.{_detour(forming)}"
    if not found.changed:
        falls = (f" falls from {percent(was.probability)} to {percent(found.kept)}. It was that likely{reason}", PLAIN)
        return cut, (" ", PLAIN), (f"“{was.name}”", WORD), falls
    leads = (
        " The best word is now " if found.now.probability >= LEADS else " No word is likely any more; the best one is "
    )
    return (
        cut,
        (leads, PLAIN),
        *_word(found.now),
        (". It was ", PLAIN),
        *_word(was),
        (reason, PLAIN),
    )


def _cut_off(cuts: Cuts, forming: Forming) -> str:
    """Name all cuts in a sentence."""
    said = []
    if cuts.silent:
        said.append(f"no other token hears {_tokens(forming, cuts.silent)}")
    if cuts.unheard:
        said.append(f"{forming.name(forming.watched)} does not hear {_tokens(forming, cuts.unheard)}")
    if cuts.links:
        said.append("one link is cut" if len(cuts.links) == 1 else f"{len(cuts.links)} links are cut")
    if cuts.in_heads:
        heads = len(cuts.in_heads)
        said.append("one head of a link is cut" if heads == 1 else f"{heads} heads of links are cut")
    told = " and ".join(said)
    return f"{told[0].upper()}{told[1:]}."


def _heard(forming: Forming) -> str:
    """Name the reason that a cut has shown: the watched token had heard the tokens or links that are cut now."""
    cuts = forming.cuts
    if cuts.links or cuts.in_heads:
        return "of the links that are cut now"
    if cuts.silent:
        every = cuts.silent | cuts.unheard
        return f"{_tokens(forming, every)} {'was' if len(every) == 1 else 'were'} heard"
    return f"{forming.name(forming.watched)} heard {_tokens(forming, cuts.unheard)}"


def _detour(forming: Forming) -> str:
    """Say that a token reached the watched one through other tokens, if cutting it off from that one changed little."""
    cuts = forming.cuts
    if len(cuts.silent) != 1 or cuts != Cuts(silent=cuts.silent):
        return ""
    alone = Forming.of(forming.before, forming.watched, Cuts(unheard=cuts.silent))
    if verdict(alone).matters:
        return ""
    only = forming.name(forming.watched)
    return f" When this token was cut off from {only} only, little changed: it came by a detour, through other tokens."


def _next_cut(forming: Forming) -> str:
    """Suggest another cut, after a cut that changed little."""
    if forming.cuts.silent:
        return "Cut another word."
    if len(forming.cuts.unheard) == 1:
        return f"Click {_tokens(forming, forming.cuts.unheard)} again: then no token hears it."
    return "Click a cut word again to hide it from every token." if forming.cuts.unheard else "Then try the whole word."


def _tokens(forming: Forming, tokens: frozenset[int]) -> str:
    return listed([forming.name(each) for each in sorted(tokens)])


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
