"""A :class:`LayerTrace`: every step inside one layer of a run, by the names of the papers."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from lab.models import forward
from lab.models.memo import size_of
from lab.models.weights import LayerWeights


@dataclass(frozen=True, eq=False)
class LayerTrace:
    """Every tensor of one layer. Layers count from 0; shapes as in :mod:`lab.models.forward`."""

    index: int
    weights: LayerWeights
    steps: forward.Layer

    @property
    def nbytes(self) -> int:
        """Bytes of the steps; the weights are the model's."""
        return size_of(self.steps)

    @property
    def input(self) -> Tensor:
        """(n, d), the residual stream before the layer."""
        return self.steps.input

    @property
    def query(self) -> Tensor:
        """(H, n, d_k)."""
        return self.steps.attention.query

    @property
    def key(self) -> Tensor:
        """(H, n, d_k)."""
        return self.steps.attention.key

    @property
    def value(self) -> Tensor:
        """(H, n, d_k)."""
        return self.steps.attention.value

    @property
    def scores(self) -> Tensor:
        """(H, n, n), QKᵀ."""
        return self.steps.attention.scores

    @property
    def scaled_scores(self) -> Tensor:
        """(H, n, n), QKᵀ/√d_k, -inf where masked."""
        return self.steps.attention.scaled_scores

    @property
    def attention(self) -> Tensor:
        """(H, n, n): rows are queries, columns keys, rows sum to 1."""
        return self.steps.attention.attention

    @property
    def context(self) -> Tensor:
        """(H, n, d_k), attention · V."""
        return self.steps.attention.context

    @property
    def context_concat(self) -> Tensor:
        """(n, d), the heads side by side."""
        return self.steps.attention.context_concat

    @property
    def attention_output(self) -> Tensor:
        """(n, d), the heads through W_O."""
        return self.steps.attention.output

    @property
    def attention_residual(self) -> Tensor:
        """(n, d), input plus attention output."""
        return self.steps.attention_residual

    @property
    def attention_norm(self) -> Tensor | None:
        """(n, d), LayerNorm of that sum; None in GPT-2."""
        return self.steps.attention_norm

    @property
    def input_norm(self) -> Tensor | None:
        """(n, d), LayerNorm of the input before attention; None in BERT, and in ModernBERT's first layer."""
        return self.steps.input_norm

    @property
    def ffn_input_norm(self) -> Tensor | None:
        """(n, d), LayerNorm before the feed-forward network; None in BERT."""
        return self.steps.ffn_input_norm

    @property
    def ffn_hidden(self) -> Tensor:
        """(n, d_ff), before the activation."""
        return self.steps.feed_forward.hidden

    @property
    def ffn_gate(self) -> Tensor | None:
        """(n, d_ff), what the activations are multiplied by in ModernBERT; None elsewhere."""
        return self.steps.feed_forward.gate

    @property
    def ffn_activation(self) -> Tensor:
        """(n, d_ff), after the activation, and times the gate where there is one."""
        return self.steps.feed_forward.activation

    @property
    def ffn_output(self) -> Tensor:
        """(n, d)."""
        return self.steps.feed_forward.output

    @property
    def ffn_residual(self) -> Tensor:
        """(n, d), the feed-forward network's input (BERT) or the stream (GPT-2) plus its output."""
        return self.steps.ffn_residual

    @property
    def output(self) -> Tensor:
        """(n, d), what the next layer receives."""
        return self.steps.output

    @property
    def head_contribution(self) -> Tensor:
        """(H, n, n), ‖α·f(x)‖ with f(x) = (x·W_V + b_V)·W_O (Kobayashi et al. 2020, §3).

        What token j really adds to token i through a head: its weight times the length of the
        vector that is weighted.
        """
        w_o = self.weights.w_o.unflatten(0, (self.value.shape[0], -1))  # (H, d_k, d)
        return self.attention * (self.value @ w_o).norm(dim=-1)[:, None, :]
