"""Measure a model's preference between two words at a place, with all heads and with each head switched off."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from lab.models import forward
from lab.models.ablation import ablate_each_head
from lab.models.memo import once
from lab.models.trace import Trace, outputs


@dataclass(frozen=True, eq=False)
class Preferred:
    """The preference for the first of two words: its share of the probability of both words.

    before    with all heads
    off       (L, H), with each head off, one at a time
    """

    before: float
    off: NDArray[np.float64]


@once
@torch.inference_mode()
def preferred(trace: Trace, place: int, words: tuple[int, int]) -> Preferred:
    """Return the share of the first of two ``words`` (token ids) at ``place``, from 0, as :class:`Preferred`.

    P(first) / (P(first) + P(second)) is the sigmoid of the difference of their logits, so no softmax is needed.

    Raises
    ------
    ValueError
        If the model has no vocabulary head.
    """
    model = trace.model
    read = outputs(model, ablate_each_head(trace)[:, :, place])
    logits = forward.vocabulary_logits(read.flatten(0, 1), model.vocabulary_head, model.config)[:, list(words)].double()
    off = (logits[:, 0] - logits[:, 1]).sigmoid().unflatten(0, read.shape[:2]).numpy()
    first, second = trace.logits(place)[0][list(words)].double()
    return Preferred(float((first - second).sigmoid()), off)
