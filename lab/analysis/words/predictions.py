"""From a hidden state to a word: what a model predicts at one place, and each number on the way.

A masked-language model (Devlin et al. 2019, §3.1) is asked about tokens hidden behind [MASK]; a
language model (Radford et al. 2019, §2) about the token that comes next. The head is the same idea
in both: a logit for every word of the vocabulary, and a softmax over them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from lab.analysis.words.masking import mask_of, masked_run
from lab.models import forward
from lab.models.encoding import Encoding, word_of
from lab.models.memo import once
from lab.models.trace import Trace

if TYPE_CHECKING:
    from tokenizers import Tokenizer

Array = NDArray[np.float64]
# Logits of a whole vocabulary in memory at once: 16 of GPT-2's are 6 MB in float64.
_PLACES_AT_ONCE = 16


@dataclass(frozen=True)
class Candidate:
    """One word of the vocabulary as the answer at a place.

    ``logit`` is the head's score, ``exponential`` e to the logit (over the temperature) minus the
    largest one, ``probability`` its share of all exponentials, ``rank`` 1 for the most probable.
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

    ``truth`` is the id of the token that really stands there, or None where nobody knows: behind a
    [MASK] that the learner typed, after the last token. Numbers are float64: a probability and the
    quotient written out beside it then agree to more digits than a page shows.
    """

    place: int
    truth: int | None
    logits: Array  # (vocabulary,)
    temperature: float = 1.0

    @cached_property
    def scaled(self) -> Array:
        """(vocabulary,), the logits over the temperature."""
        return self.logits / self.temperature

    @cached_property
    def exponentials(self) -> Array:
        """(vocabulary,), e^(scaled - largest): the largest is 1, so none overflows."""
        return np.exp(self.scaled - self.scaled.max())

    @property
    def largest(self) -> float:
        """The largest scaled logit."""
        return float(self.scaled.max())

    @property
    def total(self) -> float:
        """The sum of the exponentials: the softmax's divisor."""
        return float(self.exponentials.sum())

    @cached_property
    def probabilities(self) -> Array:
        """(vocabulary,), they sum to 1."""
        return self.exponentials / self.exponentials.sum()

    @cached_property
    def order(self) -> NDArray[np.intp]:
        """(vocabulary,), ids by probability, the best first; of equal ones the lower id."""
        return np.argsort(-self.logits, kind="stable")

    def best(self, k: int) -> tuple[int, ...]:
        """The first ``k`` of them."""
        return tuple(self.order[:k].tolist())

    def rank(self, token_id: int) -> int:
        """1 plus the number of words with a larger logit."""
        return 1 + int(np.searchsorted(self._rising, -self.logits[token_id]))

    @cached_property
    def _rising(self) -> Array:
        return -self.logits[self.order]

    def at(self, temperature: float) -> Prediction:
        """These logits under another temperature; 1 is the model's own distribution.

        Raises ValueError unless the temperature is positive.
        """
        if not temperature > 0:
            raise ValueError(f"the temperature must be positive, not {temperature}.")
        return self if temperature == self.temperature else Prediction(self.place, self.truth, self.logits, temperature)


@dataclass(frozen=True, eq=False)
class HeadSteps:
    """The way from one hidden state to its logits; steps a family lacks are None.

    BERT: hidden state -> dense -> activation -> LayerNorm. GPT-2: last residual -> final LayerNorm. ModernBERT takes
    BERT's steps from where GPT-2's end.
    ``normed`` meets every word's embedding: logit = normed · embedding (+ bias).
    """

    hidden: Array  # (d,)
    dense: Array | None  # (d,)
    activation: Array | None  # (d,)
    normed: Array  # (d,)


@dataclass(frozen=True)
class LogitParts:
    """A logit taken apart: the dot product with the word's embedding, and the word's own bias."""

    token_id: int
    product: float
    bias: float

    @property
    def logit(self) -> float:
        return self.product + self.bias


@dataclass(frozen=True)
class Restored:
    """How well a model restores the token at one place: the probability it gives the true one."""

    place: int
    word: str
    probability: float
    rank: int


def predictions(trace: Trace, places: Sequence[int], truths: Sequence[int | None]) -> tuple[Prediction, ...]:
    """What the model predicts at ``places``; only these are multiplied with the vocabulary.

    Raises ValueError for a model without a vocabulary head.
    """
    logits = trace.logits(places).numpy().astype(np.float64)
    return tuple(Prediction(place, truth, row) for place, truth, row in zip(places, truths, logits, strict=True))


