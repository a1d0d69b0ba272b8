"""Fixtures of the experiments' tests, which are those of the evidence."""

from __future__ import annotations

import pytest

from lab.evidence.intervals import DRAWS
from lab.experiments.copying import measure as copying
from lab.experiments.explanation import measure as explanation
from lab.experiments.grammar import measure as grammar
from lab.experiments.needed_heads import claims as needed_heads
from tests.evidence.conftest import family, theirs, tiny

__all__ = ["family", "theirs", "tiny"]


@pytest.fixture
def few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Judge made-up results, whose verdicts are not near a bound, on 2,000 draws: a second in place of half a minute.

    Not for what ships: other tests of this process would meet its verdicts again.
    """
    for module in (copying, explanation, grammar, needed_heads):
        monkeypatch.setattr(module, "CLAIM_DRAWS", DRAWS)
