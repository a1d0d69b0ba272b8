"""From a checkpoint's tensors to :class:`Weights`, in the names of Vaswani et al. (2017).

Checkpoints differ only in how they name, pack and transpose the same matrices. All of that is
settled here, by one table row a family, so that ``forward.py`` can be read as the paper.

Every matrix is stored for ``x @ w + b``: inputs are rows, ``w`` is (in, out).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from lab.models.config import CheckpointError, ModelConfig, read_config


@dataclass(frozen=True, eq=False)
class Norm:
    """LayerNorm's gain γ and bias β, both (width,) (Ba et al. 2016)."""

    gamma: Tensor
    beta: Tensor


@dataclass(frozen=True, eq=False)
class EmbeddingWeights:
    """Look-up tables. ``segment`` is None without segments, ``norm`` None in GPT-2.

    ``project`` is ELECTRA's (embedding, width) matrix and bias when the two widths differ.
    """

    token: Tensor  # (vocabulary, e)
    position: Tensor  # (positions, e)
    segment: Tensor | None  # (segments, e)
    norm: Norm | None
    project: tuple[Tensor, Tensor] | None = None


@dataclass(frozen=True, eq=False)
class LayerWeights:
    """One layer. Head h owns columns h·d_k … (h+1)·d_k of w_q, w_k, w_v and those rows of w_o.

    ``norm_1`` and ``norm_2`` stand after the two residual sums (BERT) or before the two sublayers (GPT-2).
    """

    w_q: Tensor  # (width, width)
    b_q: Tensor
    w_k: Tensor
    b_k: Tensor
    w_v: Tensor
    b_v: Tensor
    w_o: Tensor
    b_o: Tensor
    norm_1: Norm
    w_1: Tensor  # (width, ffn_width)
    b_1: Tensor
    w_2: Tensor  # (ffn_width, width)
    b_2: Tensor
    norm_2: Norm


@dataclass(frozen=True, eq=False)
class VocabularyHead:
    """From a hidden state to a logit for every word of the vocabulary.

    BERT's masked-language head first transforms (``w``, ``b``, ``activation``, ``norm``); GPT-2's
    head is the (vocabulary, width) ``decoder`` alone.
    """

    decoder: Tensor  # (vocabulary, width), usually the token embeddings themselves
    bias: Tensor | None
    w: Tensor | None = None
    b: Tensor | None = None
    norm: Norm | None = None
    activation: str = "gelu"


@dataclass(frozen=True, eq=False)
class PairHead:
    """BERT's next-sentence head: pooler (tanh) on [CLS], then two logits: is next, is random."""

    w_pool: Tensor
    b_pool: Tensor
    w: Tensor  # (width, 2)
    b: Tensor


@dataclass(frozen=True, eq=False)
class ReplacedHead:
    """ELECTRA's discriminator: from a hidden state to one logit, is this token a replacement?"""

    w: Tensor
    b: Tensor
    w_out: Tensor  # (width, 1)
    b_out: Tensor


@dataclass(frozen=True, eq=False)
class Weights:
    """Everything a forward pass needs. ``final_norm`` is GPT-2's LayerNorm after the last layer."""

    config: ModelConfig
    embeddings: EmbeddingWeights
    layers: tuple[LayerWeights, ...]
    final_norm: Norm | None
    vocabulary_head: VocabularyHead | None
    pair_head: PairHead | None
    replaced_head: ReplacedHead | None = None


@dataclass(frozen=True)
class _Names:
    """Where one family keeps its tensors."""

    prefix: str
    token: str
    position: str
    segment: str
    embedding_norm: str
    layer: str
    query: str
    key: str
    value: str
    output: str
    norm_1: str
    ffn_in: str
    ffn_out: str
    norm_2: str
    head: tuple[str, str, str] | None  # dense, norm, bias
    decoder: str | None


