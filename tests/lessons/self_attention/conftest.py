from __future__ import annotations

import pytest

from lab.models.trace import Trace
from tests.checkpoints import Family
from tests.lessons.self_attention.runs import tiny_runs


@pytest.fixture(scope="session", params=["bert", "gpt2"])
def traces(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Trace]:
    """Three texts read by a tiny checkpoint with random weights."""
    family: Family = request.param
    return tiny_runs(family, tmp_path_factory.getbasetemp())
