"""The table of the papers' models: Transformers builds each without memory, and its parameters are counted."""

from __future__ import annotations

import pytest
import torch
from transformers import BertConfig, BertModel, GPT2Config, GPT2Model

from lab.models.catalogue import card
from lab.reference.models.shipped_parts import PUBLISHED, PublishedSize, sizes
from tests.pages.apptest import visit

every_model = pytest.mark.parametrize("entry", PUBLISHED, ids=lambda entry: entry.id)


def gpt2_config(entry: PublishedSize) -> GPT2Config:
    return GPT2Config(
        n_layer=entry.layers,
        n_embd=entry.width,
        n_head=entry.heads,
        n_inner=entry.ffn_width,
        vocab_size=entry.vocabulary,
        n_positions=entry.max_tokens,
    )


def bert_config(entry: PublishedSize) -> BertConfig:
    return BertConfig(
        num_hidden_layers=entry.layers,
        hidden_size=entry.width,
        num_attention_heads=entry.heads,
        intermediate_size=entry.ffn_width,
        vocab_size=entry.vocabulary,
        max_position_embeddings=entry.max_tokens,
        type_vocab_size=entry.segments,
    )


@every_model
def test_parameters_are_those_that_transformers_makes(entry: PublishedSize) -> None:
    with torch.device("meta"):
        model = GPT2Model(gpt2_config(entry)) if entry.causal else BertModel(bert_config(entry))
    assert sum(each.numel() for each in model.parameters()) == entry.parameters


def test_the_defaults_of_transformers_are_bert_base_and_gpt2() -> None:
    """The library takes the sizes of these two models when nothing is said."""
    base, small = (next(each for each in PUBLISHED if each.id == id) for id in ("bert-base-uncased", "gpt2"))
    theirs, ours = BertConfig().to_dict(), bert_config(base).to_dict()
    assert ours == theirs
    theirs, ours = GPT2Config().to_dict(), gpt2_config(small).to_dict()
    assert {**ours, "n_inner": None} == theirs and small.ffn_width == 4 * small.width


@every_model
def test_the_catalogue_s_file_has_room_for_them(entry: PublishedSize) -> None:
    """Four bytes a number; beyond that a checkpoint has heads, and GPT-2's the masks of its 12 layers."""
    known = card(entry.id)
    assert known is not None
    masks = 4 * entry.layers * entry.max_tokens**2 / 1e6 if entry.causal else 0
    assert -1 < known.megabytes - masks - 4 * entry.parameters / 1e6 < 25


def test_the_page_shows_them_beside_the_lab_s_own() -> None:
    at = visit("20_Models.py")
    table = next(each.value for each in at.table if "gpt2" in each.value.columns)
    assert {"lab-minilm", "lab-bert", "lab-gpt2"} < set(table.columns)
    for entry in PUBLISHED:
        assert table[entry.id].tolist() == [f"{each:,}" for each in sizes(entry, entry.parameters).values()]
