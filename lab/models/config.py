"""The numbers that shape a model."""

from __future__ import annotations

from dataclasses import dataclass

ACTIVATIONS = ("gelu", "gelu_new", "gelu_pytorch_tanh", "relu")


class CheckpointError(ValueError):
    """A checkpoint this lab cannot read; the message names the tensor or setting and what to do."""


@dataclass(frozen=True)
class ModelConfig:
    """The numbers that shape a model. ``width`` is d_model, ``ffn_width`` d_ff, ``head_width`` d_k.

    causal    a token sees itself and what is before it, never what comes after (GPT-2)
    pre_norm  LayerNorm stands before each sublayer (GPT-2, ModernBERT), not after the residual sum (BERT)
    window    in a local layer a token sees so many tokens to either side (ModernBERT); None without local layers
    """

    family: str
    layers: int
    heads: int
    width: int
    ffn_width: int
    vocabulary: int
    max_tokens: int
    segments: int
    activation: str
    norm_eps: float
    causal: bool = False
    pre_norm: bool = False
    window: int | None = None
    gated: bool = False  # a third matrix of the feed-forward network multiplies the neurons (ModernBERT)
    biases: bool = True  # ModernBERT's matrices and LayerNorms have none; here theirs are 0
    scaled_scores: bool = True
    position_offset: int = 0  # RoBERTa's first position is 2: its padding id + 1

    @property
    def head_width(self) -> int:
        return self.width // self.heads