@once
def prediction_at(trace: Trace, place: int, truth: int | None) -> Prediction:
    """What a run predicts at one place."""
    return predictions(trace, [place], [truth])[0]


def masked_prediction(trace: Trace, plain: Encoding, place: int) -> Prediction:
    """The prediction at ``place`` of a trace with hidden tokens; ``plain`` is the text before hiding."""
    mask, there = mask_of(trace.model.tokenizer), plain.token_ids[place]
    return prediction_at(trace, place, None if mask is not None and there == mask[1] else there)


def next_prediction(trace: Trace, place: int) -> Prediction:
    """What a language model predicts after the token at ``place``."""
    following = trace.token_ids[place + 1] if place + 1 < len(trace) else None
    return prediction_at(trace, place, following)


def candidate(prediction: Prediction, token_id: int, tokenizer: Tokenizer) -> Candidate:
    """One word's numbers at this place."""
    return Candidate(
        token_id,
        word_of(tokenizer, token_id),
        float(prediction.logits[token_id]),
        float(prediction.exponentials[token_id]),
        float(prediction.probabilities[token_id]),
        prediction.rank(token_id),
    )


def candidates(prediction: Prediction, k: int, tokenizer: Tokenizer) -> tuple[Candidate, ...]:
    """The ``k`` most probable words, the best first."""
    return tuple(candidate(prediction, i, tokenizer) for i in prediction.best(k))


@dataclass(frozen=True, eq=False)
class Likeliest:
    """The k most probable words at every place: ids and probabilities, each (n, k), the best first."""

    ids: NDArray[np.intp]
    probabilities: Array


@once
def likeliest(trace: Trace, k: int) -> Likeliest:
    """The ``k`` most probable words at every place of the text as it stands, a few places at a time.

    Raises ValueError for a model without a vocabulary head.
    """
    ids, values = [], []
    for start in range(0, len(trace), _PLACES_AT_ONCE):
        places = range(start, min(start + _PLACES_AT_ONCE, len(trace)))
        for found in predictions(trace, places, [None] * len(places)):
            best = found.order[:k]
            ids.append(best)
            values.append(found.probabilities[best])
    return Likeliest(np.stack(ids), np.stack(values))


def rest(prediction: Prediction, shown: Sequence[int]) -> float:
    """The sum of the exponentials of all words but the ones ``shown``."""
    others = np.ones(len(prediction.logits), dtype=bool)
    others[list(shown)] = False
    return float(prediction.exponentials[others].sum())


def true_word(prediction: Prediction, tokenizer: Tokenizer) -> Candidate | None:
    """The word that really stands there, or None where nobody knows."""
    return None if prediction.truth is None else candidate(prediction, prediction.truth, tokenizer)


def restored(prediction: Prediction, tokenizer: Tokenizer) -> Restored:
    """How probable the true word is at this place. Raises ValueError where there is none."""
    truth = true_word(prediction, tokenizer)
    if truth is None:
        raise ValueError(f"place {prediction.place}: nobody knows the word that stands there.")
    return Restored(prediction.place, truth.word, truth.probability, truth.rank)


@torch.inference_mode()
@once
def restored_words(trace: Trace, places: tuple[int, ...]) -> tuple[Restored, ...]:
    """How probable each of these words is when it alone is hidden: one run a word."""
    runs = {place: masked_run(trace, (place,)) for place in places}
    found = [masked_prediction(run, trace.encoding, place) for place, run in runs.items()]
    return tuple(restored(each, trace.model.tokenizer) for each in found)


def head_steps(trace: Trace, place: int) -> HeadSteps:
    """The vectors between the hidden state at ``place`` and its logits.

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
    """The logits of a few words, each as a dot product plus a bias (0 where the head has none)."""
    head = trace.model.vocabulary_head
    rows = list(token_ids)
    products = _array(head.decoder[rows]) @ steps.normed
    biases = np.zeros(len(rows)) if head.bias is None else _array(head.bias[rows])
    return tuple(LogitParts(i, float(p), float(b)) for i, p, b in zip(token_ids, products, biases, strict=True))


def follows(trace: Trace) -> float:
    """The probability that the second text follows the first (Devlin et al. 2019, §3.1, task 2).

    Raises ValueError for a model without a next-sentence head.
    """
    logits = _array(trace.pair_logits)
    exponentials = np.exp(logits - logits.max())
    return float(exponentials[0] / exponentials.sum())


def _array(tensor: torch.Tensor) -> Array:
    return tensor.numpy().astype(np.float64)
