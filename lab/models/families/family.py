"""The properties of an architecture that the lab needs; each file in this folder describes one architecture.

A test reads the configuration classes of the installed transformers, and fails on a field that a family neither reads
nor lists among the harmless ones.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from torch import Tensor, nn

from lab.models.config import CheckpointError, ModelConfig
from lab.models.families.reader import Reader, activation, small_number, whole_number
from lab.models.weights import EmbeddingWeights, LayerWeights, Norm, PairHead, ReplacedHead, VocabularyHead, Weights

# Settings that decide numbers in every family, each with the only value that the lab computes.
ONLY: Mapping[str, Any] = {"quantization_config": None, "per_layer_config": None}

# Settings that decide no number of a run: labels of classifiers, training, the form of Hugging Face's output,
# and ids that only its text generation reads. Weights are read as float32, whatever their dtype. Cutting the
# feed-forward network's input into chunks saves memory and changes nothing else.
HARMLESS = frozenset(
    {
        "transformers_version",
        "architectures",
        "output_hidden_states",
        "return_dict",
        "dtype",
        "chunk_size_feed_forward",
        "is_encoder_decoder",
        "id2label",
        "label2id",
        "problem_type",
        "bos_token_id",
        "eos_token_id",
    }
)


Side = Literal["in", "out", "weights"]
# A submodule of Hugging Face's model and one of its tensors: the input, the output, or the attention weights that the
# submodule returns with the output.
Place = tuple[str, Side]


@dataclass(frozen=True)
class Settings:
    """A family's names for its numbers in config.json."""

    width: str = "hidden_size"
    layers: str = "num_hidden_layers"
    heads: str = "num_attention_heads"
    ffn_width: str = "intermediate_size"
    positions: str = "max_position_embeddings"
    activation: str = "hidden_act"
    eps: str | None = "layer_norm_eps"  # None: not in config.json