_BERT_EMBEDDINGS = (
    "embeddings.word_embeddings.weight",
    "embeddings.position_embeddings.weight",
    "embeddings.token_type_embeddings.weight",
    "embeddings.LayerNorm",
)
_BERT_LAYER = (
    "encoder.layer.{}.",
    "attention.self.query", "attention.self.key", "attention.self.value",
    "attention.output.dense", "attention.output.LayerNorm",
    "intermediate.dense", "output.dense", "output.LayerNorm",
)  # fmt: skip
_NAMES = {
    "bert": _Names("bert.", *_BERT_EMBEDDINGS, *_BERT_LAYER, head=(
        "cls.predictions.transform.dense", "cls.predictions.transform.LayerNorm",
        "cls.predictions.bias"), decoder="cls.predictions.decoder.weight"),
    "roberta": _Names("roberta.", *_BERT_EMBEDDINGS, *_BERT_LAYER, head=(
        "lm_head.dense", "lm_head.layer_norm", "lm_head.bias"), decoder="lm_head.decoder.weight"),
    "electra": _Names("electra.", *_BERT_EMBEDDINGS, *_BERT_LAYER, head=None, decoder=None),
    "distilbert": _Names(
        "distilbert.", *_BERT_EMBEDDINGS, "transformer.layer.{}.",
        "attention.q_lin", "attention.k_lin", "attention.v_lin", "attention.out_lin", "sa_layer_norm",
        "ffn.lin1", "ffn.lin2", "output_layer_norm",
        head=("vocab_transform", "vocab_layer_norm", "vocab_projector.bias"), decoder="vocab_projector.weight"),
    "gpt2": _Names(
        "transformer.", "wte.weight", "wpe.weight", "", "", "h.{}.",
        "attn.c_attn", "attn.c_attn", "attn.c_attn", "attn.c_proj", "ln_1", "mlp.c_fc", "mlp.c_proj", "ln_2",
        head=None, decoder="lm_head.weight"),
}  # fmt: skip


class _Reader:
    """Takes tensors out of a checkpoint by name and shape, or says which is missing or wrong."""

    def __init__(self, tensors: Mapping[str, Tensor], prefix: str) -> None:
        # The original BERT checkpoints call LayerNorm's γ and β "gamma" and "beta".
        self._tensors = {
            name.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias"): tensor
            for name, tensor in tensors.items()
        }
        # A base model is saved without the prefix its models with heads give it.
        self.prefix = prefix if any(name.startswith(prefix) for name in self._tensors) else ""

    def has(self, name: str) -> bool:
        return name in self._tensors

    def has_any(self, *starts: str) -> bool:
        return any(name.startswith(starts) for name in self._tensors)

    def take(self, name: str, *shape: int) -> Tensor:
        if name not in self._tensors:
            raise CheckpointError(f"the checkpoint has no tensor {name!r}; the model cannot be rebuilt without it.")
        tensor = self._tensors[name]
        if tuple(tensor.shape) != shape:
            raise CheckpointError(f"{name!r} has shape {tuple(tensor.shape)}; config.json asks for {shape}.")
        return tensor.to(torch.float32)

    def norm(self, name: str, width: int) -> Norm:
        return Norm(self.take(f"{name}.weight", width), self.take(f"{name}.bias", width))

    def linear(self, name: str, inputs: int, outputs: int) -> tuple[Tensor, Tensor]:
        """A torch ``Linear``, stored (out, in): transposed to (in, out), without a copy."""
        return self.take(f"{name}.weight", outputs, inputs).T, self.take(f"{name}.bias", outputs)

    def conv1d(self, name: str, inputs: int, outputs: int) -> tuple[Tensor, Tensor]:
        """GPT-2's ``Conv1D``, stored (in, out) already."""
        return self.take(f"{name}.weight", inputs, outputs), self.take(f"{name}.bias", outputs)


