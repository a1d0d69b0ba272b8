"""RoBERTa (Liu et al. 2019): BERT's encoder, byte-level BPE, no next-sentence head."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lab.models.config import ModelConfig
from lab.models.families.bert import HeadNames, PostNormEncoder
from lab.models.families.reader import whole_number
from lab.models.weights import Weights


class Roberta(PostNormEncoder):
    """RoBERTa. RoBERTa's positions begin after the id of padding, and the position vector of padding is all 0."""

    name = "roberta"
    title = "RoBERTa"
    classes = "Roberta"
    prefix = "roberta."
    decoder = "lm_head.decoder.weight"
    head_names = HeadNames("lm_head.dense", "lm_head.layer_norm", "lm_head.bias")

    def position_offset(self, raw: Mapping[str, Any]) -> int:
        return whole_number(raw, "pad_token_id", least=0) + 1

    def head_activation(self, config: ModelConfig) -> str:
        return "gelu"  # the vocabulary head uses exact GELU, even if the layers use another activation

    def padding_row(self, name: str, raw: Mapping[str, Any]) -> int | None:
        if not name.endswith(("word_embeddings.weight", "position_embeddings.weight")):
            return None
        return raw["pad_token_id"]

    def reference_class(self, weights: Weights) -> str:
        return f"{self.classes}{'Model' if weights.vocabulary_head is None else 'ForMaskedLM'}"


class XlmRoberta(Roberta):
    """XLM-RoBERTa (Conneau et al. 2020): RoBERTa for a hundred languages."""

    name = "xlm-roberta"
    title = "XLM-RoBERTa"
    classes = "XLMRoberta"


class Camembert(Roberta):
    """CamemBERT (Martin et al. 2020): RoBERTa for French."""

    name = "camembert"
    title = "CamemBERT"
    classes = "Camembert"


FAMILY = Roberta()
XLM_ROBERTA = XlmRoberta()
CAMEMBERT = Camembert()
