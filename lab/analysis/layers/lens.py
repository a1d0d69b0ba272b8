"""The logit lens: the model's predictions if it stopped after each layer.

The model's own head reads every layer's hidden state, after GPT-2's final LayerNorm (nostalgebraist
2020, "interpreting GPT: the logit lens"). The head was trained on the last layer only, so an early
row contains only information already in the form of the last layer, not everything that the layer knows.

With ``fitted``, a map before the head guesses the last hidden state from the current one
(:mod:`lab.models.fitted_lens`; least squares, where Belrose et al. 2023 minimise the divergence from the output). An
early row then shows what this map can guess from the layer, which may be more than later layers use; where there is
little to guess, it reads one frequent token at every place. The last row is the model's own output either way. Every
function with this keyword raises ValueError if the model has no fitted lens.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lab.analysis.words.masking import is_hidden
from lab.analysis.words.predictions import Array, Likeliest, Prediction, predictions
from lab.models.config import CheckpointError
from lab.models.fitted_lens import FittedLens, fitted_lens, measured
from lab.models.memo import once
from lab.models.trace import Trace

# The number of whole-vocabulary rows in memory at once; 64 rows of GPT-2's 50257 words take 26 MB in float64.
_ROWS_AT_ONCE = 64


@dataclass(frozen=True, eq=False)
class LensRow:
    """The head's predictions from one hidden state at k places; ``layer`` 0 is the embeddings' output.

    best         (k,), id of the most probable word
    probability  (k,), probability of the most probable word
    rank         (k,), rank of the true token, 1 if it is the most probable; 0 if the true token is unknown
    entropy      (k,), entropy of the prediction as a share of ln(vocabulary): 0 certain, 1 all words alike
    """

    layer: int
    best: NDArray[np.int64]
    probability: Array
    rank: NDArray[np.int64]
    entropy: Array


@dataclass(frozen=True, eq=False)
class Lens:
    """All rows as grids (L+1, k); the last row is the model's own prediction, and the columns are ``places``."""

    places: tuple[int, ...]
    truths: tuple[int | None, ...]
    best: NDArray[np.int64]
    probability: Array
    rank: NDArray[np.int64]
    entropy: Array


def lens_rows(
    trace: Trace, places: Sequence[int], truths: Sequence[int | None], *, fitted: bool = False
) -> Iterator[LensRow]:
    """One row after each layer, from the embeddings up; a page can show each row and stop between two rows.

    ``truths`` are the ids of the true tokens at ``places`` (for a causal model, of the tokens after ``places``); None
    if unknown. Only the vectors at ``places`` are compared with the vocabulary, a few at a time. Raises ValueError at
    once without places or for a different number of truths; at the first row for a model without a vocabulary head.
    """
    if not places or len(places) != len(truths):
        raise ValueError(
            f"{len(places)} places and {len(truths)} truths: give one truth a place, and one place or more."
        )
    through = _lens_of(trace, fitted)
    return (_row(_stopped(trace, layer, through), layer, places, truths) for layer in range(len(trace.hidden_states)))


@once
def lens(trace: Trace, places: tuple[int, ...], truths: tuple[int | None, ...], *, fitted: bool = False) -> Lens:
    """Return every row of :func:`lens_rows` at once, with the same errors."""
    return stack(places, truths, list(lens_rows(trace, places, truths, fitted=fitted)))


def stack(places: Sequence[int], truths: Sequence[int | None], rows: Sequence[LensRow]) -> Lens:
    """Stack ``rows``, all of a lens or only the first few, into grids."""
    return Lens(
        tuple(places),
        tuple(truths),
        np.stack([row.best for row in rows]),
        np.stack([row.probability for row in rows]),
        np.stack([row.rank for row in rows]),
        np.stack([row.entropy for row in rows]),
    )


def lens_prediction(trace: Trace, layer: int, place: int, truth: int | None, *, fitted: bool = False) -> Prediction:
    """Compute one cell of the grid in full: the prediction from the hidden state at ``place`` after ``layer``."""
    return predictions(_stopped(trace, layer, _lens_of(trace, fitted)), [place], [truth])[0]


@torch.inference_mode()
def guessed(trace: Trace, places: Sequence[int]) -> Tensor:
    """Return the last hidden states at ``places`` as the fitted lens guesses them after each layer, (L+1, k, d).

    After the last layer, they are the model's own states. Raises ValueError if the model has no fitted lens.
    """
    through, states = _lens_of(trace, True), trace.hidden_states[:, list(places)]
    assert through is not None
    return torch.cat([states[:-1] @ through.w + through.b[:, None], states[-1:]])


