"""The numbers that shape a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

# Hugging Face's names of the non-linearities that the lab computes, each with the lab's name. "gelu" is the exact GELU;
# the other names with "gelu" are GELU's tanh form, which Hugging Face has written down in several ways.
ACTIVATIONS: Mapping[str, str] = {
    "gelu": "gelu",
    "gelu_new": "gelu_new",
    "gelu_pytorch_tanh": "gelu_pytorch_tanh",
    "relu": "relu",
    "gelu_python": "gelu",
    "gelu_fast": "gelu_new",
    "gelu_accurate": "gelu_new",
    "gelu_python_tanh": "gelu_pytorch_tanh",
}


class CheckpointError(ValueError):
    """Raised if this lab cannot read a checkpoint; the message names the tensor or setting, and a remedy."""


@dataclass(frozen=True)
class ModelConfig:
    """The numbers that determine the shape of a model. ``width`` is d_model, ``ffn_width`` d_ff, ``head_width`` d_k.

    segments  the number of segments that the model distinguishes; 0 without segment embeddings
    causal    true if a token sees itself and earlier tokens, never later ones (GPT-2)
    pre_norm  true if LayerNorm comes before each sublayer (GPT-2, ModernBERT), not after the residual sum (BERT)
    window    the number of tokens to either side that a token sees in a local layer (ModernBERT); None if no layer is
              local
    from_end  true if a text of more than ``max_tokens`` tokens keeps its end, false if it keeps its beginning
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
    biases: bool = True  # False for ModernBERT, which has no biases: the lab sets them to 0
    scaled_scores: bool = True
    position_offset: int = 0  # RoBERTa's first position is 2: its padding id + 1
    from_end: bool = False

    @property
    def head_width(self) -> int:
        return self.width // self.heads
