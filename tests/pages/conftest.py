"""Fixtures of the page tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.ui import runs
from tests.checkpoints import Family, write_checkpoint
from tests.pages.apptest import Offer


@pytest.fixture
def offer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Offer:
    """``offer(family)``: put a tiny random checkpoint on the list of models; returns its name there."""

    def write(family: Family) -> str:
        folder = write_checkpoint(tmp_path / f"tiny-{family}", family)
        monkeypatch.setenv("LAB_MODELS", str(folder))
        runs.model_ids.clear()
        return folder.name

    return write
