"""Rollout against naive loops and against cases that can be worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

import lab
from lab.analysis.flow.maps import layer_maps
from lab.analysis.flow.rollout import rollout, with_residual


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


@pytest.mark.parametrize("layers", [1, 2, 5])
def test_uniform_attention_has_a_closed_form(layers: int) -> None:
    n, kept = 7, 0.5**layers
    found = rollout(np.full((layers, n, n), 1 / n, dtype=np.float32))
    assert np.abs(found - (kept * np.eye(n) + (1 - kept) / n)).max() < 1e-6


def test_a_head_that_looks_at_itself_and_one_that_adds_nothing_move_nothing() -> None:
    assert (rollout(np.eye(4, dtype=np.float32)[None]) == np.eye(4)).all()
    assert (rollout(np.zeros((3, 4, 4), dtype=np.float32)) == np.eye(4)).all()


def test_the_residual_path_gets_half() -> None:
    weights = np.array([[0.2, 0.8], [1.0, 0.0]], dtype=np.float32)
    assert np.allclose(with_residual(weights), [[0.6, 0.4], [0.5, 0.5]])
