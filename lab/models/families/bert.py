"""BERT (Devlin et al. 2019), and the parts that RoBERTa, ELECTRA and DistilBERT took over from BERT."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from torch import Tensor

from lab.models.config import ModelConfig
from lab.models.families.family import Family, Place
from lab.models.families.reader import Reader, padding_id, whole_number
from lab.models.weights import EmbeddingWeights, LayerWeights, PairHead, VocabularyHead, Weights


@dataclass(frozen=True)
class LayerNames:
    """The names of the submodules in which a layer keeps its matrices and computes attention."""

    attention: str
    query: str
    key: str
    value: str
    output: str
    norm_1: str
    ffn_in: str
    ffn_out: str
    norm_2: str

    def places(self) -> Mapping[str, Place]:
        """The steps of a post-norm layer, each with the submodule that has it as its input, output or weights."""
        return {
            "query": (self.query, "out"),
            "key": (self.key, "out"),
            "value": (self.value, "out"),
            "attention": (self.attention, "weights"),
            "context_concat": (self.output, "in"),
            "attention_output": (self.output, "out"),
            "attention_residual": (self.norm_1, "in"),
            "attention_norm": (self.norm_1, "out"),
            "ffn_hidden": (self.ffn_in, "out"),
            "ffn_activation": (self.ffn_out, "in"),
            "ffn_output": (self.ffn_out, "out"),
            "ffn_residual": (self.norm_2, "in"),
            "output": (self.norm_2, "out"),
        }


@dataclass(frozen=True)
class HeadNames:
    """The names of the masked-language head's transform and bias."""

    dense: str
    norm: str
    bias: str


BERT_LAYER = LayerNames(
    "attention.self",
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.output.dense",
    "attention.output.LayerNorm",
    "intermediate.dense",
    "output.dense",
    "output.LayerNorm",
)


class PostNormEncoder(Family):
    """The encoder of BERT. Each subclass gives its own names for BERT's tensors, and the differences from BERT."""

    layer_path = "encoder.layer.{}"
    layer_names: ClassVar[LayerNames] = BERT_LAYER
    layer_places = BERT_LAYER.places()
    head_names: ClassVar[HeadNames | None]
    reads = frozenset({"type_vocab_size", "pad_token_id"})
    # Hugging Face's classes no longer know position_embedding_type; older checkpoints with other positions have it.
    only: ClassVar[Mapping[str, Any]] = {
        "position_embedding_type": "absolute",
        "is_decoder": False,
        "add_cross_attention": False,
    }
    harmless = frozenset({"hidden_dropout_prob", "attention_probs_dropout_prob", "classifier_dropout", "use_cache"})
    embedding_places: ClassVar[Mapping[str, Place]] = {
        "token": ("embeddings.word_embeddings", "out"),
        "position": ("embeddings.position_embeddings", "out"),
        "segment": ("embeddings.token_type_embeddings", "out"),
        "sum": ("embeddings.LayerNorm", "in"),
        "norm": ("embeddings.LayerNorm", "out"),
    }

    def segments(self, raw: Mapping[str, Any]) -> int:
        return whole_number(raw, "type_vocab_size")

    def embedding_width(self, config: ModelConfig, raw: Mapping[str, Any]) -> int:
        """Return the width of the look-up tables."""
        return config.width

    def read_embeddings(self, reader: Reader, config: ModelConfig, raw: Mapping[str, Any]) -> EmbeddingWeights:
        e, at = self.embedding_width(config, raw), f"{reader.prefix}embeddings."
        positions = config.max_tokens + config.position_offset
        segments = config.segments
        padding_id(raw, config.vocabulary)
        return EmbeddingWeights(
            token=reader.take(f"{at}word_embeddings.weight", config.vocabulary, e),
            position=reader.take(f"{at}position_embeddings.weight", positions, e),
            segment=reader.take(f"{at}token_type_embeddings.weight", segments, e) if segments else None,
            norm=reader.norm(f"{at}LayerNorm", e),
            project=reader.linear(f"{reader.prefix}embeddings_project", e, config.width) if e != config.width else None,
        )

    def read_layer(self, reader: Reader, config: ModelConfig, number: int) -> LayerWeights:
        names, d, d_ff = self.layer_names, config.width, config.ffn_width
        at = f"{reader.prefix}{self.layer_path.format(number)}."
        return LayerWeights(
            *reader.linear(at + names.query, d, d),
            *reader.linear(at + names.key, d, d),
            *reader.linear(at + names.value, d, d),
            *reader.linear(at + names.output, d, d),
            reader.norm(at + names.norm_1, d),
            *reader.linear(at + names.ffn_in, d, d_ff),
            *reader.linear(at + names.ffn_out, d_ff, d),
            reader.norm(at + names.norm_2, d),
        )

    def head_activation(self, config: ModelConfig) -> str:
        """Return the non-linearity of the masked-language head."""
        return config.activation

    def read_vocabulary_head(
        self, reader: Reader, config: ModelConfig, raw: Mapping[str, Any], token: Tensor
    ) -> VocabularyHead | None:
        names, d = self.head_names, config.width
        if names is None or self.decoder is None:
            return None
        if not reader.has_any(names.dense, names.norm, names.bias, self.decoder):
            return None
        matrix = self.read_decoder(reader, config, raw, token)
        # An untied decoder may have its own bias.
        own_bias = self.decoder.removesuffix("weight") + "bias"
        bias = reader.take(own_bias if reader.has(own_bias) else names.bias, config.vocabulary)
        w, b = reader.linear(names.dense, d, d)
        return VocabularyHead(matrix, bias, w, b, reader.norm(names.norm, d), self.head_activation(config))

    def padding_row(self, name: str, raw: Mapping[str, Any]) -> int | None:
        return raw["pad_token_id"] if name.endswith("word_embeddings.weight") else None


class Bert(PostNormEncoder):
    """BERT itself."""

    name = "bert"
    title = "BERT"
    classes = "Bert"
    prefix = "bert."
    decoder = "cls.predictions.decoder.weight"
    head_names = HeadNames(
        "cls.predictions.transform.dense", "cls.predictions.transform.LayerNorm", "cls.predictions.bias"
    )

    def read_pair_head(self, reader: Reader, config: ModelConfig) -> PairHead | None:
        if not reader.has_any("cls.seq_relationship."):
            return None
        pool = reader.linear(f"{reader.prefix}pooler.dense", config.width, config.width)
        return PairHead(*pool, *reader.linear("cls.seq_relationship", config.width, 2))

    def reference_class(self, weights: Weights) -> str:
        if weights.pair_head is not None:
            return "BertForPreTraining"
        return "BertForMaskedLM" if weights.vocabulary_head is not None else "BertModel"


FAMILY = Bert()
