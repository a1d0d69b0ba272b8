"""The tensors of a BERT with a masked-language head and of a GPT-2, with Hugging Face's names and shapes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Shapes = dict[str, tuple[int, ...]]


def _linear(name: str, inputs: int, outputs: int) -> Shapes:
    """Return the tensors of a torch ``Linear``, whose matrix is stored as (out, in)."""
    return {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}


def _conv1d(name: str, inputs: int, outputs: int) -> Shapes:
    """Return the tensors of GPT-2's ``Conv1D``, whose matrix is stored as (in, out)."""
    return {f"{name}.weight": (inputs, outputs), f"{name}.bias": (outputs,)}


def _norm(name: str, width: int) -> Shapes:
    return {f"{name}.weight": (width,), f"{name}.bias": (width,)}


def bert_shapes(config: Mapping[str, Any]) -> Shapes:
    """Names and shapes of the tensors of ``BertForMaskedLM``, whose decoder is the table of token embeddings."""
    d, d_ff, words = config["hidden_size"], config["intermediate_size"], config["vocab_size"]
    shapes: Shapes = {
        "bert.embeddings.word_embeddings.weight": (words, d),
        "bert.embeddings.position_embeddings.weight": (config["max_position_embeddings"], d),
        "bert.embeddings.token_type_embeddings.weight": (config["type_vocab_size"], d),
        **_norm("bert.embeddings.LayerNorm", d),
        **_linear("cls.predictions.transform.dense", d, d),
        **_norm("cls.predictions.transform.LayerNorm", d),
        "cls.predictions.bias": (words,),
    }
    for layer in range(config["num_hidden_layers"]):
        at = f"bert.encoder.layer.{layer}"
        for name in ("self.query", "self.key", "self.value", "output.dense"):
            shapes |= _linear(f"{at}.attention.{name}", d, d)
        shapes |= _linear(f"{at}.intermediate.dense", d, d_ff) | _linear(f"{at}.output.dense", d_ff, d)
        shapes |= _norm(f"{at}.attention.output.LayerNorm", d) | _norm(f"{at}.output.LayerNorm", d)
    return shapes


def gpt2_shapes(config: Mapping[str, Any]) -> Shapes:
    """Names and shapes of the tensors of ``GPT2LMHeadModel``, whose decoder is the table of token embeddings."""
    d, d_ff = config["n_embd"], config["n_inner"]
    shapes: Shapes = {
        "transformer.wte.weight": (config["vocab_size"], d),
        "transformer.wpe.weight": (config["n_positions"], d),
        **_norm("transformer.ln_f", d),
    }
    for layer in range(config["n_layer"]):
        at = f"transformer.h.{layer}"
        shapes |= _norm(f"{at}.ln_1", d) | _norm(f"{at}.ln_2", d)
        shapes |= _conv1d(f"{at}.attn.c_attn", d, 3 * d) | _conv1d(f"{at}.attn.c_proj", d, d)
        shapes |= _conv1d(f"{at}.mlp.c_fc", d, d_ff) | _conv1d(f"{at}.mlp.c_proj", d_ff, d)
    return shapes
