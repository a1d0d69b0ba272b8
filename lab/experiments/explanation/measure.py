"""Is attention an explanation? Three claims about attention and predictions, tested against leave-one-out.

Jain & Wallace 2019; Wiegreffe & Pinter 2019; Abnar & Zuidema 2020. Nothing is chosen by its result, so the result uses
all texts and none is set aside.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from lab.analysis.heads.values import Values
from lab.analysis.ranks import kendall, partial_rank_correlation, rank_correlations
from lab.evidence import shipped
from lab.evidence.intervals import CLAIM_DRAWS, drawn_means, family_of
from lab.evidence.measurement import Measurement
from lab.evidence.pairs import can_be_asked
from lab.evidence.tables import APART, Single
from lab.evidence.treebank import ewt, ewt_hash
from lab.evidence.verdicts import ABNAR, Effect, Judged, TwinEffect, judge
from lab.experiments.explanation.methods import (
    ATTENTION,
    GRADIENT,
    NEAR,
    RARE,
    ROLLOUT,
    STEPS,
    AskedWord,
    Importance,
    ask,
    importance,
)
from lab.models.batches import ProgressFunction, unwatched
from lab.models.cores import on_every_core
from lab.models.memo import once
from lab.models.twin import untrained_twin

if TYPE_CHECKING:
    from lab.models.loading import LoadedModel

WEAK, TELLS, ROLLED = "weak", "tells", "rolled"


def upper(layers: int) -> slice:
    """Return the upper half of ``layers`` layers; the larger half if the number is odd."""
    return slice(layers // 2, layers)


# The smallest difference of two correlations that would count if nothing comparable was published.
BOUND = 0.1
_RAW, _ROLLED = (float(np.mean(line[upper(len(line))])) for line in ABNAR)
# The claims, each with the published difference of its two numbers; None if nobody published a comparable one. The
# numbers are correlations with leave-one-out: of gradients and attention (τ), of attention beyond nearness and rarity,
# compared with 0 (ρ), of rollout and raw attention in the upper layers (ρ).
CLAIMS: Mapping[str, float | None] = {WEAK: None, TELLS: None, ROLLED: _ROLLED - _RAW}


@dataclass(frozen=True, eq=False)
class OrderAgreement:
    """The agreement of each order with leave-one-out, text by text; 0 if either order has all tokens equal.

    Attributes
    ----------
    rho
        Spearman's ρ by method or control, (texts, layers), or (texts, 1) if the method has no layers.
    terms
        The two numbers of each claim, (texts, 2).
    """

    rho: Mapping[str, Single]
    terms: Mapping[str, Single]


def reading(each: Sequence[Importance]) -> OrderAgreement:
    """Return the agreement of every order with leave-one-out."""
    names = tuple(each[0].scores) if each else ()
    rho = {name: np.array([_rho(one, name) for one in each]) for name in names}
    terms = {name: np.array([term(one) for one in each]) for name, term in _TERMS.items()}
    return OrderAgreement(rho, terms)


def _rho(one: Importance, name: str) -> Values:
    """Spearman's ρ of a method with leave-one-out, (layers,), or (1,) if the method has no layers."""
    return rank_correlations([*one.sizes(name), np.abs(one.left_out)])[-1, :-1]


def beyond(one: Importance, name: str) -> float:
    """Spearman's ρ of a method's last layer with leave-one-out, with the influence of nearness and rarity removed."""
    controls = [one.scores[NEAR][0], one.scores[RARE][0]]
    return _known(partial_rank_correlation(one.sizes(name)[-1], np.abs(one.left_out), controls))


def _known(correlation: float) -> float:
    """Return the correlation, or 0 if it is nan, because an order in which all tokens are equal says nothing."""
    return float(np.nan_to_num(correlation))


def _weak(one: Importance) -> tuple[float, float]:
    first, second = (_known(kendall(one.sizes(name)[-1], np.abs(one.left_out))) for name in (GRADIENT, ATTENTION))
    return first, second


def _rolled(one: Importance) -> tuple[float, float]:
    first, second = (float(np.mean(_rho(one, name)[upper(len(one.scores[name]))])) for name in (ROLLOUT, ATTENTION))
    return first, second


_TERMS: Mapping[str, Callable[[Importance], tuple[float, float]]] = {
    WEAK: _weak,
    TELLS: lambda one: (beyond(one, ATTENTION), 0.0),
    ROLLED: _rolled,
}


# Number of texts, allowed lengths of their sentences in words, and the fewest tokens of a text to put in order.
TEXTS, WORDS, LEAST = 120, range(10, 25), 8


@dataclass(frozen=True, eq=False)
class ExplainedText:
    """One text: its sentence's number in the treebank, the hidden word (both from 0), and its tokens' importance."""

    sentence: int
    hidden: int
    importance: Importance


