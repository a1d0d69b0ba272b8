"""Runs of the three embedded models, from which the lesson's sentences are computed again."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

import lab
from lab.models.trace import Trace
from tests.sentences import STORY

TEXTS = (STORY, "The sleepy cat sat on the mat.", "Dogs bark.")


@pytest.fixture(
    scope="module", params=[(model, text) for model in ("lab-minilm", "lab-bert", "lab-gpt2") for text in TEXTS]
)
def trace(request: pytest.FixtureRequest) -> Trace:
    model, text = request.param
    return lab.trace(lab.load_model(model), text)


@pytest.fixture
def maps(trace: Trace) -> NDArray[np.float64]:
    """All maps, (L, H, n, n)."""
    return torch.stack([trace.layer(at).attention for at in range(trace.model.config.layers)]).double().numpy()
