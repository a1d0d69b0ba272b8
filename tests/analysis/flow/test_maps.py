"""Flow from layer to layer: norms against naive loops, links against every path written out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import lab
from lab.analysis.flow.maps import Links, contribution_norms, layer_map, layer_maps, rollout, strongest_links
from lab.models.trace import Trace
from tests.conftest import TinyCheckpoint

TEXT = "The cat sat on the mat."


@pytest.fixture(scope="module", params=["bert", "gpt2"])
def traced(request: pytest.FixtureRequest, tiny_checkpoint: TinyCheckpoint) -> Trace:
    folder: Path = tiny_checkpoint(request.param)
    return lab.trace(lab.load_model(folder), TEXT)


def test_contribution_norms_by_naive_loops(traced: Trace) -> None:
    layer = traced.layer(1)
    heads, n, width = layer.value.shape
    expected = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            added = torch.zeros(layer.weights.w_o.shape[1], dtype=torch.float64)
            for h in range(heads):
                rows = layer.weights.w_o[h * width : (h + 1) * width].double()
                added += layer.attention[h, i, j].double() * (layer.value[h, j].double() @ rows)
            expected[i, j] = float(added.square().sum().sqrt())
    assert np.abs(contribution_norms(layer).numpy() - expected).max() < 1e-6
    assert expected.max() > 1e-3


def test_maps_are_the_traces_weights_or_shares_of_its_norms(traced: Trace) -> None:
    maps = layer_maps(traced, None)
    for index, found in enumerate(maps):
        layer = traced.layer(index)
        assert np.abs(found - layer.attention.numpy().mean(axis=0)).max() < 1e-7
        assert (layer_map(layer, 1) == layer.attention[1].numpy()).all()
        norms = layer.head_contribution[1].numpy()
        assert np.allclose(layer_map(layer, 1, norms=True), norms / norms.sum(axis=1, keepdims=True), atol=1e-6)
        assert np.allclose(layer_map(layer, None, norms=True).sum(axis=1), 1, atol=1e-5)
    assert np.allclose(maps.sum(axis=-1), 1, atol=1e-5)


def random_maps(seed: int, layers: int, n: int) -> np.ndarray:
    scores = np.random.default_rng(seed).normal(0, 2, (layers, n, n))
    weights = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
    return weights.astype(np.float32)


def triples(links: Links) -> set[tuple[int, int, int]]:
    return set(zip(links.layer.tolist(), links.key.tolist(), links.query.tolist(), strict=True))


@given(st.integers(0, 999), st.integers(1, 3), st.integers(1, 6), st.sampled_from([0.0, 0.05, 0.3]), st.integers(1, 9))
def test_each_layer_shows_its_strongest(seed: int, layers: int, n: int, threshold: float, most: int) -> None:
    maps = random_maps(seed, layers, n)
    links = strongest_links(maps, threshold, most)
    reaching, mass = 0, 0.0
    for index in range(layers):
        there = sorted((float(w) for w in maps[index].ravel() if w >= threshold), reverse=True)
        reaching += len(there)
        mass += sum(there[:most])
        assert sorted(links.weight[links.layer == index].tolist(), reverse=True) == there[:most]
    assert links.reaching == reaching
    assert links.mass == pytest.approx(mass / (layers * n), abs=1e-5)
    assert (links.weight == maps[links.layer, links.query, links.key]).all()


@given(st.integers(0, 999), st.integers(1, 3), st.integers(2, 5), st.sampled_from([0.0, 0.3]))
def test_one_token_keeps_its_strongest_link_in_each_layer(seed: int, layers: int, n: int, threshold: float) -> None:
    maps = random_maps(seed, layers, n)
    own = {
        (layer, int(rows[1].argmax()), 1) for layer, rows in enumerate(maps) if rows[1].max() >= max(threshold, 1e-9)
    }
    for most in (1, 3):
        plain = triples(strongest_links(maps, threshold, most))
        assert triples(strongest_links(maps, threshold, most, target=1)) == plain | own


def on_paths(maps: np.ndarray, threshold: float, source: int) -> set[tuple[int, int, int]]:
    """Every link on every path from ``source``, by walking all of them."""
    found = set()

    def walk(layer: int, token: int) -> None:
        for query in range(maps.shape[1]):
            if layer < len(maps) and maps[layer, query, token] >= threshold:
                found.add((layer, token, query))
                walk(layer + 1, query)

    walk(0, source)
    return found


@given(st.integers(0, 999), st.integers(1, 3), st.integers(2, 5))
def test_paths_of_one_token(seed: int, layers: int, n: int) -> None:
    maps = random_maps(seed, layers, n)
    assert triples(strongest_links(maps, 0.2, 100, source=1)) == on_paths(maps, 0.2, 1)
    few = triples(strongest_links(maps, 0.2, 2, source=1))
    assert few <= on_paths(maps, 0.2, 1)
    for layer, key, _ in few:  # each is reached by links that are drawn
        assert key == 1 if layer == 0 else any((layer - 1, before, key) in few for before in range(n))


def test_tokens_left_out_and_weights_of_zero_have_no_links() -> None:
    maps = np.tril(random_maps(3, 2, 4))
    links = strongest_links(maps, 0.0, 100, keep=[False, True, True, True])
    assert 0 not in links.key and 0 not in links.query
    assert triples(links) == {
        (layer, key, query) for layer in (0, 1) for query in (1, 2, 3) for key in range(1, query + 1)
    }
    assert len(strongest_links(maps, 1.1, 100)) == 0


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