class Family(ABC):
    """An architecture: names, readers, and the places in Hugging Face's modules of the steps that the lab computes.

    name              ``model_type`` of config.json
    title             the usual name
    classes           the beginning of the names of Hugging Face's classes
    prefix            the prefix of the base model's tensors in a model with heads
    decoder           the tensor that compares a vector with every word; None if the lab reads no vocabulary head
    layer_path        a layer's submodule in Hugging Face's base model
    embedding_places  the places in Hugging Face's base model that compute the parts of the embeddings
    layer_places      the places in a layer that compute the steps of :class:`lab.models.layer_trace.LayerTrace`
    causal, pre_norm  see :class:`lab.models.config.ModelConfig`
    reads             fields of Hugging Face's configuration class that are read, besides those of ``settings``
    only              settings on which the formulas of forward.py depend, each with the only value for which they are
                      right
    harmless          fields of the configuration class that decide no number here
    """

    name: ClassVar[str]
    title: ClassVar[str]
    classes: ClassVar[str]
    prefix: ClassVar[str]
    decoder: ClassVar[str | None]
    layer_path: ClassVar[str]
    embedding_places: ClassVar[Mapping[str, Place]]
    layer_places: ClassVar[Mapping[str, Place]]
    settings: ClassVar[Settings] = Settings()
    causal: ClassVar[bool] = False
    pre_norm: ClassVar[bool] = False
    reads: ClassVar[frozenset[str]] = frozenset()
    only: ClassVar[Mapping[str, Any]] = {}
    harmless: ClassVar[frozenset[str]] = frozenset()

    # --- config.json

    @property
    def fields(self) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
        """Return the settings that are read, those with only one supported value, and the harmless settings."""
        others = {self.settings.activation, self.settings.eps or "vocab_size"}
        read = self.reads.union(self.sizes, others, {"tie_word_embeddings", "initializer_range"})
        return read, frozenset({**ONLY, **self.only}), HARMLESS | self.harmless

    @property
    def sizes(self) -> tuple[str, ...]:
        """Return the names of the settings on which the shapes of the tensors depend."""
        called = self.settings
        return "vocab_size", called.width, called.layers, called.heads, called.ffn_width, called.positions

    def read_config(self, raw: Mapping[str, Any]) -> ModelConfig:
        """Return the model's numbers. Raises :class:`CheckpointError` for settings that the lab does not compute."""
        self.require_supported(raw)
        called = self.settings
        width, layers, heads = (whole_number(raw, name) for name in (called.width, called.layers, called.heads))
        if width % heads:
            raise CheckpointError(f"the width {width} is not a multiple of the {heads} heads.")
        offset = self.position_offset(raw)
        return ModelConfig(
            self.name,
            layers,
            heads,
            width,
            ffn_width=self.ffn_width(raw, width),
            vocabulary=whole_number(raw, "vocab_size"),
            max_tokens=whole_number(raw, called.positions, least=offset + 1) - offset,
            segments=self.segments(raw),
            activation=activation(raw, called.activation),
            norm_eps=small_number(raw, called.eps) if called.eps else 1e-12,
            causal=self.causal,
            pre_norm=self.pre_norm,
            position_offset=offset,
        )

    def require_supported(self, raw: Mapping[str, Any]) -> None:
        """Raise :class:`CheckpointError` for a setting with another value than the only one that the lab computes."""
        for setting, expected in {**ONLY, **self.only}.items():
            given = raw.get(setting, expected)
            # No value means the default, except for a switch: there, Hugging Face takes no value for "off".
            if given != expected and (given is not None or isinstance(expected, bool)):
                raise CheckpointError(f"{setting} is {given!r}; this lab computes only {expected!r}.")

    def ffn_width(self, raw: Mapping[str, Any], width: int) -> int:
        """Return the inner width d_ff of the feed-forward network."""
        return whole_number(raw, self.settings.ffn_width)

    def segments(self, raw: Mapping[str, Any]) -> int:
        """Return the number of segments that the model distinguishes; 0 without segment embeddings."""
        return 0

    def position_offset(self, raw: Mapping[str, Any]) -> int:
        """Return the row of the position table for the first token."""
        return 0

    # --- model.safetensors

    def read_weights(self, raw: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> Weights:
        """Return the model's matrices. Raises :class:`CheckpointError` for a missing or misshapen tensor."""
        config, reader = self.read_config(raw), Reader(tensors, self.prefix)
        embeddings = self.read_embeddings(reader, config, raw)
        return Weights(
            config=config,
            embeddings=embeddings,
            layers=tuple(self.read_layer(reader, config, number) for number in range(config.layers)),
            final_norm=self.read_final_norm(reader, config),
            vocabulary_head=self.read_vocabulary_head(reader, config, raw, embeddings.token),
            pair_head=self.read_pair_head(reader, config),
            replaced_head=self.read_replaced_head(reader, config),
        )

    @abstractmethod
    def read_embeddings(self, reader: Reader, config: ModelConfig, raw: Mapping[str, Any]) -> EmbeddingWeights: ...

    @abstractmethod
    def read_layer(self, reader: Reader, config: ModelConfig, number: int) -> LayerWeights: ...

    @abstractmethod
    def read_vocabulary_head(
        self, reader: Reader, config: ModelConfig, raw: Mapping[str, Any], token: Tensor
    ) -> VocabularyHead | None:
        """Return the vocabulary head, or None for a checkpoint without this head.

        ``token`` is the matrix of a tied decoder.
        """

    def read_final_norm(self, reader: Reader, config: ModelConfig) -> Norm | None:
        return None

    def read_pair_head(self, reader: Reader, config: ModelConfig) -> PairHead | None:
        return None

    def read_replaced_head(self, reader: Reader, config: ModelConfig) -> ReplacedHead | None:
        return None

    def read_decoder(self, reader: Reader, config: ModelConfig, raw: Mapping[str, Any], token: Tensor) -> Tensor:
        """Return the matrix of the vocabulary head, (vocabulary, width): a separate tensor, or the token embeddings."""
        assert self.decoder is not None
        if not raw.get("tie_word_embeddings", True) and not reader.has(self.decoder):
            raise CheckpointError(f"config.json says the decoder is not tied, yet {self.decoder!r} is missing.")
        if not reader.has(self.decoder):
            return token
        return reader.take(self.decoder, config.vocabulary, config.width)

    # --- initial weights, used by lab/models/twin.py

    def initial_std(self, name: str, raw: Mapping[str, Any]) -> float:
        """Return the standard deviation from which Hugging Face draws the tensor ``name``."""
        return float(raw.get("initializer_range") or 0.02)

    def initial_cut(self, raw: Mapping[str, Any]) -> float | None:
        """Return the number of standard deviations at which the draw of a tensor is cut off, or None."""
        return None

    def padding_row(self, name: str, raw: Mapping[str, Any]) -> int | None:
        """Return the row of the table ``name`` that Hugging Face sets to 0, or None if there is no such row."""
        return None

    # --- Hugging Face's module, used by lab/models/proof.py

    def is_class(self, name: str) -> bool:
        """Return whether Hugging Face's class ``name`` is a model of this family, such as BertForMaskedLM."""
        return re.fullmatch(rf"{self.classes}(Model|LMHeadModel|DoubleHeadsModel|For\w+)", name) is not None

    @abstractmethod
    def reference_class(self, weights: Weights) -> str:
        """Return the name of Hugging Face's class with exactly the heads of the checkpoint."""

    def turned(self, base: nn.Module, layer: int, query: Tensor, key: Tensor) -> tuple[Tensor, Tensor]:
        """Hugging Face's queries and keys (H, n, d_k) of a layer as they enter the scores: rotated in ModernBERT."""
        return query, key
