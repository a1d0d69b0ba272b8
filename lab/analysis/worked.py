"""Attention small enough for pencil and paper: three tokens, two dimensions."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from lab.models.forward import attend, attention_scores, mix_values, scale_and_mask
from lab.models.interventions import LayerControls


@dataclass(frozen=True, eq=False)
class WorkedExample:
    """Whole-number queries, keys and values, (3, 2), and what the engine's own functions make of them."""

    tokens: tuple[str, ...]
    query: Tensor
    key: Tensor
    value: Tensor
    scores: Tensor
    scaled: Tensor
    weights: Tensor
    context: Tensor


def worked_example() -> WorkedExample:
    """The example of the lesson: "sun" and "light" point the same way, "cold" elsewhere."""
    query = torch.tensor([[2.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    key = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    value = torch.tensor([[4.0, 0.0], [0.0, 4.0], [2.0, 2.0]])
    nothing_changed = LayerControls()
    scores = attention_scores(query, key)
    scaled = scale_and_mask(scores, 2, causal=False, c=nothing_changed)
    weights = attend(scaled, nothing_changed)
    context = mix_values(weights, value, nothing_changed)
    return WorkedExample(("sun", "cold", "light"), query, key, value, scores, scaled, weights, context)
