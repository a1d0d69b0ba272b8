"""ELECTRA's discriminator (Clark et al. 2020): BERT's encoder, trained to tell replaced tokens from real tokens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lab.models.config import ModelConfig
from lab.models.families.bert import PostNormEncoder
from lab.models.families.reader import Reader, whole_number
from lab.models.weights import ReplacedHead, Weights


class Electra(PostNormEncoder):
    """ELECTRA. ELECTRA's embeddings may be narrower than the layers. A generator's vocabulary head is not read."""

    name = "electra"
    title = "ELECTRA"
    classes = "Electra"
    prefix = "electra."
    decoder = None
    head_names = None
    reads = PostNormEncoder.reads | {"embedding_size"}
    harmless = PostNormEncoder.harmless | {
        "summary_type",
        "summary_use_proj",
        "summary_activation",
        "summary_last_dropout",
    }

    def embedding_width(self, config: ModelConfig, raw: Mapping[str, Any]) -> int:
        return whole_number(raw, "embedding_size")

    def read_replaced_head(self, reader: Reader, config: ModelConfig) -> ReplacedHead | None:
        if not reader.has_any("discriminator_predictions."):
            return None
        dense = reader.linear("discriminator_predictions.dense", config.width, config.width)
        return ReplacedHead(*dense, *reader.linear("discriminator_predictions.dense_prediction", config.width, 1))

    def reference_class(self, weights: Weights) -> str:
        return "ElectraModel" if weights.replaced_head is None else "ElectraForPreTraining"


FAMILY = Electra()
