"""The story of the course, measured: how the model comes to say *paris* in *The capital of France is ▢.*

The story was found in this sentence. Here, each of its claims is tested on all countries whose name and capital are one
token each: where heads look; what is left if heads are removed or words are cut off; what the answer is if heads bring,
or a token's state says, what they do in another country's sentence (Meng et al. 2022, §2; Geva et al. 2023).
Other sentences with the same words show where the story ends.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from lab.analysis.flow.cuts import Cuts, Way, cut_run
from lab.evidence import shipped
from lab.evidence.measurement import Measurement
from lab.evidence.tables import APART
from lab.models.batches import ProgressFunction, unwatched
from lab.models.encoding import BLANK
from lab.models.interventions import Head, Interventions, Patch
from lab.models.trace import Trace, swaps, trace, trace_encoding

if TYPE_CHECKING:
    from lab.models.loading import LoadedModel

SENTENCE = f"The capital of {{}} is {BLANK}."
COUNTRY, RIVAL = ("France", "Paris"), ("Russia", "Moscow")
# The words at which heads look from the blank; "country" is the country of the sentence.
WORDS = ("is", "capital", "country")
# A head looks at a word if it gives the word at least this share of the blank's attention.
LEAST = 0.4
# Pairs of countries whose states are exchanged, drawn from all pairs; each pair takes 21 runs.
PATCHED_PAIRS = 200
TOP = 4  # the most probable words that are kept for a run
_DATA = Path(__file__).parent / "data" / "capitals.txt"

# Sentences and the word at which the heads of the country should look, if the story is more than one sentence.
OTHERS = (
    (f"She lives in France. The capital is {BLANK}.", "", "france"),
    ("She lives in France.", f"The capital is {BLANK}.", "france"),
    ("She has lived in France for years.", f"Her city is {BLANK}.", "france"),
    (f"The language of France is {BLANK}.", "", "france"),
    (f"Paris is the capital of {BLANK}.", "", "paris"),
    (f"The capital of France is not {BLANK}.", "", "france"),
    (f"The old capital of the large country of France is {BLANK}.", "", "france"),
    (f"They moved to Japan. Now they live in {BLANK}.", "", "japan"),
    (f"The capital of Italy is {BLANK}.", "", "italy"),
    (f"Marie was born in France, so she speaks {BLANK}.", "", "france"),
    (f"France has a capital called {BLANK}.", "", "france"),
)


@dataclass(frozen=True)
class WordLook:
    """A head that looks from the blank at one of :data:`WORDS` in the sentence about France; counted from 0."""

    word: str
    layer: int
    head: int
    weight: float


@dataclass(frozen=True)
class CountryRow:
    """The plain run of a country's sentence.

    ``probability`` is the capital's, ``best`` the most probable word; ``weights`` are the shares that the heads of
    :attr:`CourseStory.looks`, in their order, give to the same word here. ``resting`` is, for each head that looks at
    the country, the least share that a row of the other words and the full stop gives to [CLS] and [SEP] together.
    """

    country: str
    capital: str
    probability: float
    best: str
    weights: tuple[float, ...]
    resting: tuple[float, ...]


@dataclass(frozen=True)
class RemovedRow:
    """A country's run with heads removed or a word cut off: the capital's probability and the most probable word."""

    change: str
    country: str
    probability: float
    best: str


@dataclass(frozen=True)
class ExchangedRow:
    """Runs into which something was put from the sentence about another country, over pairs of countries.

    ``after`` is the layer after which a state was exchanged, 0 for the embeddings, or −1 for what heads bring. ``own``
    and ``other`` count the pairs in which the sentence's own capital, or the other country's, is the most probable
    word. ``share`` is the median, over the pairs, of the other capital's probability as a share of its probability in
    its own sentence, and ``left`` that of the own capital.
    """

    change: str
    after: int
    pairs: int
    own: int
    other: int
    left: float
    share: float


@dataclass(frozen=True)
class SaidRow:
    """The most probable words of a changed run of the sentence about France, with their probabilities."""

    change: str
    words: tuple[str, ...]
    probabilities: tuple[float, ...]


@dataclass(frozen=True)
class OtherRow:
    """The run of another sentence: its most probable words, and what the country's heads give to ``word``."""

    text: str
    pair: str
    word: str
    weights: tuple[float, ...]
    words: tuple[str, ...]
    probabilities: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class CourseStory:
    """The claims of the course's story; heads and layers count from 0."""

    looks: tuple[WordLook, ...]
    countries: tuple[CountryRow, ...]
    removed: tuple[RemovedRow, ...]
    exchanged: tuple[ExchangedRow, ...]
    said: tuple[SaidRow, ...]
    others: tuple[OtherRow, ...]
    made: shipped.Provenance | None = field(default=None, metadata=APART)

    @property
    def named(self) -> tuple[CountryRow, ...]:
        """The countries whose capital is the model's most probable word."""
        return tuple(row for row in self.countries if row.best == row.capital.lower())

    def change(self, name: str, after: int = -1) -> ExchangedRow:
        """Return the row of an exchange. Raises KeyError for a name that there is not."""
        return {(row.change, row.after): row for row in self.exchanged}[name, after]

    def first_after(self, change: str) -> int:
        """Return in how many of the :attr:`named` countries the capital is still the most probable word."""
        rows = {row.country: row for row in self.removed if row.change == change}
        return sum(rows[row.country].best == row.capital.lower() for row in self.named)


