"""Inter-sentence attention against loops over layers, heads and pairs of tokens."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lab
from lab.analysis.heads.values import uniform_attention
from lab.analysis.sentences.between_sentences import (
    between_sentences,
    cells,
    inter_sentence,
    mean_cells,
    sentence_members,
)
from tests.analysis.matrices import Weights, random_attention
from tests.checkpoints import Family, write_checkpoint

Sentences = list[int | None]
SHARPNESS = st.sampled_from([0.0, 2.0, 30.0])


@st.composite
def numbered(draw: st.DrawFn) -> Sentences:
    """Sentences of one to four tokens in reading order, now and then a token in none of them."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    found: Sentences = [None] * draw(st.integers(0, 2))
    for sentence, size in enumerate(sizes):
        found += [sentence] * size + [None] * draw(st.integers(0, 1))
    return found


def among(a: Weights, sentence_of: Sentences) -> Weights:
    """(L, H, n, n) in double precision, without what goes to tokens in no sentence."""
    return a.astype(np.float64) * np.array([s is not None for s in sentence_of])


def mean_shares(a: Weights, sentence_of: Sentences, renormalise: bool) -> Weights:
    """(n, n), the mean over layers and heads, rows over the tokens in sentences made to sum to 1 if asked for."""
    mean = among(a, sentence_of).mean((0, 1))
    total = mean.sum(-1, keepdims=True)
    return np.divide(mean, total, out=np.zeros_like(mean), where=total > 0) if renormalise else mean


@settings(max_examples=40)
@given(numbered(), st.integers(0, 99), st.booleans(), st.booleans(), SHARPNESS)
def test_matrices_are_what_loops_over_pairs_give(
    sentence_of: Sentences, seed: int, causal: bool, renormalise: bool, sharpness: float
) -> None:
    n = len(sentence_of)
    a = random_attention(seed, 6, n, causal, sharpness).reshape(2, 3, n, n)
    found = between_sentences(iter(a), sentence_of, causal=causal, renormalise=renormalise)
    mine, mean = among(a, sentence_of), mean_shares(a, sentence_of, renormalise)
    even = mean_shares(uniform_attention(n, causal)[None], sentence_of, renormalise)
    members = [[i for i in range(n) if sentence_of[i] == s] for s in range(len(found.members))]
    for x, queries in enumerate(members):
        for y, keys in enumerate(members):
            pairs = [(i, j) for i in queries for j in keys if not causal or j <= i]
            mass = sum(mean[i, j] for i, j in pairs) / len(queries)
            assert found.mass[x, y] == pytest.approx(mass, rel=1e-4, abs=1e-6)
            if not pairs:
                assert math.isnan(found.maximum[x, y]) and math.isnan(found.relative[x, y])
                assert found.where[x, y].tolist() == [-1] * 4
                continue
            largest = max(mine[layer, head, i, j] for i, j in pairs for layer in range(2) for head in range(3))
            assert found.maximum[x, y] == pytest.approx(largest, rel=1e-4, abs=1e-6)
            layer, head, i, j = found.where[x, y].tolist()
            assert i in queries and j in keys
            assert mine[layer, head, i, j] == pytest.approx(largest, rel=1e-4, abs=1e-6)
            uniform = sum(even[i, j] for i, j in pairs) / len(queries)
            assert found.relative[x, y] == pytest.approx(mass / uniform, rel=1e-3, abs=1e-5)
        outside = [j for j in range(n) if sentence_of[j] is None]
        sent_away = sum(float(a[..., i, j].mean()) for i in queries for j in outside) / len(queries)
        assert found.removed[x] == pytest.approx(sent_away, abs=1e-5)
        if not renormalise:  # what a token spends, it spends on sentences or on what is in none
            assert found.mass[x].sum() + found.removed[x] == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("renormalise", [False, True])
def test_uniform_attention_prefers_no_sentence(causal: bool, renormalise: bool) -> None:
    sentence_of: Sentences = [None, 0, 0, 0, 1, 2, 2, None]
    one = uniform_attention(8, causal)[None]
    found = between_sentences(iter(one), sentence_of, causal=causal, renormalise=renormalise)
    visible = np.tri(3, dtype=bool) | (not causal)
    np.testing.assert_allclose(found.relative[visible], 1, rtol=1e-6)
    assert np.isnan(found.relative[~visible]).all()


@pytest.mark.parametrize("family", ["bert", "gpt2"])
@pytest.mark.parametrize("renormalise", [False, True])
def test_a_trace_and_the_cells_behind_a_number(family: Family, renormalise: bool, tmp_path: Path) -> None:
    model = lab.load_model(write_checkpoint(tmp_path / family, family, seed=5))
    trace = lab.trace(model, "The cat sat. It was tired. Birds build nests.")
    cuts = [trace.text.index("It"), trace.text.index("Birds")]
    sentence_of: Sentences = [
        None if special else sum(start >= cut - 1 for cut in cuts)
        for (start, _), special in zip(trace.offsets, trace.encoding.special, strict=True)
    ]
    found = inter_sentence(trace, tuple(sentence_of), renormalise=renormalise)
    mine = among(trace.attention.numpy(), sentence_of)
    shares = mean_shares(trace.attention.numpy(), sentence_of, renormalise)
    for a, b in ((2, 0), (1, 1), (2, 1)):
        layer, head, i, j = found.where[a, b].tolist()
        drilled = cells(trace, found, layer, head, a, b)
        expected = mine[layer, head][np.ix_(drilled.queries, drilled.keys)]
        np.testing.assert_allclose(drilled.weights, expected, atol=1e-6)
        assert drilled.weights.max() == pytest.approx(found.maximum[a, b], rel=1e-5)
        at = drilled.queries.tolist().index(i), drilled.keys.tolist().index(j)
        assert drilled.weights[at] == drilled.weights.max()
        mean = mean_cells(trace, found, a, b)
        assert (mean.queries.tolist(), mean.keys.tolist()) == (drilled.queries.tolist(), drilled.keys.tolist())
        np.testing.assert_allclose(mean.weights, shares[np.ix_(mean.queries, mean.keys)], atol=1e-6)
        assert found.maximum[a, b] == pytest.approx(
            mine[:, :, found.members[a][:, None], found.members[b]].max(), rel=1e-5
        )
    with pytest.raises(IndexError, match="sentences 0 to 2"):
        cells(trace, found, 0, 0, 3, 0)
    with pytest.raises(IndexError, match="sentences 0 to 2"):
        mean_cells(trace, found, 0, 3)
    with pytest.raises(IndexError, match="heads 0 to 3"):
        cells(trace, found, 0, 4, 0, 0)
    with pytest.raises(ValueError, match="sentence_of is about 2"):
        inter_sentence(trace, (0, 0))


def test_members_are_in_reading_order_and_complete() -> None:
    assert [places.tolist() for places in sentence_members([None, 0, 1, 1, None, 1])] == [[1], [2, 3, 5]]
    for wrong in ([None, None], [0, 2], [1]):
        with pytest.raises(ValueError, match="each needs a token"):
            sentence_members(wrong)


def test_a_row_that_spends_next_to_nothing_on_sentences_is_shared_out_without_a_warning() -> None:
    a = np.zeros((1, 1, 3, 3), dtype=np.float32)
    a[..., 0] = 1
    a[0, 0, 2] = 1, 1e-40, 3e-40  # 1 ÷ 4e-40 is more than float32 holds
    with np.errstate(over="raise"):
        found = between_sentences(iter(a), [None, 0, 1], causal=True, renormalise=True)
    assert found.mass[1] == pytest.approx([0.25, 0.75], rel=1e-3)
