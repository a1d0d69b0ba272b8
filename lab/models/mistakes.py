"""The classic mistakes of a first implementation, each in place of one step of :mod:`lab.models.forward`."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from lab.models import forward
from lab.models.weights import LayerWeights


def no_scaling(scores: Tensor, d_k: int) -> Tensor:
    """Forget the division by √d_k."""
    return scores


def no_rotation(x: Tensor, base: float) -> Tensor:
    """Leave queries and keys unturned: their positions are forgotten."""
    return x


def no_mask(scaled_scores: Tensor, causal: bool, window: int | None) -> Tensor:
    """Let every token see what comes after it, or what is beyond the window of a local layer."""
    return scaled_scores


def softmax_over_queries(scaled_scores: Tensor) -> Tensor:
    """Take the softmax down the columns: what each key receives adds up to 1, not what each query spends."""
    return torch.softmax(scaled_scores, dim=-2)


def no_values(x: Tensor, w: LayerWeights, heads: int) -> tuple[Tensor, Tensor, Tensor]:
    """Forget W_V: every token hands on the bias alone."""
    return forward.project_qkv(x, replace(w, w_v=torch.zeros_like(w.w_v)), heads)


def no_output_projection(context_concat: Tensor, w: LayerWeights) -> Tensor:
    """Forget W_O: the heads stand side by side and are never mixed."""
    return context_concat


def other_gelu(x: Tensor, name: str) -> Tensor:
    """Take GELU's tanh form for the exact one, or the other way round."""
    return forward.activate(x, name if name == "relu" else "gelu_new" if name == "gelu" else "gelu")
