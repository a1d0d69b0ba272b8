"""Patterns against loops written from their formulas, against heads built to show them, and on the toys."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lab
from lab.analysis.heads.patterns import (
    Roles,
    average_patterns,
    encoding_words,
    head_patterns,
    pattern_array,
    token_roles,
    trace_patterns,
    trace_roles,
)
from lab.analysis.heads.values import uniform_attention
from lab.models.loading import LoadedModel
from tests.analysis.matrices import Case, Weights, cases
from tests.checkpoints import write_checkpoint

WORDS = ["cat", "cat", "dog", "the", "."]


@st.composite
def roles_for(draw: st.DrawFn, n: int, causal: bool) -> Roles:
    """Few words, so that some repeat; some tokens special; one or two segments."""
    words = draw(st.lists(st.sampled_from(WORDS), min_size=n, max_size=n))
    special = draw(st.lists(st.booleans(), min_size=n, max_size=n))
    first = draw(st.integers(0, n))
    own = [None if s else w for w, s in zip(words, special, strict=True)]
    return token_roles(own, list(range(n)), special, [int(i >= first) for i in range(n)], causal=causal)


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else math.nan


def by_loops(a: Weights, roles: Roles, causal: bool) -> list[float]:
    """The fields of Patterns in their order, for one head."""
    n = len(a)
    seen = [range(i + 1) if causal else range(n) for i in range(n)]
    same, delimiters, segments = roles.same.tolist(), roles.delimiters.tolist(), roles.segments.tolist()
    spread = [
        -sum(a[i, j] * math.log(a[i, j]) for j in seen[i] if a[i, j] > 0) / math.log(len(seen[i]))
        for i in range(n)
        if len(seen[i]) > 1
    ]
    repeated, bag = [], []
    for i in range(n):
        others = [j for j in seen[i] if same[i][j]]
        if others:
            repeated.append(min(1, sum(a[i, j] for j in others) / (len(others) / (len(others) + 1))))
        inside = [j for j in seen[i] if segments[j] == segments[i]]
        if segments[i] >= 0 and len(inside) > 1:
            bag.append(sum(min(a[i, j], 1 / len(inside)) for j in inside))
    words = [i for i in range(n) if not delimiters[i]]
    marks = [sum(float(a[i, j]) for j in range(n) if delimiters[j]) for i in words]
    following = mean([] if causal else [float(a[i, i + 1]) for i in range(n - 1)])
    previous = mean([float(a[i, i - 1]) for i in range(1, n)])
    delimiter = mean(marks) if any(delimiters) else math.nan
    return [mean(spread), following, previous, mean(repeated), delimiter, mean(bag)]


@given(cases(), st.data())
def test_tokens_left_out_are_left_out_of_every_score(case: Case, data: st.DataObject) -> None:
    """By loops over the kept cells, each row divided by its sum; neighbours are neighbours in the text."""
    attention, causal = case
    n = attention.shape[1]
    roles = data.draw(roles_for(n, causal))
    places = sorted(data.draw(st.sets(st.integers(0, n - 1), min_size=1)))
    found = pattern_array(head_patterns(attention, roles, causal=causal, keep=[i in places for i in range(n)]))
    own = Roles(roles.same[np.ix_(places, places)], roles.delimiters[places], roles.segments[places])
    expected = []
    for head in attention:
        part = head[np.ix_(places, places)].astype(np.float64)
        part = part / np.where(part.sum(axis=1, keepdims=True) > 0, part.sum(axis=1, keepdims=True), 1)
        scores = by_loops(part.astype(np.float32), own, causal)
        pairs = [(i, i + 1) for i, place in enumerate(places[:-1]) if places[i + 1] == place + 1]
        scores[1] = math.nan if causal else mean([float(part[i, j]) for i, j in pairs])
        scores[2] = mean([float(part[j, i]) for i, j in pairs])
        if own.delimiters.any() and not own.delimiters.all():  # the first kept token may be no delimiter
            words, marks = np.flatnonzero(~own.delimiters), np.flatnonzero(own.delimiters)
            assert scores[4] == pytest.approx(part[np.ix_(words, marks)].sum(axis=1).mean(), abs=1e-4)
        expected.append(scores)
    np.testing.assert_allclose(found, np.array(expected).T, rtol=1e-4, atol=1e-5)


@given(cases(), st.data())
def test_scores_are_what_loops_over_cells_give(case: Case, data: st.DataObject) -> None:
    attention, causal = case
    roles = data.draw(roles_for(attention.shape[1], causal))
    found = pattern_array(head_patterns(attention, roles, causal=causal))
    expected = np.array([by_loops(head, roles, causal) for head in attention]).T
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    known = found[~np.isnan(found)]
    assert ((known >= 0) & (known <= 1 + 1e-5)).all()


def built(n: int, keys: Sequence[Sequence[int]]) -> Weights:
    """One head: query i attends to keys[i] alike."""
    attention = np.zeros((1, n, n), dtype=np.float32)
    for query, chosen in enumerate(keys):
        attention[0, query, list(chosen)] = 1 / len(chosen)
    return attention


def test_causal_heads_have_a_past_only() -> None:
    roles = token_roles(["a", "b", "a", "c"], [1, 2, 1, 3], [False] * 4, [0] * 4, causal=True)
    assert roles.delimiters.tolist() == [True, False, False, False]
    sink = head_patterns(built(4, [[0]] * 4), roles, causal=True)
    assert np.isnan(sink.next_token[0])
    assert sink.delimiter[0] == 1
    assert sink.same_word[0] == 1  # the second "a" looks at the first; the first has no past
    uniform = head_patterns(uniform_attention(4, True), roles, causal=True)
    assert uniform.broad[0] == pytest.approx(1)


@pytest.mark.parametrize("causal", [False, True])
def test_a_lone_token_shows_nothing(causal: bool) -> None:
    roles = token_roles(["a"], [1], [False], [0], causal=causal)
    found = head_patterns(uniform_attention(1, causal), roles, causal=causal)
    assert np.isnan(pattern_array(found)).all()


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    return lab.load_model(write_checkpoint(tmp_path_factory.mktemp("bert"), "bert", 2))


def test_roles_of_a_trace_come_from_offsets(bert: LoadedModel) -> None:
    trace = lab.trace(bert, "The café, the astronauts' CAFÉ.", "Unbelievable: café")
    words = encoding_words(trace.encoding)
    cafes = {i for i, word in enumerate(words) if word == "café"}
    roles = trace_roles(trace)
    assert {words[i] for i in range(len(trace)) if trace.encoding.special[i]} == {None}
    first, pieces = min(cafes), [i for i, word in enumerate(words) if word == "astronauts"]
    assert set(np.flatnonzero(roles.same[first])) | {first} >= cafes
    assert len(cafes) > 3  # three words, some of them in pieces
    assert [words[i] for i in np.flatnonzero(roles.same[1]).tolist()].count("the") == 1
    assert all(roles.same[i, j] for i in pieces for j in pieces if i != j)
    assert set(roles.segments[: trace.tokens.index("[SEP]")].tolist()) == {-1, 0}
    assert set(roles.segments[trace.tokens.index("[SEP]") :].tolist()) == {-1, 1}


def test_average_counts_every_sentence_the_same(bert: LoadedModel) -> None:
    # Only the second text repeats a word, so same_word is its alone.
    traces = [lab.trace(bert, text) for text in ("The dog.", "The cat and the cat laughed.")]
    one, two = (pattern_array(trace_patterns(trace)) for trace in traces)
    average = average_patterns(iter(traces))
    np.testing.assert_allclose(average.previous_token, (one[2] + two[2]) / 2)
    assert np.isnan(one[3]).all()
    np.testing.assert_allclose(average.same_word, two[3])
    with pytest.raises(ValueError, match="no traces"):
        average_patterns([])


def test_roles_of_another_text_are_refused() -> None:
    roles = token_roles(["a"], [1], [False], [0], causal=False)
    with pytest.raises(ValueError, match="between 3 tokens, the roles are of 1"):
        head_patterns(uniform_attention(3, False), roles, causal=False)
