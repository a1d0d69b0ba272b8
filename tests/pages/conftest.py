"""Fixtures of the page tests."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lab.charts.base import plain
from lab.toy.training import Plan
from lab.ui import address, runs
from lab.ui.parameter_kinds import Parameter
from lab.ui.toys.watched import _finished
from tests.checkpoints import Family
from tests.conftest import TinyCheckpoint
from tests.pages.apptest import Offer


@pytest.fixture(scope="session")
def tiny_folders(tiny_checkpoint: TinyCheckpoint, tmp_path_factory: pytest.TempPathFactory) -> Callable[[Family], Path]:
    """``tiny_folders(family)``: the shared folder of a tiny checkpoint, under the name that visitors see."""
    root = tmp_path_factory.mktemp("offered")

    def folder(family: Family) -> Path:
        named = root / f"tiny-{family}"
        if not named.exists():
            shutil.copytree(tiny_checkpoint(family), named)
        return named

    return folder


@pytest.fixture(autouse=True)
def named_by_the_record(monkeypatch: pytest.MonkeyPatch) -> None:
    """No page draws the widget of a parameter that its record does not name: a link to the page would leave it out."""
    key = Parameter._key

    def watched(self: Parameter[Any]) -> str:
        assert not self.kept or self.name in address.names_of(address.here()), (address.here().id, self.name)
        return key(self)

    monkeypatch.setattr(Parameter, "_key", watched)


# They draw, for many texts and links, what the file of each page draws, too.
WALKERS = ("test_matrix.py", "test_before_the_question.py", "test_fuzz.py", "test_fuzz_links.py")


@pytest.fixture(autouse=True)
def charts_are_checked_once(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Charts are held against the schema of Vega-Lite in the files of their pages and in test_notebooks.py."""
    if request.path.name in WALKERS:
        monkeypatch.setattr(plain, "CHECKED", False)


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Trainings of twenty steps, so that every stage is one step; nothing is kept between tests."""
    monkeypatch.setattr(Plan, "steps", property(lambda self: 20))
    _finished.clear()
    yield
    _finished.clear()


@pytest.fixture
def offer(tiny_folders: Callable[[Family], Path], monkeypatch: pytest.MonkeyPatch) -> Iterator[Offer]:
    """``offer(family)``: put a tiny random checkpoint on the list of models; returns its name there.

    The folder is shared by all tests: copy it before changing a file in it.
    """

    def put(family: Family) -> str:
        folder = tiny_folders(family)
        monkeypatch.setenv("LAB_MODELS", str(folder))
        runs.model_ids.clear()
        return folder.name

    yield put
    runs.model_ids.clear()
