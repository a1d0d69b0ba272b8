"""ModernBERT (Warner et al. 2024): BERT with rotary positions, gated neurons, local layers, and no biases."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from lab.models.config import CheckpointError, ModelConfig
from lab.models.families.family import Family, Place, Settings
from lab.models.families.reader import Reader, activation, padding_id, whole_number
from lab.models.weights import EmbeddingWeights, LayerWeights, Norm, VocabularyHead, Weights

_LOCAL, _GLOBAL = "sliding_attention", "full_attention"
_BIASES = ("attention_bias", "mlp_bias", "norm_bias", "classifier_bias")


class ModernBert(Family):
    """ModernBERT. One packed matrix gives queries, keys and values; another gives neurons and their gates."""

    name = "modernbert"
    title = "ModernBERT"
    classes = "ModernBert"
    prefix = "model."
    decoder = "decoder.weight"
    pre_norm = True
    settings = Settings(activation="hidden_activation", eps="norm_eps")
    reads = frozenset(
        {
            *_BIASES,
            *("pad_token_id", "layer_types", "rope_parameters", "local_attention", "decoder_bias"),
            *("classifier_activation", "initializer_cutoff_factor"),
        }
    )
    harmless = frozenset(
        {
            *("embedding_dropout", "attention_dropout", "mlp_dropout", "classifier_dropout"),
            *("classifier_pooling", "cls_token_id", "sep_token_id", "deterministic_flash_attn"),
            *("sparse_prediction", "sparse_pred_ignore_index"),  # they choose the places of the loss
        }
    )
    layer_path = "layers.{}"
    embedding_places: ClassVar[Mapping[str, Place]] = {
        "token": ("embeddings.tok_embeddings", "out"),
        "sum": ("embeddings.norm", "in"),
        "norm": ("embeddings.norm", "out"),
    }
    layer_places: ClassVar[Mapping[str, Place]] = {
        "input_norm": ("attn_norm", "out"),
        "query": ("attn.Wqkv", "out"),
        "key": ("attn.Wqkv", "out"),
        "value": ("attn.Wqkv", "out"),
        "attention": ("attn", "weights"),
        "context_concat": ("attn.Wo", "in"),
        "attention_output": ("attn.Wo", "out"),
        "attention_residual": ("mlp_norm", "in"),
        "ffn_input_norm": ("mlp_norm", "out"),
        "ffn_hidden": ("mlp.Wi", "out"),
        "ffn_activation": ("mlp.Wo", "in"),
        "ffn_output": ("mlp.Wo", "out"),
        "output": ("", "out"),
    }

    def require_supported(self, raw: Mapping[str, Any]) -> None:
        super().require_supported(raw)
        for name in _BIASES:
            if raw.get(name):
                raise CheckpointError(f"{name} is true; this lab computes ModernBERT as published, without biases.")
        given = raw.get("rope_parameters")
        for kind in given.values() if isinstance(given, dict) else ():
            if isinstance(kind, dict) and kind.get("rope_type", "default") != "default":
                raise CheckpointError(f"rope_type is {kind['rope_type']!r}; this lab computes only 'default'.")

    def read_config(self, raw: Mapping[str, Any]) -> ModelConfig:
        config = super().read_config(raw)
        # Hugging Face's rotation reads head_dim, although its configuration class does not have it.
        if raw.get("head_dim") not in (None, config.head_width):
            raise CheckpointError(f"head_dim is {raw['head_dim']!r}; this lab computes only width / heads.")
        if config.head_width % 2:
            raise CheckpointError(
                f"a head of {config.heads} in {config.width} dimensions is {config.head_width} wide; rotary positions "
                "turn pairs of dimensions, so the width must be even."
            )
        local = _LOCAL in _kinds(raw, config.layers)
        window = whole_number(raw, "local_attention") // 2 if local else None
        return replace(config, gated=True, biases=False, window=window)

    def read_embeddings(self, reader: Reader, config: ModelConfig, raw: Mapping[str, Any]) -> EmbeddingWeights:
        at = f"{reader.prefix}embeddings."
        padding_id(raw, config.vocabulary)
        return EmbeddingWeights(
            token=reader.take(f"{at}tok_embeddings.weight", config.vocabulary, config.width),
            position=None,
            segment=None,
            norm=reader.norm(f"{at}norm", config.width, bias=False),
        )

    def read_layer(self, reader: Reader, config: ModelConfig, number: int) -> LayerWeights:
        at, d, d_ff = f"{reader.prefix}layers.{number}.", config.width, config.ffn_width
        (w_qkv, b_qkv), (w_in, b_in) = (
            reader.linear(f"{at}{name}", d, wide, bias=False)
            for name, wide in (("attn.Wqkv", 3 * d), ("mlp.Wi", 2 * d_ff))
        )
        (w_q, w_k, w_v), (b_q, b_k, b_v) = w_qkv.split(d, dim=1), b_qkv.split(d)
        (w_1, w_gate), (b_1, b_gate) = w_in.split(d_ff, dim=1), b_in.split(d_ff)
        return LayerWeights(
            *(w_q, b_q, w_k, b_k, w_v, b_v),
            *reader.linear(f"{at}attn.Wo", d, d, bias=False),
            # Layer 0 has no LayerNorm here, because the embeddings end with a LayerNorm.
            reader.norm(f"{at}attn_norm", d, bias=False) if number else None,
            *(w_1, b_1),
            *reader.linear(f"{at}mlp.Wo", d_ff, d, bias=False),
            reader.norm(f"{at}mlp_norm", d, bias=False),
            *(w_gate, b_gate),
        )

    def read_final_norm(self, reader: Reader, config: ModelConfig) -> Norm:
        return reader.norm(f"{reader.prefix}final_norm", config.width, bias=False)

    def read_vocabulary_head(
        self, reader: Reader, config: ModelConfig, raw: Mapping[str, Any], token: Tensor
    ) -> VocabularyHead | None:
        # A classifier has the same head, with a matrix for its classes behind it.
        if not reader.has_any("decoder.") and (reader.has_any("classifier.") or not reader.has_any("head.")):
            return None
        w, b = reader.linear("head.dense", config.width, config.width, bias=False)
        bias = reader.take("decoder.bias", config.vocabulary) if raw.get("decoder_bias", True) else None
        norm = reader.norm("head.norm", config.width, bias=False)
        named = activation(raw, "classifier_activation")
        return VocabularyHead(self.read_decoder(reader, config, raw, token), bias, w, b, norm, named)

    def read_weights(self, raw: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> Weights:
        weights = super().read_weights(raw, tensors)
        config = weights.config
        layers = (
            replace(layer, rotary=_base(raw, kind), window=config.window if kind == _LOCAL else None)
            for layer, kind in zip(weights.layers, _kinds(raw, config.layers), strict=True)
        )
        return replace(weights, layers=tuple(layers))

    def initial_std(self, name: str, raw: Mapping[str, Any]) -> float:
        # Matrices that write to the residual stream start with smaller weights, and so does the head.
        writes = name.endswith(("Wo.weight", "head.dense.weight", "decoder.weight"))
        return super().initial_std(name, raw) / (math.sqrt(2 * raw["num_hidden_layers"]) if writes else 1.0)

    def initial_cut(self, raw: Mapping[str, Any]) -> float | None:
        return float(raw.get("initializer_cutoff_factor", 2.0) or 3.0)

    def reference_class(self, weights: Weights) -> str:
        return "ModernBertForMaskedLM" if weights.vocabulary_head is not None else "ModernBertModel"

    def turned(self, base: nn.Module, layer: int, query: Tensor, key: Tensor) -> tuple[Tensor, Tensor]:
        from transformers.models.modernbert.modeling_modernbert import ModernBertModel, apply_rotary_pos_emb

        assert isinstance(base, ModernBertModel) and base.config.layer_types is not None
        places = torch.arange(query.shape[-2])[None]
        angles = base.rotary_emb(query, places, base.config.layer_types[layer])
        turned_query, turned_key = apply_rotary_pos_emb(query[None], key[None], *angles)
        return turned_query[0], turned_key[0]


def _kinds(raw: Mapping[str, Any], layers: int) -> list[str]:
    """Return the kind of each layer."""
    named = raw["layer_types"]
    if len(named) != layers or not {*named} <= {_LOCAL, _GLOBAL}:
        raise CheckpointError(f"layer_types must name {layers} layers, each {_LOCAL!r} or {_GLOBAL!r}.")
    return list(named)


def _base(raw: Mapping[str, Any], kind: str) -> float:
    """Return the base of the wavelengths of one kind of layer."""
    theta = raw["rope_parameters"][kind]["rope_theta"]
    if not isinstance(theta, int | float) or not 0 < theta < math.inf:
        raise CheckpointError(f"rope_theta is {theta!r}; it must be a number above 0.")
    return float(theta)


FAMILY = ModernBert()
