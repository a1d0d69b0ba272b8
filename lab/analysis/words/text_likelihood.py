"""A model's probability of a text: one log-probability for each token, their sum, and the perplexity.

A causal model factors the text from left to right, so one pass gives log P(token | all tokens before)
for every token but the first. A masked-language model has no such order. Its pseudo-log-likelihood
hides each token in turn and adds up log P(token | all other tokens), one pass for each token (Wang & Cho 2019,
§3; Salazar et al. 2020, §2). The conditional probabilities need not belong to one joint
distribution, hence "pseudo": compare texts under one model, but never a causal model with a masked one.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch

from lab.analysis.words.masking import hide, maskable
from lab.analysis.words.predictions import Array, Prediction
from lab.models import forward
from lab.models.cores import alone
from lab.models.encoding import Encoding
from lab.models.loading import LoadedModel
from lab.models.memo import once
from lab.models.trace import Trace, inputs, outputs, trace_encoding

# The number of whole-vocabulary rows in memory at once; 64 rows of GPT-2's 50257 words take 26 MB in float64.
_ROWS_AT_ONCE = 64


@dataclass(frozen=True)
class TokenScore:
    """The model's score of the token at ``place``: its ``rank``, 1 if most probable; ``best`` is the best word's id."""

    place: int
    token_id: int
    log_probability: float  # in nats
    rank: int
    best: int

    @property
    def probability(self) -> float:
        return math.exp(self.log_probability)


@dataclass(frozen=True)
class Likelihood:
    """The tokens scored so far, in the order of the text; ``wanted`` is the number of tokens to score.

    ``pseudo`` is true if each token was hidden in turn (masked-language model). Special tokens and
    masks that the learner typed are not scored; in a causal model, the first token is not scored either.
    """

    pseudo: bool
    wanted: int
    scores: tuple[TokenScore, ...]

    @property
    def done(self) -> float:
        """The share of tokens scored, 0 to 1."""
        return len(self.scores) / self.wanted

    @property
    def finished(self) -> bool:
        return len(self.scores) >= self.wanted

    @property
    def total(self) -> float:
        """The sum of the log-probabilities, in nats: the (pseudo-)log-likelihood after all tokens are scored."""
        return math.fsum(score.log_probability for score in self.scores)

    @property
    def mean(self) -> float:
        """The mean log-probability of the tokens scored, in nats."""
        return self.total / len(self.scores)

    @property
    def perplexity(self) -> float:
        """exp(-mean): the number of equally probable words among which a guess would be as hard."""
        return math.exp(-self.mean)

    @cached_property
    def by_place(self) -> dict[int, TokenScore]:
        """The scores by the token's place; only scored places are included."""
        return {score.place: score for score in self.scores}


def scored_places(model: LoadedModel, encoding: Encoding) -> tuple[int, ...]:
    """The places (from 0) that :func:`likelihood` scores. Raises ValueError without a mask token or a causal mask."""
    if model.config.causal:
        return tuple(i for i in range(1, len(encoding)) if not encoding.special[i])
    return maskable(encoding, _mask(model)[1])


def likelihood(model: LoadedModel, encoding: Encoding, scored: Sequence[TokenScore] = ()) -> Iterator[Likelihood]:
    """Score ``encoding`` batch by batch; yields all scores so far after each batch.

    ``scored`` are the first scores of an earlier call that was stopped; only the rest is computed. A batch
    holds no more tokens than the model's longest text, so it takes no more memory than such a text; a page
    can stop between two batches. Raises ValueError at once for a model with neither a mask token nor a causal mask
    and for a text without a token to score; at the first batch for a model without a vocabulary head.
    """
    places = scored_places(model, encoding)
    if not places:
        raise ValueError("this text has no token to score: a causal model needs two, any other one that is no mask.")
    if tuple(score.place for score in scored) != places[: len(scored)]:
        raise ValueError("the scores to go on from are those of another text.")
    run = _left_to_right if model.config.causal else _each_hidden
    batches = run(model, encoding, places[len(scored) :])
    return _gathered(batches, encoding, Likelihood(not model.config.causal, len(places), tuple(scored)))


