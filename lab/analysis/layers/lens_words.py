"""The likeliest words at one token after every layer, read with the lens in one go."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lab.analysis.layers.lens import guessed
from lab.models import forward
from lab.models.memo import once
from lab.models.trace import Trace, outputs


@dataclass(frozen=True, eq=False)
class LensWords:
    """The k likeliest words after the embeddings and after each of L layers, the best first.

    ids          (L+1, k), of the words
    probability  (L+1, k)
    """

    ids: NDArray[np.int64]
    probability: NDArray[np.float64]


@once
@torch.inference_mode()
def lens_words(trace: Trace, place: int, count: int, fitted: bool = False) -> LensWords:
    """Read the hidden state at ``place`` after every layer, as :func:`lab.analysis.layers.lens.lens_prediction` does.

    Raises ValueError for a model without a vocabulary head, or without a ``fitted`` lens.
    """
    states = guessed(trace, [place])[:, 0] if fitted else trace.hidden_states[:, place]
    logs = _logits(trace, states).double().log_softmax(-1)
    best = logs.topk(min(count, logs.shape[-1]), dim=-1)
    return LensWords(best.indices.numpy(), best.values.exp().numpy())


@torch.inference_mode()
def share_of(trace: Trace, place: int, word: int) -> float:
    """The probability that the model gives to the word with this id at ``place``."""
    return float(_logits(trace, trace.hidden_states[-1:, place]).double().softmax(-1)[0, word])


def _logits(trace: Trace, states: Tensor) -> Tensor:
    """(k, d) -> (k, vocabulary)."""
    return forward.vocabulary_logits(outputs(trace.model, states), trace.model.vocabulary_head, trace.model.config)
