"""Fixtures of the engine's tests: one tiny checkpoint seen by the lab and by Hugging Face."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from lab.models.loading import LoadedModel, load_model
from tests.checkpoints import FAMILIES, Family
from tests.conftest import TinyCheckpoint
from tests.models.reference import Theirs, load_theirs

LabModel = Callable[..., LoadedModel]
HuggingFace = Callable[..., Theirs]
CopyOf = Callable[[Family], Path]


@pytest.fixture(scope="session")
def lab_model(tiny_checkpoint: TinyCheckpoint) -> LabModel:
    """``lab_model(family, seed=0)``: the tiny checkpoint as the lab loads it, shared by all tests."""

    @cache
    def load(family: Family, seed: int = 0) -> LoadedModel:
        return load_model(tiny_checkpoint(family, seed))

    return load


@pytest.fixture(scope="session")
def hugging_face(tiny_checkpoint: TinyCheckpoint) -> HuggingFace:
    """``hugging_face(family, seed=0)``: the same checkpoint as Hugging Face loads it, shared by all tests."""

    @cache
    def load(family: Family, seed: int = 0) -> Theirs:
        return load_theirs(tiny_checkpoint(family, seed), family)

    return load


@pytest.fixture(scope="module", params=FAMILIES)
def family(request: pytest.FixtureRequest) -> Family:
    """Each family in turn."""
    chosen: Family = request.param
    return chosen


@pytest.fixture
def copy_of(tiny_checkpoint: TinyCheckpoint, tmp_path: Path) -> CopyOf:
    """``copy_of(family)``: a checkpoint folder of this test's own, as it is written."""
    return lambda family: Path(shutil.copytree(tiny_checkpoint(family), tmp_path / family, dirs_exist_ok=True))
