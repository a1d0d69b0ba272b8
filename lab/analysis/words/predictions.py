"""The way from a hidden state to a word: a model's prediction at one place, and all numbers that lead to the
prediction.

A masked-language model (Devlin et al. 2019, §3.1) predicts tokens hidden behind [MASK]; a
language model (Radford et al. 2019, §2) predicts the next token. The head works alike
in both: it gives a logit for every word of the vocabulary, and a softmax over the logits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from lab.models import forward
from lab.models.encoding import Encoding, word_of
from lab.models.memo import once
from lab.models.trace import Trace, trace

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from lab.models.loading import LoadedModel

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Candidate:
    """One word of the vocabulary as the answer at a place.

    ``logit`` is the head's score, ``exponential`` is e to the logit (divided by the temperature) minus the
    largest such number, ``probability`` is the exponential's share of all exponentials, ``rank`` is 1 for the most
    probable word.
    """

    token_id: int
    word: str
    logit: float
    exponential: float
    probability: float
    rank: int


@dataclass(frozen=True, eq=False)
class Prediction:
    """The logits of every word of the vocabulary at one place, and their softmax.

    ``truth`` is the id of the true token, or None if it is unknown: behind a
    [MASK] that the learner typed, or after the last token. Numbers are float64, so that a probability and the
    written-out quotient agree to more digits than a page shows.
    """

    place: int
    truth: int | None
    logits: Array  # (vocabulary,)
    temperature: float = 1.0

    @cached_property
    def scaled(self) -> Array:
        """The logits divided by the temperature, (vocabulary,)."""
        return self.logits / self.temperature

    @cached_property
    def exponentials(self) -> Array:
        """The exponentials e^(scaled - largest), (vocabulary,); the largest is 1, so none overflows."""
        return np.exp(self.scaled - self.scaled.max())

    @property
    def largest(self) -> float:
        """The largest scaled logit."""
        return float(self.scaled.max())

    @property
    def total(self) -> float:
        """The sum of the exponentials, which is the softmax's divisor."""
        return float(self.exponentials.sum())

    @cached_property
    def probabilities(self) -> Array:
        """The probabilities of all words, (vocabulary,), which sum to 1."""
        return self.exponentials / self.exponentials.sum()

    @cached_property
    def order(self) -> NDArray[np.intp]:
        """The ids sorted by probability, (vocabulary,), the best first.

        If probabilities are equal, the lower id first.
        """
        return np.argsort(-self.logits, kind="stable")

    def best(self, k: int) -> tuple[int, ...]:
        """Return the ids of the ``k`` most probable words, in the :attr:`order` of all, which need not be sorted."""
        k = min(k, len(self.logits))
        if k <= 0:
            return ()
        least = np.partition(self.logits, -k)[-k]
        among = np.flatnonzero(self.logits >= least)
        return tuple(among[np.argsort(-self.logits[among], kind="stable")][:k].tolist())

    def rank(self, token_id: int) -> int:
        """1 plus the number of words with a larger logit."""
        return 1 + int(np.searchsorted(self._rising, -self.logits[token_id]))

    @cached_property
    def _rising(self) -> Array:
        return -self.logits[self.order]

    def at(self, temperature: float) -> Prediction:
        """Return the prediction at another temperature; 1 is the model's own distribution.

        Raises ValueError unless the temperature is positive.
        """
        if not temperature > 0:
            raise ValueError(f"the temperature must be positive, not {temperature}.")
        return self if temperature == self.temperature else Prediction(self.place, self.truth, self.logits, temperature)


@dataclass(frozen=True, eq=False)
class HeadSteps:
    """The steps from one hidden state to its logits; steps that a family lacks are None.

    BERT: hidden state -> dense -> activation -> LayerNorm. GPT-2: last residual -> final LayerNorm. ModernBERT has
    GPT-2's steps, followed by BERT's.

    ``normed`` is multiplied with every word's embedding: logit = normed · embedding (+ bias).
    """

    hidden: Array  # (d,)
    dense: Array | None  # (d,)
    activation: Array | None  # (d,)
    normed: Array  # (d,)


@dataclass(frozen=True)
class LogitParts:
    """The parts of a logit: the dot product with the word's embedding, and the word's own bias."""

    token_id: int
    product: float
    bias: float

    @property
    def logit(self) -> float:
        return self.product + self.bias


def predictions(trace: Trace, places: Sequence[int], truths: Sequence[int | None]) -> tuple[Prediction, ...]:
    """The model's predictions at ``places``; only the vectors at these places are multiplied with the vocabulary.

    Raises ValueError for a model without a vocabulary head.
    """
    logits = trace.logits(places).numpy().astype(np.float64)
    return tuple(Prediction(place, truth, row) for place, truth, row in zip(places, truths, logits, strict=True))


@once
def prediction_at(trace: Trace, place: int, truth: int | None) -> Prediction:
    """Return a run's prediction at one place."""
    return predictions(trace, [place], [truth])[0]


def masked_prediction(trace: Trace, plain: Encoding, place: int) -> Prediction:
    """Return the prediction at ``place`` of a trace with hidden tokens; ``plain`` is the text before hiding."""
    mask, there = trace.model.mask, plain.token_ids[place]
    return prediction_at(trace, place, None if mask is not None and there == mask[1] else there)


