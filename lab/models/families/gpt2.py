"""GPT-2 (Radford et al. 2019): a causal decoder with LayerNorm before its sublayers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from torch import Tensor

from lab.models.config import ModelConfig
from lab.models.families.family import Family, Place, Settings
from lab.models.families.reader import Reader
from lab.models.weights import EmbeddingWeights, LayerWeights, Norm, VocabularyHead, Weights


class Gpt2(Family):
    """GPT-2. Queries, keys and values come from one packed matrix."""

    name = "gpt2"
    title = "GPT-2"
    classes = "GPT2"
    prefix = "transformer."
    decoder = "lm_head.weight"
    causal = True
    pre_norm = True
    settings = Settings(
        "n_embd",
        "n_layer",
        "n_head",
        "n_inner",
        "n_positions",
        "activation_function",
        "layer_norm_epsilon",
    )
    reads = frozenset({"scale_attn_weights"})
    # Hugging Face's mask reads is_causal, although its configuration class does not have it.
    only: ClassVar[Mapping[str, Any]] = {
        "scale_attn_by_inverse_layer_idx": False,
        "add_cross_attention": False,
        "is_causal": True,
    }
    harmless = frozenset(
        {
            "embd_pdrop",
            "attn_pdrop",
            "resid_pdrop",
            "pad_token_id",
            "use_cache",
            "reorder_and_upcast_attn",  # the same formula, in another order for numbers of half precision
            "summary_type",
            "summary_use_proj",
            "summary_activation",
            "summary_proj_to_labels",
            "summary_first_dropout",
        }
    )
    layer_path = "h.{}"
    embedding_places: ClassVar[Mapping[str, Place]] = {
        "token": ("wte", "out"),
        "position": ("wpe", "out"),
        "sum": ("h.0.ln_1", "in"),
    }
    layer_places: ClassVar[Mapping[str, Place]] = {
        "input_norm": ("ln_1", "out"),
        "query": ("attn.c_attn", "out"),
        "key": ("attn.c_attn", "out"),
        "value": ("attn.c_attn", "out"),
        "attention": ("attn", "weights"),
        "context_concat": ("attn.c_proj", "in"),
        "attention_output": ("attn.c_proj", "out"),
        "attention_residual": ("ln_2", "in"),
        "ffn_input_norm": ("ln_2", "out"),
        "ffn_hidden": ("mlp.c_fc", "out"),
        "ffn_activation": ("mlp.c_proj", "in"),
        "ffn_output": ("mlp.c_proj", "out"),
        "output": ("", "out"),
    }

    def read_config(self, raw: Mapping[str, Any]) -> ModelConfig:
        return replace(super().read_config(raw), scaled_scores=raw.get("scale_attn_weights", True))

    def ffn_width(self, raw: Mapping[str, Any], width: int) -> int:
        # If n_inner is null in config.json, d_ff is four times the width.
        return 4 * width if raw.get("n_inner") is None else super().ffn_width(raw, width)

    def read_embeddings(self, reader: Reader, config: ModelConfig, raw: Mapping[str, Any]) -> EmbeddingWeights:
        return EmbeddingWeights(
            token=reader.take(f"{reader.prefix}wte.weight", config.vocabulary, config.width),
            position=reader.take(f"{reader.prefix}wpe.weight", config.max_tokens, config.width),
            segment=None,
            norm=None,
        )

    def read_layer(self, reader: Reader, config: ModelConfig, number: int) -> LayerWeights:
        at, d, d_ff = f"{reader.prefix}h.{number}.", config.width, config.ffn_width
        w_qkv, b_qkv = reader.conv1d(f"{at}attn.c_attn", d, 3 * d)
        (w_q, w_k, w_v), (b_q, b_k, b_v) = w_qkv.split(d, dim=1), b_qkv.split(d)
        return LayerWeights(
            *(w_q, b_q, w_k, b_k, w_v, b_v),
            *reader.conv1d(f"{at}attn.c_proj", d, d),
            reader.norm(f"{at}ln_1", d),
            *reader.conv1d(f"{at}mlp.c_fc", d, d_ff),
            *reader.conv1d(f"{at}mlp.c_proj", d_ff, d),
            reader.norm(f"{at}ln_2", d),
        )

    def read_final_norm(self, reader: Reader, config: ModelConfig) -> Norm:
        return reader.norm(f"{reader.prefix}ln_f", config.width)

    def read_vocabulary_head(
        self, reader: Reader, config: ModelConfig, raw: Mapping[str, Any], token: Tensor
    ) -> VocabularyHead | None:
        # The model without a head and the classifier are saved without lm_head, even if it is not tied.
        headless = not reader.prefix or reader.has("score.weight")
        if headless and not raw.get("tie_word_embeddings", True) and not reader.has(self.decoder):
            return None
        return VocabularyHead(self.read_decoder(reader, config, raw, token), bias=None)

    def initial_std(self, name: str, raw: Mapping[str, Any]) -> float:
        # The two matrices of a layer that write to the residual stream start with smaller weights (§2.3).
        writes = name.endswith("c_proj.weight")
        return super().initial_std(name, raw) / (math.sqrt(2 * raw["n_layer"]) if writes else 1.0)

    def reference_class(self, weights: Weights) -> str:
        return "GPT2Model" if weights.vocabulary_head is None else "GPT2LMHeadModel"


FAMILY = Gpt2()
