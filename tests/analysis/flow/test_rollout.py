"""Rollout against naive loops and against cases that can be worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

import lab
from lab.analysis.flow.maps import layer_maps, rollout


def naive(maps: np.ndarray) -> np.ndarray:
    n = maps.shape[-1]
    whole = [[float(i == j) for j in range(n)] for i in range(n)]
    for one in maps:
        both = [[float(one[i, j]) + (i == j) for j in range(n)] for i in range(n)]
        share = [[both[i][j] / sum(both[i]) for j in range(n)] for i in range(n)]
        whole = [[sum(share[i][m] * whole[m][j] for m in range(n)) for j in range(n)] for i in range(n)]
    return np.array(whole)


@pytest.mark.parametrize("model", ["lab-bert", "lab-gpt2"])
@pytest.mark.parametrize("norms", [False, True])
def test_of_a_trained_model(model: str, norms: bool) -> None:
    maps = layer_maps(lab.trace(lab.load_model(model), "The sleepy cat sat on the mat."), None, norms=norms)
    found = rollout(maps)
    assert np.abs(found - naive(maps)).max() < 1e-6
    assert np.abs(found.sum(axis=1) - 1).max() < 1e-5
    assert (model == "lab-gpt2") == (np.abs(np.triu(found, 1)).max() == 0)