@dataclass(frozen=True, eq=False)
class CapitalAsked:
    """The plain run of a country's sentence, and the capital's token; ``p`` holds the probabilities of all words."""

    country: str
    capital: str
    run: Trace
    capital_id: int
    p: Tensor

    @property
    def blank(self) -> int:
        return place_of_blank(self.run)

    def place(self, word: str) -> int:
        """Return the token, from 0, of one of :data:`WORDS`."""
        return place_of(self.run, self.country if word == "country" else word)

    @property
    def known(self) -> bool:
        return int(self.p.argmax()) == self.capital_id


# Makes the changes to the run of a country's sentence, from the run of another country's.
Exchange = Callable[[CapitalAsked, CapitalAsked], Interventions]


def place_of_blank(run: Trace) -> int:
    """Return the place of the mask token, from 0."""
    assert run.model.mask is not None
    return run.token_ids.index(run.model.mask[1])


def place_of(run: Trace, word: str) -> int:
    """Return the place of a word that is one token, from 0."""
    return [label.lower() for label in run.labels].index(word.lower())


def run_of(model: LoadedModel, text: str, pair: str = "") -> Trace:
    """Run a text in which :data:`BLANK` is the model's mask token."""
    mask = model.mask
    if mask is None:
        raise ValueError("It has no token that hides a word.")
    return trace(model, text.replace(BLANK, mask[0]), pair.replace(BLANK, mask[0]) or None)


def probabilities(run: Trace) -> Tensor:
    """Return the probability of each word in the blank, (vocabulary,)."""
    return run.logits(place_of_blank(run))[0].double().softmax(-1)


def asked_about(model: LoadedModel, country: str, capital: str) -> CapitalAsked | None:
    """Return a country's plain run; None if the country or the capital is not one token of the model."""
    names = [model.tokenizer.encode(name, add_special_tokens=False).ids for name in (country, capital)]
    if any(len(ids) != 1 for ids in names):
        return None
    run = run_of(model, SENTENCE.format(country))
    return CapitalAsked(country, capital, run, names[1][0], probabilities(run))


def capitals() -> list[tuple[str, str]]:
    """Return the countries and their capitals: the fixed list of ``data/capitals.txt``."""
    return [(country, capital) for country, capital in map(str.split, _DATA.read_text("utf-8").splitlines())]


def looks_of(france: CapitalAsked) -> tuple[WordLook, ...]:
    """Return the heads that look from the blank at a word of the sentence: at least :data:`LEAST` of their row."""
    rows = france.run.attention[:, :, france.blank]
    return tuple(
        WordLook(word, layer, head, float(rows[layer, head, france.place(word)]))
        for word in WORDS
        for layer, head in (rows[..., france.place(word)] >= LEAST).nonzero().tolist()
    )


def heads_at(looks: Iterable[WordLook], word: str) -> frozenset[Head]:
    """Return the heads that look at one of :data:`WORDS`, as (layer, head)."""
    return frozenset((look.layer, look.head) for look in looks if look.word == word)


def removals(asked: CapitalAsked, looks: Iterable[WordLook]) -> Iterator[tuple[str, Trace]]:
    """Yield runs of a sentence with the heads of a word removed or with a word cut off, each with its name."""
    chosen = tuple(looks)
    for word in WORDS:
        heads, place = heads_at(chosen, word), asked.place(word)
        links = frozenset((*head, asked.blank, place) for head in heads)
        for way, changes in (
            ("at zero", Interventions(zero_heads=heads)),
            ("at their mean", Interventions(mean_heads=heads)),
            ("link cut", Interventions(blocked_in_heads=links)),
        ):
            yield f"heads at {word}, {way}", changed(asked.run, changes)
        yield from cut_off(asked, word, place)


