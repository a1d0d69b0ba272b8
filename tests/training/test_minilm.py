"""lab-minilm goes on from an encoder: its weights, its tokenizer, and when its word embeddings learn."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer
from transformers import BertConfig, BertModel

from tests.training.conftest import Corpora
from training import minilm
from training.loop import Run, Schedule
from training.minilm import MiniLmTask, Recipe, build_model, drift, tokenizer_of
from training.windows import Batch


@pytest.fixture
def base(wordpiece: Corpora, tmp_path: Path) -> Path:
    """A tiny encoder without heads, whose tokenizer cuts and pads as one for sentence embeddings does."""
    folder = tmp_path / "base"
    torch.manual_seed(1)
    BertModel(
        BertConfig(
            vocab_size=300,
            hidden_size=16,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=32,
            max_position_embeddings=64,
            hidden_dropout_prob=0.1,
        )
    ).save_pretrained(folder)
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


def test_drift_is_the_divergence_of_rows_worked_out_by_hand() -> None:
    base = torch.tensor([[[[0.5, 0.5], [1.0, 0.0]]]])
    now = torch.tensor([[[[0.25, 0.75], [0.5, 0.5]]]])
    first = 0.5 * math.log(0.5 / 0.25) + 0.5 * math.log(0.5 / 0.75)
    second = math.log(1 / 0.5)
    both = torch.tensor([[True, True]])
    assert drift([base], [now], both).item() == pytest.approx((first + second) / 2, abs=1e-6)
    assert drift([base, base], [now, now], both).item() == pytest.approx(first + second, abs=1e-6)
    assert drift([base], [now], torch.tensor([[True, False]])).item() == pytest.approx(first, abs=1e-6)
    assert drift([now], [now], both).item() == 0


def test_the_pull_is_nothing_at_the_base_and_brings_attention_back(base: Path, wordpiece: Corpora) -> None:
    torch.manual_seed(0)
    recipe = Recipe(pull=50.0)
    task = MiniLmTask(recipe, base, wordpiece[1])
    free = MiniLmTask(replace(recipe, pull=0.0), base, wordpiece[1])
    words = torch.randint(5, 300, (8, 16))
    batch = Batch(words, torch.zeros_like(words), None, torch.arange(0, 128, 9), words.flatten()[::9])
    assert torch.equal(task.loss(batch)[0], free.loss(batch)[0])
    query = task.bert.get_parameter("bert.encoder.layer.0.attention.self.query.weight")
    with torch.no_grad():
        query.add_(torch.randn_like(query))
    moved = (task.loss(batch)[0] - task.loss(batch)[1]).item()
    optimizer = torch.optim.Adam([query], lr=0.01)
    for _ in range(50):
        task.loss(batch)[0].backward()
        optimizer.step()
        optimizer.zero_grad()
    assert (task.loss(batch)[0] - task.loss(batch)[1]).item() < moved / 2