def next_prediction(trace: Trace, place: int) -> Prediction:
    """Return a language model's prediction after the token at ``place``."""
    following = trace.token_ids[place + 1] if place + 1 < len(trace) else None
    return prediction_at(trace, place, following)


def candidate(prediction: Prediction, token_id: int, tokenizer: Tokenizer) -> Candidate:
    """Return one word's numbers in a prediction."""
    return Candidate(
        token_id,
        word_of(tokenizer, token_id),
        float(prediction.logits[token_id]),
        float(prediction.exponentials[token_id]),
        float(prediction.probabilities[token_id]),
        prediction.rank(token_id),
    )


def candidates(prediction: Prediction, k: int, tokenizer: Tokenizer) -> tuple[Candidate, ...]:
    """Return the ``k`` most probable words, the best first."""
    return tuple(candidate(prediction, i, tokenizer) for i in prediction.best(k))


@dataclass(frozen=True, eq=False)
class Likeliest:
    """The k most probable words in each of n predictions: their ids and probabilities, each (n, k), the best first."""

    ids: NDArray[np.intp]
    probabilities: Array


def rest(prediction: Prediction, shown: Sequence[int]) -> float:
    """Return the sum of the exponentials of all words that are not in ``shown``."""
    others = np.ones(len(prediction.logits), dtype=bool)
    others[list(shown)] = False
    return float(prediction.exponentials[others].sum())


def true_word(prediction: Prediction, tokenizer: Tokenizer) -> Candidate | None:
    """Return the true word at the place of a prediction, or None if it is unknown."""
    return None if prediction.truth is None else candidate(prediction, prediction.truth, tokenizer)


def head_steps(trace: Trace, place: int) -> HeadSteps:
    """Return the vectors between the hidden state at ``place`` and its logits.

    Raises ValueError for a model without a vocabulary head.
    """
    head, config = trace.model.vocabulary_head, trace.model.config
    if head.w is None or head.b is None or head.norm is None:
        return HeadSteps(_array(trace.hidden_states[-1][place]), None, None, _array(trace.output[place]))
    hidden = trace.output[place]
    dense = hidden @ head.w + head.b
    active = forward.activate(dense, head.activation)
    normed = forward.layer_norm(active, head.norm, config.norm_eps)
    return HeadSteps(_array(hidden), _array(dense), _array(active), _array(normed))


@torch.inference_mode()
def logit_parts(trace: Trace, steps: HeadSteps, token_ids: Sequence[int]) -> tuple[LogitParts, ...]:
    """Return the logits of a few words, each as a dot product plus a bias (0 if the head has no biases)."""
    head = trace.model.vocabulary_head
    rows = list(token_ids)
    products = _array(head.decoder[rows]) @ steps.normed
    biases = np.zeros(len(rows)) if head.bias is None else _array(head.bias[rows])
    return tuple(LogitParts(i, float(p), float(b)) for i, p, b in zip(token_ids, products, biases, strict=True))


def follows(trace: Trace) -> float:
    """Return the probability that the second text follows the first (Devlin et al. 2019, §3.1, task 2).

    Raises ValueError for a model without a next-sentence head.
    """
    logits = _array(trace.pair_logits)
    exponentials = np.exp(logits - logits.max())
    return float(exponentials[0] / exponentials.sum())


def _array(tensor: torch.Tensor) -> Array:
    return tensor.numpy().astype(np.float64)


@dataclass(frozen=True)
class NextSentence:
    """The probability that the second text follows the first, for a pair in its order and with its texts swapped."""

    follows: float
    swapped: float


def why_not(run: Trace) -> str | None:
    """The reason why ``run`` has no next-sentence probability, for the learner; None if it has one."""
    if not run.model.pairs:
        return f"{run.model.id} came without a next-sentence head."
    if run.pair is None:
        return "There is no second sentence: next-sentence prediction compares two."
    return None


@once
def next_sentence(run: Trace) -> NextSentence | None:
    """Return the probabilities for both orders of a pair, from the pooled [CLS]; None if :func:`why_not` has a reason.

    Runs the model once more. Raises ValueError for a run with interventions, because interventions at
    tokens would apply to other tokens in the swapped text.
    """
    if why_not(run) is not None or run.pair is None:
        return None
    if not run.interventions.changes_nothing:
        raise ValueError("next_sentence compares plain runs; this one carries interventions.")
    other = trace(run.model, run.pair, run.text)
    return NextSentence(follows(run), follows(other))


@dataclass(frozen=True)
class PairsTried:
    """P(second follows first) for some pairs: as they are, swapped, and with the second text of the next pair."""

    follows: tuple[float, ...]
    swapped: tuple[float, ...]
    mixed: tuple[float, ...]


@once
def try_pairs(model: LoadedModel, pairs: tuple[tuple[str, str], ...]) -> PairsTried:
    """Run ``model``, which must have a next-sentence head, on each of ``pairs`` in three ways: see PairsTried."""
    seconds = [second for _, second in pairs]
    others = zip((first for first, _ in pairs), [*seconds[1:], seconds[0]], strict=True)
    swapped = ((second, first) for first, second in pairs)
    return PairsTried(*(tuple(follows(trace(model, *each)) for each in way) for way in (pairs, swapped, others)))
