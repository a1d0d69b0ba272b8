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


def test_two_sentences_by_hand() -> None:
    # [CLS] a b | c [SEP]
    attention = np.zeros((1, 5, 5), dtype=np.float32)
    attention[0] = np.array(
        [
            [1.0, 0, 0, 0, 0],
            [0.5, 0.25, 0, 0.25, 0],
            [0, 0, 0.25, 0.75, 0],
            [0, 0.125, 0.125, 0.25, 0.5],
            [0, 0, 0, 0, 1],
        ]
    )
    sentence_of = [None, 0, 0, 1, None]
    found = between_sentences(iter(attention[None]), sentence_of, causal=False)
    assert found.maximum.tolist() == [[0.25, 0.75], [0.125, 0.25]]
    assert found.where[0, 1].tolist() == [0, 0, 2, 3]
    assert found.mass.tolist() == [[0.25, 0.5], [0.25, 0.25]]
    np.testing.assert_allclose(found.relative, [[0.25 / 0.4, 0.5 / 0.2], [0.25 / 0.4, 0.25 / 0.2]])
    assert found.removed.tolist() == [0.25, 0.5]
    shared = between_sentences(iter(attention[None]), sentence_of, causal=False, renormalise=True)
    assert shared.mass.tolist() == [[0.375, 0.625], [0.5, 0.5]]
    assert shared.maximum.tolist() == found.maximum.tolist()
    assert shared.removed.tolist() == found.removed.tolist()


def test_a_head_that_leaves_next_to_nothing_to_sentences_counts_for_as_little() -> None:
    # [CLS] a | b: one head parks 98 % and gives what is left to the other sentence, one reads its own.
    parked = [[1, 0, 0], [0.98, 0, 0.02], [0.98, 0.02, 0]]
    reads = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    attention = np.array([[parked, reads]], dtype=np.float32)
    found = between_sentences(iter(attention), [None, 0, 1], causal=False, renormalise=True)
    np.testing.assert_allclose(found.mass, [[1 / 1.02, 0.02 / 1.02], [0.02 / 1.02, 1 / 1.02]], rtol=1e-5)


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


def test_without_special_tokens_a_sentence_can_be_above_an_even_spread() -> None:
    """[CLS] a b | c d [SEP]: each token gives [SEP] 0.6, its own sentence 0.3 and the other 0.1."""
    one = np.zeros((6, 6), dtype=np.float32)
    one[[0, 5], 5] = 1
    for own, other in (((1, 2), (3, 4)), ((3, 4), (1, 2))):
        for query in own:
            one[query, 5] = 0.6
            one[query, list(own)], one[query, list(other)] = 0.15, 0.05
    sentence_of = [None, 0, 0, 1, 1, None]
    counted, left_out = (
        between_sentences(iter(one[None, None]), sentence_of, causal=False, renormalise=each) for each in (False, True)
    )
    # Evenly a sentence of 2 among 6 tokens gets 1/3, and among the 4 that stay 1/2.
    np.testing.assert_allclose(counted.relative, [[0.9, 0.3], [0.3, 0.9]], rtol=1e-5)
    np.testing.assert_allclose(left_out.mass, [[0.75, 0.25], [0.25, 0.75]], rtol=1e-5)
    np.testing.assert_allclose(left_out.relative, [[1.5, 0.5], [0.5, 1.5]], rtol=1e-5)
    np.testing.assert_allclose(left_out.removed, [0.6, 0.6], rtol=1e-5)


def test_one_sentence_is_one_number() -> None:
    found = between_sentences(iter(uniform_attention(1, False)[None]), [0], causal=False)
    assert (found.maximum.tolist(), found.mass.tolist(), found.relative.tolist()) == ([[1]], [[1]], [[1]])


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
