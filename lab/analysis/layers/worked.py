"""Attention, neurons and LayerNorm small enough for pencil and paper."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from lab.models.forward import activate, attend, attention_scores, layer_norm, linear, mask, mix_values, scale
from lab.models.weights import Norm


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
    scores = attention_scores(query, key)
    scaled = mask(scale(scores, 2), causal=False)
    weights = attend(scaled)
    context = mix_values(weights, value)
    return WorkedExample(("sun", "cold", "light"), query, key, value, scores, scaled, weights, context)


@dataclass(frozen=True, eq=False)
class WorkedNetwork:
    """One token of three dimensions, two neurons, and what the engine's own functions make of them.

    ``w_1`` (3, 2) has a column a neuron, ``w_2`` (2, 3) a row; ``hidden`` and ``active`` are (2,), ``output`` (3,).
    """

    vector: Tensor
    w_1: Tensor
    b_1: Tensor
    w_2: Tensor
    hidden: Tensor
    active: Tensor
    output: Tensor


def worked_network() -> WorkedNetwork:
    """Small numbers that make one neuron say 1.5 and the other −0.5 before an exact GELU; b_2 is 0."""
    x = torch.tensor([1.0, 2.0, -1.0])
    w_1, b_1 = torch.tensor([[2.0, 1.0], [0.0, -1.0], [1.0, 0.0]]), torch.tensor([0.5, 0.5])
    w_2 = torch.tensor([[1.0, 2.0, 0.0], [-2.0, 0.0, 4.0]])
    hidden = linear(x, w_1, b_1)
    active = activate(hidden, "gelu")
    return WorkedNetwork(x, w_1, b_1, w_2, hidden, active, linear(active, w_2, torch.zeros(3)))


@dataclass(frozen=True, eq=False)
class WorkedNorm:
    """Two vectors of four numbers, (2, 4), through a LayerNorm with ``norm`` and no ε worth the name."""

    vectors: Tensor
    norm: Norm
    output: Tensor


def worked_norm() -> WorkedNorm:
    """Vectors whose variance is 9, so that the divisor is 3."""
    vectors = torch.tensor([[3.0, 5.0, 5.0, 11.0], [5.0, -1.0, 7.0, 5.0]])
    norm = Norm(torch.tensor([1.0, 3.0, 1.0, 3.0]), torch.tensor([0.0, 1.0, 0.0, -1.0]))
    return WorkedNorm(vectors, norm, layer_norm(vectors, norm, 1e-12))
