"""A training can be stopped, resumed, carried further and decayed, and its product ships."""

from __future__ import annotations

import json
import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor

from lab.models.loading import load_model
from lab.models.proof import prove
from lab.models.trace import trace
from tests.training.conftest import Corpora
from training import bert, export, gpt2, loop
from training.loop import Run, Schedule

TINY_BERT = bert.Recipe(layers=1, width=32, heads=2, vocabulary=300, batch_tokens=512)
TINY_GPT2 = gpt2.Recipe(layers=1, width=32, heads=2, vocabulary=400, batch_tokens=512)


@pytest.fixture(autouse=True)
def short_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "LOG_EVERY", 2048)
    monkeypatch.setattr(bert, "DECAY_LENGTHS", {32: 1.0})


def test_the_schedule_warms_up_stays_and_decays() -> None:
    schedule = Schedule(constant=1000, decay=500, warm_up=100)
    assert schedule.factor(0) == pytest.approx(0.01)
    assert schedule.factor(100) == schedule.factor(999) == 1
    assert schedule.factor(1250) == pytest.approx(0.5)
    assert schedule.factor(1500) == 0
    assert Schedule(constant=1000, decay=0).left(5000) == 1


def test_a_run_resumes_decays_and_ends(wordpiece: Corpora, tmp_path: Path) -> None:
    def run(constant: int, decay: int) -> Run:
        return Run(bert.BertTask(TINY_BERT, wordpiece[1], wordpiece[0]), tmp_path, Schedule(constant, decay))

    first = run(4096, 0)
    first.train()
    resumed = run(8192, 0)
    assert resumed.tokens == first.tokens
    for ours, theirs in zip(first.task.model.parameters(), resumed.task.model.parameters(), strict=True):
        assert torch.equal(ours, theirs)
    resumed.train()
    assert resumed.log[0]["loss"] > resumed.log[-1]["loss"]
    # Asking for a decay at an earlier point decays what there is.
    decayed = run(2048, 4096)
    decayed.train()
    assert decayed.tokens >= resumed.tokens + 4096
    assert (tmp_path / "final.pt").exists() and not (tmp_path / "decay.pt").exists()
    assert json.loads((tmp_path / "log.json").read_text())["constant"] == resumed.tokens
    # The constant phase is still there to be carried further.
    assert run(100_000, 0).tokens == resumed.tokens


@pytest.mark.parametrize("model_id", ["lab-bert", "lab-gpt2"])
def test_what_is_exported_loads_and_is_proven(
    model_id: str, wordpiece: Corpora, bpe: Corpora, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_bert = model_id == "lab-bert"
    tokenizer, corpora = wordpiece if of_bert else bpe
    monkeypatch.setattr(bert, "Recipe", lambda: replace(TINY_BERT, vocabulary=300))
    monkeypatch.setattr(gpt2, "Recipe", lambda: TINY_GPT2)
    task = bert.BertTask(TINY_BERT, corpora, tokenizer) if of_bert else gpt2.Gpt2Task(TINY_GPT2, corpora, tokenizer)
    Run(task, tmp_path, Schedule(1024, 1024)).train()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    export.export(model_id, tmp_path / "final.pt", tmp_path / "shipped")
    model = load_model(tmp_path / "shipped")
    assert prove(model, trace(model, "The king opened the door.")).passed


def test_a_run_that_is_told_to_stop_keeps_what_it_has(
    wordpiece: Corpora, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Run(bert.BertTask(TINY_BERT, wordpiece[1], wordpiece[0]), tmp_path, Schedule(1_000_000, 0))
    update = Run.update

    def told_to_stop(self: Run) -> Tensor:
        loss = update(self)
        os.kill(os.getpid(), signal.SIGTERM)
        return loss

    monkeypatch.setattr(Run, "update", told_to_stop)
    run.train()
    assert 0 < run.tokens < loop.LOG_EVERY
    again = Run(bert.BertTask(TINY_BERT, wordpiece[1], wordpiece[0]), tmp_path, Schedule(1_000_000, 0))
    assert again.tokens == run.tokens


@pytest.mark.parametrize("shape", [(24, 24), (16, 48), (48, 16)])
def test_muon_takes_a_matrix_to_nearly_orthogonal_in_float32(shape: tuple[int, int]) -> None:
    gradient = torch.randn(shape, generator=torch.Generator().manual_seed(0))
    found = loop.orthogonal(gradient, (3.4445, -4.7750, 2.0315), 5, 1e-7)
    singular = torch.linalg.svdvals(found)
    assert found.shape == shape and float(singular.min()) > 0.5 and float(singular.max()) < 1.3
    # The same singular vectors: U^T found V is diagonal.
    u, _, v = torch.linalg.svd(gradient, full_matrices=False)
    inside = u.T @ found @ v.T
    assert torch.allclose(inside, torch.diag(inside.diagonal()), atol=1e-4)
