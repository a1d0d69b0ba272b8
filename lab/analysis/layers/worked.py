"""Attention small enough for pencil and paper."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from lab.models.forward import attend, attention_scores, mask, mix_values, scale


@dataclass(frozen=True, eq=False)
class WorkedExample:
    """Whole-number queries, keys and values, (3, 2), and the results of the engine's own functions for them."""

    tokens: tuple[str, ...]
    query: Tensor
    key: Tensor
    value: Tensor
    scores: Tensor
    scaled: Tensor
    weights: Tensor
    context: Tensor


def worked_example() -> WorkedExample:
    """Return the example of the lesson, in which "sun" and "light" point the same way and "cold" points elsewhere."""
    query = torch.tensor([[2.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    key = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    value = torch.tensor([[4.0, 0.0], [0.0, 4.0], [2.0, 2.0]])
    scores = attention_scores(query, key)
    scaled = mask(scale(scores, 2), causal=False)
    weights = attend(scaled)
    context = mix_values(weights, value)
    return WorkedExample(("sun", "cold", "light"), query, key, value, scores, scaled, weights, context)