def _read_layer(reader: _Reader, config: ModelConfig, names: _Names, number: int) -> LayerWeights:
    at = reader.prefix + names.layer.format(number)
    d, d_ff = config.width, config.ffn_width
    if config.family == "gpt2":
        linear = reader.conv1d
        packed_w, packed_b = linear(at + names.query, d, 3 * d)
        (w_q, w_k, w_v), (b_q, b_k, b_v) = packed_w.split(d, dim=1), packed_b.split(d)
    else:
        linear = reader.linear
        (w_q, b_q), (w_k, b_k), (w_v, b_v) = (linear(at + n, d, d) for n in (names.query, names.key, names.value))
    w_o, b_o = linear(at + names.output, d, d)
    w_1, b_1 = linear(at + names.ffn_in, d, d_ff)
    w_2, b_2 = linear(at + names.ffn_out, d_ff, d)
    norm_1, norm_2 = reader.norm(at + names.norm_1, d), reader.norm(at + names.norm_2, d)
    return LayerWeights(w_q, b_q, w_k, b_k, w_v, b_v, w_o, b_o, norm_1, w_1, b_1, w_2, b_2, norm_2)


def _read_embeddings(reader: _Reader, config: ModelConfig, names: _Names, raw: Mapping[str, Any]) -> EmbeddingWeights:
    e = raw.get("embedding_size", config.width) if config.family == "electra" else config.width
    positions = config.max_tokens + config.position_offset
    return EmbeddingWeights(
        token=reader.take(reader.prefix + names.token, config.vocabulary, e),
        position=reader.take(reader.prefix + names.position, positions, e),
        segment=reader.take(reader.prefix + names.segment, config.segments, e) if config.segments else None,
        norm=reader.norm(reader.prefix + names.embedding_norm, e) if names.embedding_norm else None,
        project=reader.linear(reader.prefix + "embeddings_project", e, config.width) if e != config.width else None,
    )


def _read_vocabulary_head(
    reader: _Reader, config: ModelConfig, names: _Names, token: Tensor, tied: bool
) -> VocabularyHead | None:
    d, v, decoder = config.width, config.vocabulary, names.decoder
    if decoder is None or (names.head and not reader.has_any(*names.head, decoder)):
        return None
    if not tied and not reader.has(decoder):
        raise CheckpointError(f"config.json says the decoder is not tied, yet {decoder!r} is missing.")
    matrix = reader.take(decoder, v, d) if reader.has(decoder) else token
    if names.head is None:
        return VocabularyHead(matrix, None)
    dense, norm, bias = names.head
    # An untied decoder may bring a bias of its own.
    own_bias = decoder.removesuffix("weight") + "bias"
    b_v = reader.take(own_bias if reader.has(own_bias) else bias, v)
    # RoBERTa's head uses the exact GELU whatever its layers use.
    activation = "gelu" if config.family == "roberta" else config.activation
    return VocabularyHead(matrix, b_v, *reader.linear(dense, d, d), reader.norm(norm, d), activation)


def read_weights(raw: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> Weights:
    """Adapt a checkpoint: ``raw`` is its config.json, ``tensors`` its state dict.

    Raises :class:`CheckpointError` when a tensor is missing or has another shape than the
    configuration promises. Nothing is ever initialised in its place.
    """
    config = read_config(raw)
    names = _NAMES[config.family]
    reader = _Reader(tensors, names.prefix)
    embeddings = _read_embeddings(reader, config, names, raw)
    pair_head = None
    if config.family == "bert" and reader.has_any("cls.seq_relationship."):
        pool = reader.linear(reader.prefix + "pooler.dense", config.width, config.width)
        pair_head = PairHead(*pool, *reader.linear("cls.seq_relationship", config.width, 2))
    replaced_head = None
    if config.family == "electra" and reader.has_any("discriminator_predictions."):
        dense = reader.linear("discriminator_predictions.dense", config.width, config.width)
        replaced_head = ReplacedHead(
            *dense, *reader.linear("discriminator_predictions.dense_prediction", config.width, 1)
        )
    tied = bool(raw.get("tie_word_embeddings", True))
    return Weights(
        config=config,
        embeddings=embeddings,
        layers=tuple(_read_layer(reader, config, names, i) for i in range(config.layers)),
        final_norm=reader.norm(reader.prefix + "ln_f", config.width) if config.pre_norm else None,
        vocabulary_head=_read_vocabulary_head(reader, config, names, embeddings.token, tied),
        pair_head=pair_head,
        replaced_head=replaced_head,
    )
