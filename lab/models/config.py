"""The numbers that shape a model, out of a checkpoint's ``config.json``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

FAMILIES = ("bert", "roberta", "electra", "distilbert", "gpt2")
ACTIVATIONS = ("gelu", "gelu_new", "gelu_pytorch_tanh", "relu")


class CheckpointError(ValueError):
    """A checkpoint this lab cannot read; the message names the tensor or setting and what to do."""


@dataclass(frozen=True)
class ModelConfig:
    """The numbers that shape a model. ``width`` is d_model, ``ffn_width`` d_ff, ``head_width`` d_k."""

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
    scaled_scores: bool = True
    position_offset: int = 0  # RoBERTa's first position is 2: its padding id + 1

    @property
    def head_width(self) -> int:
        return self.width // self.heads

    @property
    def causal(self) -> bool:
        """A token sees itself and what is before it, never what comes after (GPT-2)."""
        return self.family == "gpt2"

    @property
    def pre_norm(self) -> bool:
        """LayerNorm stands before each sublayer (GPT-2), not after the residual sum (BERT)."""
        return self.family == "gpt2"


@dataclass(frozen=True)
class _Settings:
    """What one family calls its numbers in config.json."""

    width: str = "hidden_size"
    layers: str = "num_hidden_layers"
    heads: str = "num_attention_heads"
    ffn_width: str = "intermediate_size"
    positions: str = "max_position_embeddings"
    activation: str = "hidden_act"
    eps: str = "layer_norm_eps"


_SETTINGS = {
    "distilbert": _Settings("dim", "n_layers", "n_heads", "hidden_dim", activation="activation"),
    "gpt2": _Settings(
        "n_embd", "n_layer", "n_head", "n_inner", "n_positions", "activation_function", "layer_norm_epsilon"
    ),
}


def _count(raw: Mapping[str, Any], name: str, default: int | None = None, least: int = 1) -> int:
    """A whole number of config.json, or :class:`CheckpointError` with its name."""
    value = raw.get(name, default)
    if not isinstance(value, int) or value < least:
        raise CheckpointError(f"config.json gives {name} as {value!r}; it must be a whole number from {least}.")
    return value


def _refuse_unsupported(raw: Mapping[str, Any]) -> None:
    for setting, expected in (
        ("position_embedding_type", "absolute"), ("is_decoder", False), ("add_cross_attention", False),
        ("scale_attn_by_inverse_layer_idx", False), ("sinusoidal_pos_embds", False),
    ):  # fmt: skip
        if raw.get(setting, expected) not in (expected, None):
            raise CheckpointError(f"{setting} is {raw[setting]!r}; this lab computes only {expected!r}.")


def read_config(raw: Mapping[str, Any]) -> ModelConfig:
    """Read a ``config.json``. Raises :class:`CheckpointError` for what the lab does not compute."""
    family = raw.get("model_type")
    if family not in FAMILIES:
        raise CheckpointError(f"model_type is {family!r}; this lab reads {', '.join(FAMILIES)}.")
    _refuse_unsupported(raw)
    gpt2, called = family == "gpt2", _SETTINGS.get(family, _Settings())
    width, layers, heads = (_count(raw, name) for name in (called.width, called.layers, called.heads))
    if width % heads:
        raise CheckpointError(f"the width {width} is not a multiple of the {heads} heads.")
    activation = raw.get(called.activation, "gelu_new" if gpt2 else "gelu")
    if activation not in ACTIVATIONS:
        raise CheckpointError(f"the activation {activation!r} is not one of {', '.join(ACTIVATIONS)}.")
    # RoBERTa's positions start behind its padding id.
    offset = _count(raw, "pad_token_id", 1, least=0) + 1 if family == "roberta" else 0
    return ModelConfig(
        family,
        layers,
        heads,
        width,
        # GPT-2 leaves its d_ff null for four times the width.
        ffn_width=4 * width if gpt2 and raw.get("n_inner") is None else _count(raw, called.ffn_width),
        vocabulary=_count(raw, "vocab_size"),
        max_tokens=_count(raw, called.positions, 1024 if gpt2 else 512) - offset,
        segments=0 if family in ("gpt2", "distilbert") else _count(raw, "type_vocab_size", 2),
        activation=activation,
        norm_eps=1e-12 if family == "distilbert" else raw.get(called.eps, 1e-5 if gpt2 else 1e-12),
        scaled_scores=raw.get("scale_attn_weights", True),
        position_offset=offset,
    )
