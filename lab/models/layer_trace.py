"""A :class:`LayerTrace`: every step inside one layer of a run, by the names of the papers.

A step can be replaced by its tensor's name, as in ``run_layer(x, w, config, changed(context=become(other)))``: what
comes after the tensor is computed from the changed one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from lab.models import forward
from lab.models.forward import PAPER, Steps
from lab.models.weights import LayerWeights


@dataclass(frozen=True, eq=False)
class LayerTrace:
    """Every tensor of one layer.

    Layers count from 0; the letters in shapes mean the same as in :mod:`lab.models.forward`.
    """

    index: int
    weights: LayerWeights
    input: Tensor  # (n, d), the residual stream before the layer
    query: Tensor  # (H, n, d_k)
    key: Tensor  # (H, n, d_k)
    value: Tensor  # (H, n, d_k)
    scores: Tensor  # (H, n, n), the dot products QKᵀ
    scaled_scores: Tensor  # (H, n, n), QKᵀ/√d_k, -inf where masked
    attention: Tensor  # (H, n, n), the attention weights: rows are queries, columns keys, rows sum to 1
    context: Tensor  # (H, n, d_k), attention · V
    context_concat: Tensor  # (n, d), the context vectors of all heads, concatenated
    attention_output: Tensor  # (n, d), the concatenated heads after W_O
    attention_residual: Tensor  # (n, d), the input plus the attention output
    ffn_hidden: Tensor  # (n, d_ff), the neurons before the activation
    ffn_activation: Tensor  # (n, d_ff), the neurons after the activation, times the gate if there is one
    ffn_output: Tensor  # (n, d)
    ffn_residual: Tensor  # (n, d), the network's output plus its input (BERT) or plus the stream (GPT-2)
    output: Tensor  # (n, d), the input of the next layer
    ffn_gate: Tensor | None  # (n, d_ff), the factors of the activations in ModernBERT; None in other models
    attention_norm: Tensor | None  # (n, d), LayerNorm of attention_residual; None in GPT-2
    input_norm: Tensor | None  # (n, d), LayerNorm before attention; None in BERT, and in ModernBERT's first layer
    ffn_input_norm: Tensor | None  # (n, d), LayerNorm before the feed-forward network; None in BERT

    @classmethod
    def of(cls, index: int, weights: LayerWeights, steps: forward.Layer) -> LayerTrace:
        """The trace of layer ``index``, which the forward pass has computed as ``steps``."""
        attention, ffn = steps.attention, steps.feed_forward
        return cls(
            index,
            weights,
            steps.input,
            attention.query,
            attention.key,
            attention.value,
            attention.scores,
            attention.scaled_scores,
            attention.attention,
            attention.context,
            attention.context_concat,
            attention.output,
            steps.attention_residual,
            ffn.hidden,
            ffn.activation,
            ffn.output,
            steps.ffn_residual,
            steps.output,
            ffn.gate,
            steps.attention_norm,
            steps.input_norm,
            steps.ffn_input_norm,
        )

    @property
    def nbytes(self) -> int:
        """Bytes of the steps, without the weights, which belong to the model."""
        return sum(each.nbytes for each in vars(self).values() if isinstance(each, Tensor))

    @property
    def head_contribution(self) -> Tensor:
        """The lengths ‖α·f(x)‖ with f(x) = (x·W_V + b_V)·W_O, (H, n, n) (Kobayashi et al. 2020, §3).

        This is the length of the vector that token j adds to token i through a head: the attention weight times
        the length of the weighted vector.
        """
        w_o = self.weights.w_o.unflatten(0, (self.value.shape[0], -1))  # (H, d_k, d)
        return self.attention * (self.value @ w_o).norm(dim=-1)[:, None, :]


Change = Callable[[Tensor], Tensor]
# The step of a layer that computes each tensor; the names are those of a LayerTrace.
_STEPS = {
    "scaled_scores": "mask",
    "attention": "attend",
    "context": "mix_values",
    "attention_output": "project_output",
    "ffn_activation": "activate",
    "ffn_output": "project_neurons",
}


def changed(steps: Steps = PAPER, /, **changes: Change) -> Steps:
    """Return the steps of a layer in which each named tensor is replaced by a function of it.

    Parameters
    ----------
    steps
        The steps to change; they may have been changed before.
    **changes
        For the name of a tensor, a function that takes the tensor and returns the one in its place. The names are
        ``scaled_scores`` (masked), ``attention``, ``context``, ``attention_output``, ``ffn_activation`` (before a gate)
        and ``ffn_output``.

    Raises
    ------
    ValueError
        If no step computes a tensor of this name.
    """
    if unknown := changes.keys() - _STEPS.keys():
        raise ValueError(f"No step computes {unknown.pop()}; {', '.join(_STEPS)} can be changed.")
    own: dict[str, Any] = {
        _STEPS[name]: partial(_then, getattr(steps, _STEPS[name]), change) for name, change in changes.items()
    }
    return replace(steps, **own)


def _then(step: Callable[..., Tensor], change: Change, *arguments: Any) -> Tensor:
    return change(step(*arguments))


def become(values: Tensor, where: Tensor | None = None) -> Change:
    """The change to ``values``, everywhere, or only where ``where`` is true; both are broadcast to the tensor."""
    return lambda tensor: values.expand_as(tensor) if where is None else torch.where(where, values, tensor)


def at_token(place: int, vector: Tensor) -> Change:
    """The change to ``vector`` (…, d) at one token of a tensor (…, n, d), from 0."""

    def change(tensor: Tensor) -> Tensor:
        tensor = tensor.clone()
        tensor[..., place, :] = vector
        return tensor

    return change