class Scoring:
    """The likelihood of a text in its current state; all visitors of the text share and continue one scoring."""

    def __init__(self) -> None:
        self.latest: Likelihood | None = None
        self._lock = threading.Lock()

    @property
    def finished(self) -> bool:
        return self.latest is not None and self.latest.finished

    @property
    def nbytes(self) -> int:
        """The most bytes that a long text's scores take."""
        return 100_000

    def step(self, trace: Trace) -> None:
        """Score the next batch of hidden tokens, or do the one pass that a causal model needs.

        ``trace`` is the run for which the scoring was made. Raises ValueError for a text without a token to score.
        """
        with alone(self._lock):
            if not self.finished:
                batches = likelihood(trace.model, trace.encoding, self.latest.scores if self.latest else ())
                for self.latest in batches:
                    if not trace.model.config.causal:
                        break


@once
def scoring(trace: Trace) -> Scoring:
    """Return the scores of this text's tokens, as far as they have been computed for any visitor."""
    return Scoring()


def scored(trace: Trace, count: int | None = None) -> Likelihood:
    """Compute the first ``count`` scores of a text, or all scores. Raises the errors of :func:`likelihood`."""
    found = scoring(trace)
    while found.latest is None or not (found.finished or len(found.latest.scores) >= (count or math.inf)):
        found.step(trace)
    return replace(found.latest, scores=found.latest.scores[:count])


def _gathered(
    batches: Iterator[tuple[Sequence[int], Array]], encoding: Encoding, found: Likelihood
) -> Iterator[Likelihood]:
    for places, logits in batches:
        new = tuple(
            _score(Prediction(place, None, row), encoding.token_ids[place])
            for place, row in zip(places, logits, strict=True)
        )
        found = replace(found, scores=found.scores + new)
        yield found


def _mask(model: LoadedModel) -> tuple[str, int]:
    mask = model.mask
    if mask is None:
        raise ValueError(model.no_words)
    return mask


def _score(prediction: Prediction, token_id: int) -> TokenScore:
    # Compute the log of the softmax directly, because a probability may be too small for a float.
    log_probability = prediction.scaled[token_id] - prediction.largest - math.log(prediction.total)
    best = int(np.argmax(prediction.logits))
    return TokenScore(prediction.place, token_id, float(log_probability), prediction.rank(token_id), best)


def _left_to_right(
    model: LoadedModel, encoding: Encoding, places: Sequence[int]
) -> Iterator[tuple[Sequence[int], Array]]:
    """Logits from one pass; the prediction of token i is at token i - 1."""
    run = trace_encoding(model, encoding)
    for start in range(0, len(places), _ROWS_AT_ONCE):
        here = places[start : start + _ROWS_AT_ONCE]
        yield here, run.logits([place - 1 for place in here]).numpy().astype(np.float64)


def _each_hidden(
    model: LoadedModel, encoding: Encoding, places: Sequence[int]
) -> Iterator[tuple[Sequence[int], Array]]:
    """Logits from one copy of the text for each place, with the token there hidden; several copies at once."""
    mask = _mask(model)
    at_once = max(1, min(_ROWS_AT_ONCE, model.config.max_tokens // len(encoding)))
    for start in range(0, len(places), at_once):
        here = places[start : start + at_once]
        yield here, _logits_of_hidden(model, [hide(encoding, [place], mask) for place in here], here)


@torch.inference_mode()
def _logits_of_hidden(model: LoadedModel, hidden: Sequence[Encoding], places: Sequence[int]) -> Array:
    """Return the logits of each of b encodings of equal length, each at its own place, (b, vocabulary)."""
    weights, config, head = model.weights, model.config, model.vocabulary_head
    ids, segments, positions = (torch.stack(each) for each in zip(*(inputs(model, one) for one in hidden), strict=True))
    x = forward.embed(ids, segments, positions, weights.embeddings, config.norm_eps).output
    for w in weights.layers:
        x = forward.run_layer(x, w, config).output
    read = outputs(model, x[torch.arange(len(places)), torch.tensor(places)])
    return forward.vocabulary_logits(read, head, config).numpy().astype(np.float64)
