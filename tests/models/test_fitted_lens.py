"""A fitted lens is read from its own folder, by the model that it was fitted for and no other."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from lab.evidence.shipped import model_hash
from lab.models.catalogue import CATALOGUE, EMBEDDED, ships
from lab.models.config import CheckpointError
from lab.models.fitted_lens import FOLDER, MAPS, RECORD, LensReading, fitted_lens, measured
from lab.models.loading import load_model
from lab.models.twin import random_twin
from lab.toy.models import random_toy
from tests.checkpoints import LAYERS, WIDTH
from tests.conftest import TinyCheckpoint
from tests.lenses import put_lens

SHIPPED = [entry.id for entry in CATALOGUE if ships(entry)]


@pytest.fixture
def folder(tiny_checkpoint: TinyCheckpoint, tmp_path: Path) -> Path:
    """A BERT checkpoint of this test's own, with a lens."""
    return put_lens(Path(shutil.copytree(tiny_checkpoint("bert"), tmp_path / "mine")))


def test_it_is_read_once_in_single_precision(folder: Path) -> None:
    model, stored = load_model(folder), load_file(folder / FOLDER / MAPS)
    found = fitted_lens(model)
    assert found is not None and found is fitted_lens(load_model(folder))
    assert found.w.dtype == found.b.dtype == torch.float32
    assert torch.equal(found.w, stored["w"].float()) and torch.equal(found.b, stored["b"].float())
    assert found.w.shape == (LAYERS, WIDTH, WIDTH) and found.b.shape == (LAYERS, WIDTH)


def test_a_guess_is_the_map_of_its_layer(folder: Path) -> None:
    found, states = fitted_lens(load_model(folder)), torch.randn(3, 5, WIDTH)
    assert found is not None
    for layer in range(LAYERS):
        by_hand = torch.einsum("abi,ij->abj", states, found.w[layer]) + found.b[layer]
        assert torch.allclose(found.guess(states, layer), by_hand, atol=1e-5)


def test_a_model_without_one_has_none(tiny_checkpoint: TinyCheckpoint, folder: Path) -> None:
    without = [load_model(tiny_checkpoint("bert")), random_twin(load_model(folder)), random_toy(8, 8)]
    assert all(fitted_lens(model) is None and measured(model) is None for model in without)


def test_it_is_no_part_of_the_model(folder: Path, tiny_checkpoint: TinyCheckpoint) -> None:
    """Results that were measured on a model are not stale because a lens is beside it."""
    assert model_hash(load_model(folder)) == model_hash(load_model(tiny_checkpoint("bert")))


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def _narrow(path: Path) -> None:
    save_file({name: tensor[..., :16].clone() for name, tensor in load_file(path).items()}, path)


def _half(path: Path) -> None:
    save_file({"w": load_file(path)["w"]}, path)


@pytest.mark.parametrize(
    ("damage", "said"),
    [(_cut, "lens.safetensors in mine is damaged"), (_narrow, r"'w' is \(2, 32, 16\)"), (_half, "'b' is missing")],
)
def test_a_damaged_one_ends_in_a_sentence(folder: Path, damage: Any, said: str) -> None:
    damage(folder / FOLDER / MAPS)
    with pytest.raises(CheckpointError, match=said):
        fitted_lens(load_model(folder))


@pytest.mark.parametrize("record", ["{", "{}", '{"held_out": {"places": 3, "plain": 4}}'])
def test_a_record_that_says_nothing_ends_in_a_sentence(folder: Path, record: str) -> None:
    (folder / FOLDER / RECORD).write_text(record, "utf-8")
    with pytest.raises(CheckpointError, match=RECORD):
        measured(load_model(folder))


@pytest.mark.parametrize("model_id", SHIPPED)
def test_what_ships_has_a_value_for_every_row(model_id: str) -> None:
    model = load_model(model_id)
    found, lens, rows = measured(model), fitted_lens(model), model.config.layers + 1
    assert found is not None and lens is not None and torch.isfinite(lens.w).all() and torch.isfinite(lens.b).all()
    for reading in (found.plain, found.fitted, found.untrained):
        assert all(len(values) == rows for values in vars(reading).values())
    own = LensReading(*(values[-1:] for values in vars(found.plain).values()))
    assert own == LensReading(*(values[-1:] for values in vars(found.fitted).values()))
    assert (own.agreement, own.divergence) == ((1.0,), (0.0,))
    record = json.loads((EMBEDDED / model_id / FOLDER / RECORD).read_text("utf-8"))
    assert record["held_out"]["fitted"]["agreement"] == list(found.fitted.agreement)