@dataclass(frozen=True)
class TestedOrderClaim:
    """One claim, its test and its effect.

    Attributes
    ----------
    claim
        The claim's id in :data:`CLAIMS`.
    first, second
        The means of the two numbers that are compared.
    twin
        The effect in the untrained twin.
    tested
        The effect with its interval (a bootstrap over texts), p-values and twin, as the verdict reads it.
    """

    claim: str
    first: float
    second: float
    twin: float
    tested: Effect

    @property
    def judged(self) -> Judged:
        """The verdict by :data:`lab.evidence.reasons.RULE`."""
        return judge(self.tested)


@dataclass(frozen=True, eq=False)
class ExplanationTest:
    """The experiment's result.

    ``twin`` is the untrained twin on the same texts; ``made`` is the provenance of a shipped result.
    """

    texts: tuple[ExplainedText, ...]
    twin: OrderAgreement
    made: shipped.Provenance | None = field(default=None, metadata=APART)

    @cached_property
    def own(self) -> OrderAgreement:
        """The agreement of the orders with leave-one-out in the model itself."""
        return reading([text.importance for text in self.texts])

    @cached_property
    def rows(self) -> tuple[TestedOrderClaim, ...]:
        """The claims, in their order."""
        own, twin = (
            np.stack([each.terms[name][:, 0] - each.terms[name][:, 1] for name in CLAIMS], axis=-1)
            for each in (self.own, self.twin)
        )
        drawn, twins = np.split(drawn_means(np.hstack([own, twin]), times=CLAIM_DRAWS), 2, axis=1)
        found, untrained, beyond = (family_of(each) for each in (drawn, twins, drawn - twins))

        def row(at: int, name: str) -> TestedOrderClaim:
            first, second = self.own.terms[name].mean(axis=0).tolist()
            low, high, p, below = (float(each[at]) for each in (found.low, found.high, found.p, found.p_below))
            ends = (float(each[at]) for each in (untrained.low, untrained.high, beyond.p, beyond.p_below))
            effect, beside = float(own[:, at].mean()), TwinEffect(*ends)
            tested = Effect(effect, low, high, p, below, len(own), CLAIMS[name], BOUND, beside)
            return TestedOrderClaim(name, first, second, float(twin[:, at].mean()), tested)

        return tuple(row(at, name) for at, name in enumerate(CLAIMS))


def check(model: LoadedModel) -> None:
    """Raise ValueError, with the reason in a sentence, if ``model`` cannot be tested."""
    can_be_asked(model)
    if not asked_texts(model):
        raise ValueError(f"The vocabulary of {model.id} has too few whole words for these sentences.")


@once
def asked_texts(model: LoadedModel) -> tuple[tuple[int, int, AskedWord], ...]:
    """:data:`TEXTS` random sentences of the treebank, each with one word to predict: (sentence, hidden, asked).

    The word consists of letters only, is one piece of the vocabulary, and leaves at least :data:`LEAST` tokens to put
    in order. All models that cut words into the same pieces get the same texts. If the vocabulary has too few such
    words, there are fewer texts.
    """
    rng, found = np.random.default_rng(0), []
    for number in rng.permutation(len(ewt())).tolist():
        words = ewt()[number].words
        places = rng.permutation(len(words)).tolist()
        if len(words) not in WORDS:
            continue
        read = ((place, ask(model, words, place)) for place in places if words[place].isalpha())
        fit = next(((place, asked) for place, asked in read if asked and len(asked.context) >= LEAST), None)
        if fit is not None:
            found.append((number, *fit))
        if len(found) == TEXTS:
            break
    return tuple(found)


def replicate(model: LoadedModel, progress: ProgressFunction = unwatched) -> ExplanationTest:
    """Run the experiment on ``model`` and on its untrained twin, which explains its own predictions.

    ``progress`` receives the share done, 0 to 1; an exception it raises ends the run. Raises ValueError
    as :func:`check` does.
    """
    check(model)
    twin, texts = untrained_twin(model), asked_texts(model)

    def both(text: tuple[int, int, AskedWord]) -> tuple[ExplainedText, Importance]:
        sentence, hidden, asked = text
        return ExplainedText(sentence, hidden, importance(model, asked)), importance(twin, asked, integrate=False)

    own, untrained = zip(*on_every_core(both, texts, lambda done: progress(done / len(texts))), strict=True)
    return ExplanationTest(own, reading(untrained))


def data_hash() -> str:
    """Hash of the treebank and of the settings that decide which texts are drawn and how they are measured."""
    decides = (ewt_hash(), TEXTS, WORDS, LEAST, STEPS)
    return hashlib.sha256(repr(decides).encode()).hexdigest()


MEASUREMENT = Measurement("explanation", __name__, ExplanationTest, replicate, data_hash, check, seconds=120)
known, result, again = MEASUREMENT.known, MEASUREMENT.result, MEASUREMENT.again
untestable = MEASUREMENT.untestable
