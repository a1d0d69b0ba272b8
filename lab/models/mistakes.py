"""The classic mistakes of a first implementation, each in place of one step of :mod:`lab.models.forward`."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from lab.models import forward
from lab.models.weights import LayerWeights


def no_scaling(scores: Tensor, d_k: int) -> Tensor:
    """Leave out the division by √d_k."""
    return scores


def no_rotation(x: Tensor, base: float) -> Tensor:
    """Leave out the rotation of queries and keys by their positions."""
    return x


def no_mask(scaled_scores: Tensor, causal: bool, window: int | None) -> Tensor:
    """Let every token see all tokens, including later tokens and tokens outside the window of a local layer."""
    return scaled_scores


def softmax_over_queries(scaled_scores: Tensor) -> Tensor:
    """Take the softmax down the columns, so that the weights of each key, not of each query, add up to 1."""
    return torch.softmax(scaled_scores, dim=-2)


def no_values(x: Tensor, w: LayerWeights, heads: int) -> tuple[Tensor, Tensor, Tensor]:
    """Leave out W_V, so that every token's value is only the bias."""
    return forward.project_qkv(x, replace(w, w_v=torch.zeros_like(w.w_v)), heads)


def no_output_projection(context_concat: Tensor, w: LayerWeights) -> Tensor:
    """Leave out W_O, so that the heads are concatenated but never mixed."""
    return context_concat


def other_gelu(x: Tensor, name: str) -> Tensor:
    """Use GELU's tanh form instead of the exact form, or the other way round."""
    return forward.activate(x, name if name == "relu" else "gelu_new" if name == "gelu" else "gelu")
