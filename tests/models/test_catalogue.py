"""Folders of one name each have a place, under a name that tells them apart."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lab.models.catalogue import DEFAULT_MODEL, by_name, listed
from lab.ui import runs
from tests.checkpoints import write_checkpoint


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (("/run_a/checkpoint-500", "/run_b/checkpoint-500"), ["run_a/checkpoint-500", "run_b/checkpoint-500"]),
        (("/a/run/last", "/b/run/last", "/c/else/last"), ["a/run/last", "b/run/last", "else/last"]),
        (("/last", "/a/last"), ["/last", "a/last"]),
        (("/mine", "/a/other"), ["mine", "other"]),
        ((f"/models/{DEFAULT_MODEL}",), [f"models/{DEFAULT_MODEL}"]),
        ((f"/{DEFAULT_MODEL}",), [f"/{DEFAULT_MODEL}"]),
        (("/models/gpt2", "/other/gpt2"), ["models/gpt2", "other/gpt2"]),
        (("/models/gpt2",), ["gpt2"]),
        ((), []),
    ],
)
def test_names_tell_folders_apart(paths: tuple[str, ...], names: list[str]) -> None:
    found = by_name(map(Path, paths))
    assert [name.replace("//", "/") for name in found] == names
    assert [*found.values()] == [*map(Path, paths)]


def test_the_same_folder_twice_is_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LAB_MODELS", os.pathsep.join([str(tmp_path), f"{tmp_path}/", "", str(tmp_path)]))
    assert listed() == (tmp_path,)


def test_each_folder_is_its_own_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folders = [
        write_checkpoint(tmp_path / run / "checkpoint-500", "bert", seed) for seed, run in enumerate(("run_a", "run_b"))
    ]
    shadowed = write_checkpoint(tmp_path / "models" / DEFAULT_MODEL, "gpt2")
    monkeypatch.setenv("LAB_MODELS", os.pathsep.join(map(str, (*folders, shadowed))))
    runs.model_ids.clear()
    names = ["run_a/checkpoint-500", "run_b/checkpoint-500", f"models/{DEFAULT_MODEL}"]
    assert [*runs.model_ids()][-3:] == names and len({*runs.model_ids()}) == len(runs.model_ids())
    for name, folder in zip(names, (*folders, shadowed), strict=True):
        model = runs.model(name)
        assert (model.id, model.source) == (name, folder)
    assert runs.model(DEFAULT_MODEL).source != shadowed
    runs.model_ids.clear()