@once
def likeliest_after(trace: Trace, place: int, k: int, *, fitted: bool = False) -> Likeliest:
    """The ``k`` most probable words at ``place`` after the embeddings and each layer, all rows (L+1, k) in one go.

    Raises ValueError for a model without a vocabulary head.
    """
    states = guessed(trace, [place])[:, 0] if fitted else trace.hidden_states[:, place]
    logs = replace(trace, hidden_states=states[None]).logits(range(len(states))).double().log_softmax(-1)
    best = logs.topk(min(k, logs.shape[-1]), dim=-1)
    return Likeliest(best.indices.numpy(), best.values.exp().numpy())


def first_read(trace: Trace, place: int, *, fitted: bool = False) -> int:
    """Return the first layer, from 1, after which a lens can read a word at ``place``.

    At a hidden word, or in a causal model, this is the first layer after which the lens is closer to the model's output
    than a guess without context, on held-out text. If no record has a measurement, this is layer 1: at the
    embeddings, a token has not heard the others yet.
    """
    record = None
    if trace.model.config.causal or is_hidden(trace, place):
        with suppress(CheckpointError):  # lesson 9 reports a damaged record
            record = measured(trace.model)
    return 1 if record is None else max(1, record.first_read(fitted))


def output_difference(trace: Trace, found: Lens) -> float:
    """Return the largest difference between the best probabilities of the last row and of the model's own output."""
    _, own, _, _ = _read(trace.logits(found.places), found.truths)
    return float(np.abs(found.probability[-1] - own).max())


@once
def lens_difference(
    trace: Trace, places: tuple[int, ...], truths: tuple[int | None, ...], *, fitted: bool = False
) -> float:
    """:func:`output_difference` of the lens at ``places``."""
    return output_difference(trace, lens(trace, places, truths, fitted=fitted))


def _lens_of(trace: Trace, fitted: bool) -> FittedLens | None:
    found = fitted_lens(trace.model) if fitted else None
    if fitted and found is None:
        raise ValueError(f"No lens was fitted for {trace.model.id}; read it with the plain one.")
    return found


@torch.inference_mode()
def _stopped(trace: Trace, layer: int, through: FittedLens | None) -> Trace:
    """Return a run that ends after ``layer``: the head (after GPT-2's LayerNorm) reads that layer's hidden state.

    With a fitted lens ``through``, the head instead reads the last hidden state as guessed from this state; after the
    model's last layer, nothing is guessed.
    """
    so_far = trace.hidden_states[: layer + 1]
    if through is None or layer == trace.model.config.layers:
        return replace(trace, hidden_states=so_far)
    return replace(trace, hidden_states=torch.cat([so_far[:-1], through.guess(so_far[-1:], layer)]))


@torch.inference_mode()
def _row(stopped: Trace, layer: int, places: Sequence[int], truths: Sequence[int | None]) -> LensRow:
    parts = []
    for start in range(0, len(places), _ROWS_AT_ONCE):
        here = slice(start, start + _ROWS_AT_ONCE)
        parts.append(_read(stopped.logits(places[here]), truths[here]))
    best, probability, rank, entropy = (np.concatenate(each) for each in zip(*parts, strict=True))
    return LensRow(layer, best, probability, rank, entropy)


def _read(logits: Tensor, truths: Sequence[int | None]) -> tuple[NDArray[np.int64], Array, NDArray[np.int64], Array]:
    """Return best word, its probability, the true token's rank and entropy, each (k,), from logits (k, vocabulary)."""
    logs = logits.double().log_softmax(-1)
    probabilities = logs.exp()
    # numpy's argmax takes the first of equal numbers, like Prediction.best; torch's argmax may take any of the equal
    # numbers.
    best = logits.numpy().argmax(axis=-1)
    known = torch.tensor([truth is not None for truth in truths])
    true = logits.gather(-1, torch.tensor([truth or 0 for truth in truths])[:, None])
    rank = (1 + (logits > true).sum(-1)) * known
    entropy = -(probabilities * logs).sum(-1) / math.log(logits.shape[-1])
    return best, probabilities.amax(-1).numpy(), rank.numpy(), entropy.numpy()