def without_network(asked: CapitalAsked) -> tuple[str, Trace]:
    """Return the run with all neurons of the last layer at zero, with its name."""
    config = asked.run.model.config
    neurons = frozenset((config.layers - 1, neuron) for neuron in range(config.ffn_width))
    return "network of the last layer at zero", changed(asked.run, Interventions(zero_neurons=neurons))


def cut_off(asked: CapitalAsked, word: str, place: int) -> Iterator[tuple[str, Trace]]:
    """Yield the runs in which a token is cut off from the blank, and from everybody."""
    for said, way in (("the blank", Way.DIRECT), ("everybody", Way.BOTH)):
        yield f"{word} cut off from {said}", cut_run(asked.run, asked.blank, Cuts(((place, way),)))


def changed(run: Trace, changes: Interventions) -> Trace:
    """Run the tokens of a plain run with ``changes``."""
    return trace_encoding(run.model, run.encoding, changes)


def brought(heads: Iterable[Head]) -> Exchange:
    """Return the exchange of what ``heads`` bring to the blank."""

    def changes(own: CapitalAsked, other: CapitalAsked) -> Interventions:
        return Interventions(swaps=swaps(other.run, heads, own.blank, other.blank))

    return changes


def states(which: str, after: int) -> Exchange:
    """Return the exchange of the states of the country, the blank, or the other tokens after a layer."""

    def changes(own: CapitalAsked, other: CapitalAsked) -> Interventions:
        named = {"country": {own.place("country")}, "blank": {own.blank}}
        places = named.get(which, set(range(len(own.run))) - set().union(*named.values()))
        taken = other.run.hidden_states[after]
        return Interventions(patches=tuple(Patch(after, place, taken[place]) for place in sorted(places)))

    return changes


def other_heads(model: LoadedModel, heads: frozenset[Head]) -> frozenset[Head]:
    """Return all other heads of the layers of ``heads``."""
    layers = {layer for layer, _ in heads}
    return frozenset((layer, head) for layer in layers for head in range(model.config.heads)) - heads


def _exchanged(
    change: str,
    after: int,
    pairs: Iterable[tuple[CapitalAsked, CapitalAsked]],
    make: Exchange,
) -> ExchangedRow:
    firsts, shares = [], []
    for own, other in pairs:
        p = probabilities(changed(own.run, make(own, other)))
        firsts.append([int(p.argmax()) == asked.capital_id for asked in (own, other)])
        shares.append([float(p[asked.capital_id] / asked.p[asked.capital_id]) for asked in (own, other)])
    own_first, other_first = np.sum(firsts, axis=0).tolist()
    left, share = np.median(shares, axis=0).tolist()
    return ExchangedRow(change, after, len(firsts), own_first, other_first, left, share)


def said(change: str, run: Trace) -> SaidRow:
    """Return the most probable words of a run."""
    top = probabilities(run).topk(TOP)
    words = tuple(str(run.model.tokenizer.id_to_token(token)) for token in top.indices.tolist())
    return SaidRow(change, words, tuple(top.values.tolist()))


def _of_france(france: CapitalAsked, rival: CapitalAsked, looks: tuple[WordLook, ...]) -> Iterator[SaidRow]:
    """Yield what the model says in changed runs of the sentence about France."""
    model, heads = france.run.model, heads_at(looks, "country")
    yield said("as it is", france.run)
    yield said("in the sentence about Russia", rival.run)
    for name, chosen in (("heads at country", heads), ("other heads of their layer", other_heads(model, heads))):
        yield said(f"{name}, from Russia", changed(france.run, brought(chosen)(france, rival)))
    for name, run in removals(france, looks):
        yield said(name, run)
    for place, label in enumerate(france.run.labels):
        if place not in {france.blank, *map(france.place, WORDS)}:
            for name, run in cut_off(france, label, place):
                yield said(name, run)
    yield said(*without_network(france))


def _of_other(model: LoadedModel, looks: tuple[WordLook, ...], text: str, pair: str, word: str) -> OtherRow:
    run = run_of(model, text, pair)
    blank, key, words = place_of_blank(run), place_of(run, word), said("", run)
    weights = tuple(
        float(run.layer(look.layer).attention[look.head, blank, key]) for look in looks if look.word == "country"
    )
    return OtherRow(text, pair, word, weights, words.words, words.probabilities)


