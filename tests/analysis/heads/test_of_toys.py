"""The scores of a toy's heads, against loops and heads whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.analysis.heads.induction import induction_score
from lab.analysis.heads.named import follower_mass, pattern_scores
from lab.analysis.heads.patterns import trace_patterns
from lab.models.trace import Trace, trace
from lab.toy.models import constructed_toy, random_toy


def _attention(n: int, seed: int) -> np.ndarray:
    weights = np.tril(np.random.default_rng(seed).random((3, n, n)))
    return weights / weights.sum(-1, keepdims=True)


def _naive(attention: np.ndarray, ids: list[int]) -> list[float]:
    found = []
    for head in attention:
        masses = []
        for i in range(len(ids)):
            earlier = [j for j in range(i) if ids[j] == ids[i]]
            if earlier:
                masses.append(head[i, max(earlier) + 1])
        found.append(sum(masses) / len(masses) if masses else float("nan"))
    return found


@given(st.lists(st.integers(1, 5), min_size=1, max_size=12), st.integers(0, 99))
def test_follower_mass_is_that_of_a_loop(ids: list[int], seed: int) -> None:
    attention = _attention(len(ids), seed)
    assert follower_mass(attention, ids) == pytest.approx(_naive(attention, ids), nan_ok=True, rel=1e-5)


def test_on_a_sentence_said_twice_it_is_the_induction_score() -> None:
    attention = _attention(10, 1)
    assert follower_mass(attention, [4, 7, 1, 9, 2] * 2) == pytest.approx(induction_score(attention, 5))


def _traces(*sentences: str) -> list[Trace]:
    toy = constructed_toy(8, 8)
    return [trace(toy, sentence) for sentence in sentences]


def test_the_constructed_heads_score_one_in_their_pattern() -> None:
    traces = _traces("c e c b", "a a h d h")
    previous, same, broad = (pattern_scores(traces, name) for name in ("previous_token", "same_word", "broad"))
    assert previous.shape == (1, 3)
    assert previous[0, 0] == pytest.approx(1, abs=0.01)
    assert same[0, 1] == pytest.approx(1, abs=0.01)
    assert broad[0, 2] == pytest.approx(1, abs=1e-4)
    assert max(previous[0, 1:]) < 0.6


def test_a_score_is_the_mean_over_sentences_that_have_a_case() -> None:
    toy = random_toy(8, 8)
    texts = ("c e c b", "a b c", "d d d")
    traces = [trace(toy, text) for text in texts]
    alone = [follower_mass(t.layer(0).attention, t.token_ids) for t in traces]
    assert np.isnan(alone[1]).all()
    assert pattern_scores(traces, "induction")[0] == pytest.approx((alone[0] + alone[2]) / 2)
    same = np.nanmean([trace_patterns(t).same_word for t in traces[::2]], axis=0)
    assert pattern_scores(traces, "same_word") == pytest.approx(same)


def test_no_case_at_all_is_nan_and_no_traces_are_refused() -> None:
    assert np.isnan(pattern_scores(_traces("a b c"), "induction")).all()
    for pattern in ("induction", "broad"):
        with pytest.raises(ValueError, match="no traces"):
            pattern_scores([], pattern)
    with pytest.raises(AttributeError):
        pattern_scores(_traces("a b c"), "sorting")
