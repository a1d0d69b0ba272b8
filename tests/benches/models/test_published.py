"""The table of the papers' models: Transformers builds each without memory, and its parameters are counted."""

from __future__ import annotations

import pytest
import torch
from transformers import BertConfig, BertModel, GPT2Config, GPT2Model, PretrainedConfig

from lab.benches.models.parts import sizes
from lab.benches.models.published import PUBLISHED, Published
from lab.models.catalogue import card
from tests.pages.apptest import visit

every_model = pytest.mark.parametrize("entry", PUBLISHED, ids=lambda entry: entry.id)


def config_of(entry: Published) -> PretrainedConfig:
    """The configuration in Transformers' own words."""
    if entry.causal:
        return GPT2Config(
            n_layer=entry.layers, n_embd=entry.width, n_head=entry.heads, n_inner=entry.ffn_width,
            vocab_size=entry.vocabulary, n_positions=entry.max_tokens,
        )  # fmt: skip
    return BertConfig(
        num_hidden_layers=entry.layers, hidden_size=entry.width, num_attention_heads=entry.heads,
        intermediate_size=entry.ffn_width, vocab_size=entry.vocabulary, max_position_embeddings=entry.max_tokens,
        type_vocab_size=entry.segments,
    )  # fmt: skip


@every_model
def test_parameters_are_those_that_transformers_makes(entry: Published) -> None:
    with torch.device("meta"):
        model = (GPT2Model if entry.causal else BertModel)(config_of(entry))
    assert sum(each.numel() for each in model.parameters()) == entry.parameters


def test_the_defaults_of_transformers_are_bert_base_and_gpt2() -> None:
    """What the library takes when nothing is said are these two models."""
    base, small = (next(each for each in PUBLISHED if each.id == id) for id in ("bert-base-uncased", "gpt2"))
    for entry, default in ((base, BertConfig()), (small, GPT2Config())):
        ours = config_of(entry)
        for name in ("num_hidden_layers", "hidden_size", "num_attention_heads", "vocab_size"):
            assert getattr(ours, name) == getattr(default, name), name
        assert ours.max_position_embeddings == default.max_position_embeddings
    assert BertConfig().intermediate_size == base.ffn_width
    assert small.ffn_width == 4 * GPT2Config().n_embd


@every_model
def test_the_catalogue_s_file_has_room_for_them(entry: Published) -> None:
    """Four bytes a number; what a checkpoint has beyond that is its heads."""
    known = card(entry.id)
    assert known is not None
    assert 0 <= known.megabytes - 4 * entry.parameters / 1e6 < 25


def test_the_page_shows_them_beside_the_lab_s_own() -> None:
    at = visit("20_Models.py")
    table = next(each.value for each in at.table if "gpt2" in each.value.columns)
    assert list(table.columns)[:3] == ["lab-minilm", "lab-bert", "lab-gpt2"]
    for entry in PUBLISHED:
        assert table[entry.id].tolist() == [f"{each:,}" for each in sizes(entry, entry.parameters).values()]
