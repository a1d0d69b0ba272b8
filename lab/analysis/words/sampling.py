"""Draw a token from a next-token distribution: temperature, top-k, top-p, and the draw.

The order is Hugging Face's. The logits are divided by the temperature; the k most probable words are kept
(Fan et al. 2018, §5.4) and renormalised; of these, the fewest words whose probabilities reach p are kept (nucleus
sampling, Holtzman et al. 2020, §3.1) and renormalised; one of these words is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lab.analysis.words.predictions import Array, Prediction, next_prediction
from lab.models.cores import one_core
from lab.models.encoding import Encoding
from lab.models.loading import LoadedModel
from lab.models.trace import trace_encoding

LEAST_TEMPERATURE = 0.01
# Tolerance, because a sum of probabilities that should be exactly p may be too small by rounding.
_ROUNDING = 1e-12
_END_OF_TEXT = "<|endoftext|>"


@dataclass(frozen=True)
class SamplingSettings:
    """The settings for drawing the next token; the default draws from the model's own distribution.

    Raises ValueError for a temperature below 0.01 or not finite, ``top_k`` below 1, or ``top_p``
    outside (0, 1]. Temperature 0, at which always the most probable token is drawn, is refused: use ``top_k`` 1.
    """

    temperature: float = 1.0
    top_k: int | None = None  # None keeps every word
    top_p: float = 1.0  # 1 keeps every word

    def __post_init__(self) -> None:
        if not LEAST_TEMPERATURE <= self.temperature < float("inf"):
            raise ValueError(
                f"the temperature must be at least {LEAST_TEMPERATURE}, not {self.temperature}; "
                "top_k = 1 always takes the most probable token."
            )
        if self.top_k is not None and self.top_k < 1:
            raise ValueError(f"top_k must keep at least 1 word, not {self.top_k}.")
        if not 0 < self.top_p <= 1:
            raise ValueError(f"top_p must be above 0 and at most 1, not {self.top_p}.")


@dataclass(frozen=True, eq=False)
class Sampling:
    """One distribution and the steps to a draw; each array is (vocabulary,).

    order          ids from the most to the least probable; if probabilities are equal, the lower id first
    probabilities  probabilities after the temperature, sum 1
    by_top_k       True for a word that top-k keeps
    by_top_p       True for a word that top-k and then top-p keep: at least one
    shares         probabilities of the kept words, renormalised; 0 for the others, sum 1
    """

    order: NDArray[np.int64]
    probabilities: Array
    by_top_k: NDArray[np.bool_]
    by_top_p: NDArray[np.bool_]
    shares: Array

    @cached_property
    def kept(self) -> NDArray[np.int64]:
        """Ids of the words kept in the end, the most probable first."""
        return self.order[self.by_top_p[self.order]]

    def drawn(self, number: float) -> int:
        """Return the token whose share contains ``number`` in [0, 1), along which the shares follow, largest first.

        Raises ValueError for a number outside [0, 1).
        """
        if not 0 <= number < 1:
            raise ValueError(f"the number drawn must be from 0 to below 1, not {number}.")
        ends = self.shares[self.kept].cumsum()
        place = int(np.searchsorted(ends, number, side="right"))
        return int(self.kept[min(place, len(self.kept) - 1)])  # because of rounding, the last share may end below 1


@dataclass(frozen=True, eq=False)
class Continuation:
    """One drawn token: its distribution, the random number, its id, and the text drawn so far.

    ``encoding`` ends with the drawn token; every drawn token has an empty span at the text's end.
    """

    sampling: Sampling
    number: float
    token_id: int
    drawn: str
    encoding: Encoding


def sample(prediction: Prediction, settings: SamplingSettings) -> Sampling:
    """Apply the settings to a next-token prediction, step by step."""
    probabilities = prediction.at(settings.temperature).probabilities
    # Sort by the logits, because a low temperature rounds small probabilities to 0 and would lose their order.
    order = np.argsort(-prediction.logits, kind="stable")
    by_top_k = np.zeros(len(order), dtype=bool)
    by_top_k[order[: settings.top_k]] = True
    by_top_p = by_top_k.copy()
    if settings.top_p < 1:
        ranked = probabilities[order] * by_top_k[order] / probabilities[by_top_k].sum()
        before = np.concatenate([[0.0], ranked.cumsum()[:-1]])
        # Keep the word with which the sum reaches p; drop a word if the words before it already reach p.
        reached = before >= settings.top_p - _ROUNDING
        reached[0] = False
        by_top_p[order[reached]] = False
    shares = np.where(by_top_p, probabilities, 0.0)
    return Sampling(order, probabilities, by_top_k, by_top_p, shares / shares.sum())


def begun(encoding: Encoding, count: int) -> Encoding:
    """Return the first ``count`` tokens of ``encoding``. Raises ValueError if ``count`` is below 1 or too large."""
    if not 0 < count <= len(encoding):
        raise ValueError(f"there are {len(encoding)} tokens; {count} cannot be the first of them.")
    per_token = ("tokens", "token_ids", "segment_ids", "offsets", "word_ids", "in_pair", "special")
    return replace(encoding, **{name: getattr(encoding, name)[:count] for name in per_token})


def continue_text(
    model: LoadedModel, encoding: Encoding, steps: int, settings: SamplingSettings, seed: int
) -> Iterator[Continuation]:
    """Draw up to ``steps`` tokens after ``encoding``, one at a time; a seed always gives the same tokens.

    Ends early after the end-of-text token, or at the model's longest text. Raises
    ValueError at once for a model that is not causal.
    """
    if not model.config.causal:
        raise ValueError(f"{model.id} reads both directions: it was not trained to continue a text.")
    return _continued(model, encoding, steps, settings, np.random.default_rng(seed))


def _continued(
    model: LoadedModel, encoding: Encoding, steps: int, settings: SamplingSettings, random: np.random.Generator
) -> Iterator[Continuation]:
    start, end = len(encoding), model.tokenizer.token_to_id(_END_OF_TEXT)
    for _ in range(min(steps, model.config.max_tokens - start)):
        with one_core():  # let other visitors compute between two tokens
            run = trace_encoding(model, encoding)
            sampling = sample(next_prediction(run, len(run) - 1), settings)
        number = float(random.random())
        token_id = sampling.drawn(number)
        encoding = _longer(encoding, model.tokenizer.id_to_token(token_id) or "", token_id)
        drawn = model.tokenizer.decode(list(encoding.token_ids[start:]), skip_special_tokens=False)
        yield Continuation(sampling, number, token_id, drawn, encoding)
        if token_id == end:
            return


def _longer(encoding: Encoding, token: str, token_id: int) -> Encoding:
    at_end = len(encoding.pair if encoding.in_pair[-1] and encoding.pair else encoding.text)
    return replace(
        encoding,
        tokens=(*encoding.tokens, token),
        token_ids=(*encoding.token_ids, token_id),
        segment_ids=(*encoding.segment_ids, encoding.segment_ids[-1]),
        offsets=(*encoding.offsets, (at_end, at_end)),
        word_ids=(*encoding.word_ids, None),
        in_pair=(*encoding.in_pair, encoding.in_pair[-1]),
        special=(*encoding.special, False),
    )
