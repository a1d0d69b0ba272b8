"""Attention variants against loops that spell the definitions out."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

import lab
from lab.analysis.heads.attention_variants import LINSCALE, NOSEP, RAW, REDUCED, SOFTMAX_SCALE, VARIANTS, variant
from lab.analysis.words.cut_by_hand import without_special

Matrix = NDArray[np.float64]


def head(n: int, seed: int, causal: bool) -> Matrix:
    scores = np.random.default_rng(seed).normal(scale=2, size=(n, n))
    weights = np.exp(scores) * (np.tri(n) if causal else 1)
    attention: Matrix = weights / weights.sum(axis=1, keepdims=True)
    return attention


def naive(name: str, a: Matrix, special: list[bool], words: list[int], causal: bool) -> tuple[Matrix, Matrix]:
    """The variant and the removed mass, number by number."""
    kept = [i for i in range(len(a)) if not special[i]]
    removed = [sum(a[i][j] for j in range(len(a)) if special[j]) for i in kept]
    m = len(kept)
    result = np.zeros((m, m))
    for x, i in enumerate(kept):
        seen = [y for y in range(m) if not causal or y <= x]
        total = sum(a[i][kept[y]] for y in seen)
        exponentials = sum(math.exp(a[i][kept[y]]) for y in seen)
        for y in seen:
            p = a[i][kept[y]]
            result[x, y] = {
                NOSEP: p,
                LINSCALE: p / total,
                SOFTMAX_SCALE: math.exp(p) / exponentials,
                REDUCED: p / total,
            }[name]
    if name != REDUCED:
        return result, np.array(removed)
    count = max(words) + 1
    reduced, mass = np.zeros((count, count)), np.zeros(count)
    for word in range(count):
        rows = [x for x in range(m) if words[x] == word]
        mass[word] = sum(removed[x] for x in rows) / len(rows)
        for other in range(count):
            columns = [y for y in range(m) if words[y] == other]
            reduced[word, other] = sum(sum(result[x, y] for y in columns) for x in rows) / len(rows)
    return reduced, mass


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("name", [NOSEP, LINSCALE, SOFTMAX_SCALE, REDUCED])
def test_a_variant_is_what_the_loops_give(name: str, causal: bool) -> None:
    special = [True, False, False, False, True, False, False, True]
    words = [0, 0, 1, 2, 2]
    if causal:
        special, words = [False] * 8, [0, 1, 1, 2, 3, 3, 3, 4]
    a = head(8, 3, causal)
    found = variant(name, a, special, words, causal=causal)
    matrix, removed = naive(name, a, special, words, causal)
    np.testing.assert_allclose(found.matrix, matrix, atol=1e-12)
    np.testing.assert_allclose(found.removed, removed, atol=1e-12)
    assert not found.matrix[~found.exists].any()
    if name != NOSEP:
        np.testing.assert_allclose(found.matrix.sum(axis=1), 1)


def test_raw_is_raw() -> None:
    a = head(6, 1, False)
    found = variant(RAW, a, [True, *[False] * 4, True], [0, 1, 2, 3], causal=False)
    np.testing.assert_array_equal(found.matrix, a)
    assert not found.removed.any()


@pytest.mark.parametrize("causal", [False, True])
def test_softmax_scale_flattens(causal: bool) -> None:
    a = np.eye(7)
    a[3] = a[0] if causal else a[3]
    found = variant(SOFTMAX_SCALE, a, [False] * 7, list(range(7)), causal=causal)
    assert found.spread == pytest.approx(math.e)
    sharp = variant(RAW, head(7, 5, causal), [False] * 7, list(range(7)), causal=causal)
    flat = variant(SOFTMAX_SCALE, head(7, 5, causal), [False] * 7, list(range(7)), causal=causal)
    assert flat.spread < math.e < sharp.spread


def test_a_row_that_spends_all_on_sep_stays_zero() -> None:
    a = np.array([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0], [0.2, 0.3, 0.5]])
    found = variant(LINSCALE, a, [False, False, True], [0, 1], causal=False)
    np.testing.assert_array_equal(found.matrix, [[0.5, 0.5], [0, 0]])
    np.testing.assert_array_equal(found.removed, [0, 1])
    assert found.spread == 1


def test_the_sep_inside_a_pair_is_removed_as_well() -> None:
    traced = lab.trace(lab.load_model("lab-bert"), "The unhappily overworked cat.", "It slept.")
    a, special = traced.layer(1).attention[2].numpy(), traced.encoding.special
    assert sum(special) == 3
    words = without_special(traced.encoding)
    for name in VARIANTS[1:]:
        found = variant(name, a, special, words.groups, causal=False)
        assert len(found.matrix) == (len(words) if name == REDUCED else len(traced) - 3)
    found = variant(NOSEP, a, special, words.groups, causal=False)
    np.testing.assert_allclose(found.matrix.sum(axis=1) + found.removed, 1, atol=1e-6)


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="'nope' is none of raw, nosep"):
        variant("nope", np.eye(2), [False] * 2, [0, 1], causal=False)
    with pytest.raises(ValueError, match="all 2 tokens are special"):
        variant(NOSEP, np.eye(2), [True] * 2, [], causal=False)


@pytest.mark.parametrize(
    ("model", "text", "pair"),
    [("lab-bert", "The unhappily overworked cat.", "It slept."), ("lab-gpt2", "The unhappily overworked cat.", None)],
)
def test_all_variants_of_a_trace_are_those_of_each_head(model: str, text: str, pair: str | None) -> None:
    traced = lab.trace(lab.load_model(model), text, pair)
    found, words = lab.variants(traced), without_special(traced.encoding).groups
    assert tuple(found) == VARIANTS
    config = traced.model.config
    for name, each in found.items():
        assert each.name == name
        assert each.matrix.shape[:2] == each.removed.shape[:2] == (config.layers, config.heads)
        for layer, head in np.ndindex(config.layers, config.heads):
            one = traced.layer(layer).attention[head].numpy()
            alone = variant(name, one, traced.encoding.special, words, causal=config.causal)
            np.testing.assert_allclose(each.matrix[layer, head], alone.matrix, atol=1e-12)
            np.testing.assert_allclose(each.removed[layer, head], alone.removed, atol=1e-12)
            np.testing.assert_array_equal(each.exists, alone.exists)
