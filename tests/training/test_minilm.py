"""lab-minilm goes on from an encoder: its weights, its tokenizer, and when its word embeddings learn."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer
from transformers import BertConfig, BertModel

from tests.training.conftest import Corpora
from training import minilm
from training.loop import Run, Schedule
from training.minilm import MiniLmTask, Recipe, build_model, tokenizer_of


@pytest.fixture
def base(wordpiece: Corpora, tmp_path: Path) -> Path:
    """A tiny encoder without heads, whose tokenizer cuts and pads as one for sentence embeddings does."""
    folder = tmp_path / "base"
    torch.manual_seed(1)
    BertModel(
        BertConfig(
            vocab_size=300, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
            max_position_embeddings=64, hidden_dropout_prob=0.1,
        )
    ).save_pretrained(folder)  # fmt: skip
    tokenizer = Tokenizer.from_str(wordpiece[0].to_str())
    tokenizer.enable_truncation(8)
    tokenizer.enable_padding(length=8)
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def test_it_begins_with_the_base_s_weights_and_without_dropout(base: Path) -> None:
    model, encoder = build_model(base, seed=0), BertModel.from_pretrained(base)
    for name, weight in encoder.state_dict().items():
        assert torch.equal(model.bert.state_dict()[name], weight), name
    decoder = model.cls.predictions.decoder.weight
    assert decoder.data_ptr() == model.bert.embeddings.word_embeddings.weight.data_ptr()
    assert model.config.hidden_dropout_prob == model.config.attention_probs_dropout_prob == 0


def test_long_texts_are_neither_cut_nor_padded(base: Path) -> None:
    tokenizer = tokenizer_of(base)
    assert len(tokenizer.encode("the king").ids) < 8
    assert len(tokenizer.encode("the king opened the door and ran to the river and read a book").ids) > 8


def test_word_embeddings_learn_in_the_decay_only(
    base: Path, wordpiece: Corpora, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(minilm, "LENGTHS", {32: 1.0})
    monkeypatch.setattr(minilm, "DECAY_LENGTHS", {32: 1.0})
    monkeypatch.setattr(minilm, "table", lambda *_: {})  # measured by test_grammar.py
    recipe = Recipe(batch_tokens=256)

    def weights(run: Run) -> tuple[torch.Tensor, torch.Tensor]:
        state = run.task.model.state_dict()
        return (
            state["bert.embeddings.word_embeddings.weight"].clone(),
            state["bert.encoder.layer.0.attention.self.query.weight"].clone(),
        )

    constant = Run(MiniLmTask(recipe, base, wordpiece[1]), tmp_path, Schedule(2048, 0))
    words, queries = weights(constant)
    constant.train()
    assert torch.equal(weights(constant)[0], words)
    assert not torch.equal(weights(constant)[1], queries)
    decayed = Run(MiniLmTask(recipe, base, wordpiece[1]), tmp_path, Schedule(2048, 1024))
    decayed.train()
    assert not torch.equal(weights(decayed)[0], words)
    assert (tmp_path / "final.pt").exists()