def check(model: LoadedModel) -> None:
    """Raise ValueError, with the reason in a sentence, if ``model`` does not tell the story of France."""
    if model.config.causal or model.weights.vocabulary_head is None:
        raise ValueError("It does not fill blanks.")
    for named in (COUNTRY, RIVAL):
        found = asked_about(model, *named)
        if found is None or not found.known:
            raise ValueError(f"It does not say {named[1]} in the sentence “{SENTENCE.format(named[0])}”")
    if {look.word for look in looks_of(_required(model, COUNTRY))} != set(WORDS):
        raise ValueError(f"None of its heads gives {LEAST} of the blank’s attention to one of the words.")


def _required(model: LoadedModel, named: tuple[str, str]) -> CapitalAsked:
    found = asked_about(model, *named)
    assert found is not None  # check() has asked
    return found


def replicate(model: LoadedModel, progress: ProgressFunction = unwatched) -> CourseStory:
    """Measure the story on ``model``, some minutes for a small model.

    ``progress`` receives the share done, 0 to 1; an exception it raises ends the run. Raises ValueError as
    :func:`check` does.
    """
    check(model)
    asked = [found for named in capitals() if (found := asked_about(model, *named)) is not None]
    france, rival = (_required(model, named) for named in (COUNTRY, RIVAL))
    looks = looks_of(france)
    known = [each for each in asked if each.known]
    removed = [
        _removed_row(name, each, run) for each in known for name, run in (*removals(each, looks), without_network(each))
    ]
    progress(0.1)
    return CourseStory(
        looks,
        tuple(_country_row(each, looks) for each in asked),
        tuple(removed),
        tuple(_exchanges(model, known, heads_at(looks, "country"), lambda done: progress(0.1 + 0.9 * done))),
        tuple(_of_france(france, rival, looks)),
        tuple(_of_other(model, looks, *each) for each in OTHERS),
    )


def _country_row(asked: CapitalAsked, looks: tuple[WordLook, ...]) -> CountryRow:
    weights = tuple(
        float(asked.run.layer(look.layer).attention[look.head, asked.blank, asked.place(look.word)]) for look in looks
    )
    resting = tuple(_resting(asked, look) for look in looks if look.word == "country")
    best = _best(asked.run, asked.p)
    return CountryRow(asked.country, asked.capital, float(asked.p[asked.capital_id]), best, weights, resting)


def _resting(asked: CapitalAsked, look: WordLook) -> float:
    special = torch.tensor(asked.run.encoding.special)
    special[asked.blank] = False  # the mask is a special token, too
    rows = [place for place in range(len(asked.run)) if not special[place] and place != asked.blank]
    return float(asked.run.layer(look.layer).attention[look.head][rows][:, special].sum(-1).min())


def _removed_row(change: str, asked: CapitalAsked, run: Trace) -> RemovedRow:
    p = probabilities(run)
    return RemovedRow(change, asked.country, float(p[asked.capital_id]), _best(run, p))


def _best(run: Trace, p: Tensor) -> str:
    return str(run.model.tokenizer.id_to_token(int(p.argmax())))


def _exchanges(
    model: LoadedModel, known: list[CapitalAsked], heads: frozenset[Head], progress: ProgressFunction
) -> Iterator[ExchangedRow]:
    every = list(permutations(known, 2))
    drawn = np.random.default_rng(0).choice(len(every), size=min(PATCHED_PAIRS, len(every)), replace=False)
    few = [every[place] for place in sorted(drawn.tolist())]
    changes: Mapping[str, frozenset[Head]] = {
        "heads at country": heads,
        "other heads of their layer": other_heads(model, heads),
    }
    after = range(model.config.layers + 1)
    runs, done = len(every) * len(changes) + len(few) * 3 * len(after), 0
    for name, chosen in changes.items():
        yield _exchanged(name, -1, every, brought(chosen))
        progress((done := done + len(every)) / runs)
    for which in ("country", "blank", "other tokens"):
        for layer in after:
            yield _exchanged(which, layer, few, states(which, layer))
            progress((done := done + len(few)) / runs)


def data_hash() -> str:
    """Return the hash of the countries and sentences."""
    return hashlib.sha256(repr((capitals(), SENTENCE, OTHERS, PATCHED_PAIRS)).encode()).hexdigest()


MEASUREMENT = Measurement("story", __name__, CourseStory, replicate, data_hash, check)
known = MEASUREMENT.known
