"""DistilBERT (Sanh et al. 2019): half of BERT's layers, no segments, no next-sentence head."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from lab.models.families.bert import HeadNames, LayerNames, PostNormEncoder
from lab.models.families.family import Settings
from lab.models.weights import Weights

_LAYER = LayerNames(
    "attention",
    "attention.q_lin",
    "attention.k_lin",
    "attention.v_lin",
    "attention.out_lin",
    "sa_layer_norm",
    "ffn.lin1",
    "ffn.lin2",
    "output_layer_norm",
)


class DistilBert(PostNormEncoder):
    """DistilBERT."""

    name = "distilbert"
    title = "DistilBERT"
    classes = "DistilBert"
    prefix = "distilbert."
    decoder = "vocab_projector.weight"
    layer_path = "transformer.layer.{}"
    layer_names = _LAYER
    layer_places = _LAYER.places()
    head_names = HeadNames("vocab_transform", "vocab_layer_norm", "vocab_projector.bias")
    # Hugging Face's DistilBERT has ε = 1e-12 written into its code.
    settings = Settings("dim", "n_layers", "n_heads", "hidden_dim", activation="activation", eps=None)
    reads = frozenset({"pad_token_id"})
    only: ClassVar[Mapping[str, Any]] = {}
    # Sinusoidal positions are a table in the checkpoint, like learned positions.
    harmless = frozenset({"sinusoidal_pos_embds", "dropout", "attention_dropout", "qa_dropout", "seq_classif_dropout"})

    def segments(self, raw: Mapping[str, Any]) -> int:
        return 0

    def reference_class(self, weights: Weights) -> str:
        return "DistilBertModel" if weights.vocabulary_head is None else "DistilBertForMaskedLM"


FAMILY = DistilBert()
