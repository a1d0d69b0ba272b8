"""A :class:`LayerTrace`: every step inside one layer of a run, by the names of the papers."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from lab.models import forward
from lab.models.memo import size_of
from lab.models.weights import LayerWeights


@dataclass(frozen=True, eq=False)
class LayerTrace:
    """Every tensor of one layer.

    Layers count from 0; the letters in shapes mean the same as in :mod:`lab.models.forward`.
    """

    index: int
    weights: LayerWeights
    steps: forward.Layer

    @property
    def nbytes(self) -> int:
        """Bytes of the steps, without the weights, which belong to the model."""
        return size_of(self.steps)

    @property
    def input(self) -> Tensor:
        """The residual stream before the layer, (n, d)."""
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
        """The dot products QKᵀ, (H, n, n)."""
        return self.steps.attention.scores

    @property
    def scaled_scores(self) -> Tensor:
        """The scaled scores QKᵀ/√d_k, (H, n, n), -inf where masked."""
        return self.steps.attention.scaled_scores

    @property
    def attention(self) -> Tensor:
        """The attention weights, (H, n, n): rows are queries, columns keys, rows sum to 1."""
        return self.steps.attention.attention

    @property
    def context(self) -> Tensor:
        """The context vectors attention · V, (H, n, d_k)."""
        return self.steps.attention.context

    @property
    def context_concat(self) -> Tensor:
        """The context vectors of all heads, concatenated, (n, d)."""
        return self.steps.attention.context_concat

    @property
    def attention_output(self) -> Tensor:
        """The concatenated heads after W_O, (n, d)."""
        return self.steps.attention.output

    @property
    def attention_residual(self) -> Tensor:
        """The input plus the attention output, (n, d)."""
        return self.steps.attention_residual

    @property
    def attention_norm(self) -> Tensor | None:
        """LayerNorm of ``attention_residual``, (n, d); None in GPT-2."""
        return self.steps.attention_norm

    @property
    def input_norm(self) -> Tensor | None:
        """LayerNorm of the input before attention, (n, d); None in BERT, and in ModernBERT's first layer."""
        return self.steps.input_norm

    @property
    def ffn_input_norm(self) -> Tensor | None:
        """LayerNorm before the feed-forward network, (n, d); None in BERT."""
        return self.steps.ffn_input_norm

    @property
    def ffn_hidden(self) -> Tensor:
        """The hidden values of the neurons before the activation, (n, d_ff)."""
        return self.steps.feed_forward.hidden

    @property
    def ffn_gate(self) -> Tensor | None:
        """The factors of the activations in ModernBERT, (n, d_ff); None in other models."""
        return self.steps.feed_forward.gate

    @property
    def ffn_activation(self) -> Tensor:
        """The neurons after the activation, times the gate if there is one, (n, d_ff)."""
        return self.steps.feed_forward.activation

    @property
    def ffn_output(self) -> Tensor:
        """(n, d)."""
        return self.steps.feed_forward.output

    @property
    def ffn_residual(self) -> Tensor:
        """The feed-forward network's output plus its input (BERT) or plus the stream (GPT-2), (n, d)."""
        return self.steps.ffn_residual

    @property
    def output(self) -> Tensor:
        """The input of the next layer, (n, d)."""
        return self.steps.output

    @property
    def head_contribution(self) -> Tensor:
        """The lengths ‖α·f(x)‖ with f(x) = (x·W_V + b_V)·W_O, (H, n, n) (Kobayashi et al. 2020, §3).

        This is the length of the vector that token j adds to token i through a head: the attention weight times
        the length of the weighted vector.
        """
        w_o = self.weights.w_o.unflatten(0, (self.value.shape[0], -1))  # (H, d_k, d)
        return self.attention * (self.value @ w_o).norm(dim=-1)[:, None, :]
