"""Sinusoids against numbers worked by hand, naive loops, and the properties that Vaswani et al. claim."""

from __future__ import annotations

import cmath
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lab
from lab.analysis.layers import positions
from lab.analysis.layers.positions import (
    by_distance,
    frequencies,
    similarity,
    sinusoids,
    spaced,
    wavelengths,
)
from lab.models.trace import Trace
from lab.toy.models import constructed_toy
from tests.conftest import TinyCheckpoint


def test_the_formula_of_section_3_5_in_a_loop() -> None:
    length, width = 50, 16
    rows = sinusoids(np.arange(length), width)
    for pos in range(length):
        for i in range(width // 2):
            angle = pos / 10_000 ** (2 * i / width)
            assert rows[pos, 2 * i] == pytest.approx(math.sin(angle), abs=1e-12)
            assert rows[pos, 2 * i + 1] == pytest.approx(math.cos(angle), abs=1e-12)


def test_a_wavelength_is_where_its_pair_returns() -> None:
    waves = wavelengths(8, 10)
    rows = sinusoids(waves, 8, 10)
    for pair in range(4):
        np.testing.assert_allclose(rows[pair, 2 * pair : 2 * pair + 2], [0, 1], atol=1e-12)


def test_similarity_depends_on_the_distance_only() -> None:
    rows = sinusoids(np.arange(80), 32)
    dot = similarity(rows, "dot product")
    least, mean, most = by_distance(dot)
    assert (most - least).max() < 1e-12
    expected = [sum(math.cos(k * 10_000 ** (-2 * i / 32)) for i in range(16)) for k in range(80)]
    np.testing.assert_allclose(mean, expected, atol=1e-10)
    np.testing.assert_allclose(similarity(rows), dot / 16, atol=1e-12)


def test_similarity_and_its_diagonals_in_a_loop() -> None:
    rows = np.array([[3.0, 4.0], [1.0, 0.0], [0.0, 0.0]])
    np.testing.assert_allclose(similarity(rows), np.array([[1, 0.6, 0], [0.6, 1, 0], [0, 0, 0]]))
    np.testing.assert_allclose(similarity(rows, "dot product"), [[25, 3, 0], [3, 1, 0], [0, 0, 0]])
    least, mean, most = by_distance(similarity(rows, "dot product"))
    np.testing.assert_allclose([least, mean, most], np.array([[0, 0, 0], [26 / 3, 1.5, 0], [25, 3, 0]]))


@pytest.mark.parametrize(("width", "base", "message"), [(3, 10.0, "even"), (0, 10.0, "even"), (4, 1.0, "above 1")])
def test_what_cannot_be_says_why(width: int, base: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        frequencies(width, base)


def test_spaced_starts_at_the_first_and_stays_within_its_number() -> None:
    assert spaced(5, 8).tolist() == [0, 1, 2, 3, 4]
    assert spaced(9, 4).tolist() == [0, 3, 6]
    assert all(len(spaced(count, 64)) <= 64 for count in range(1, 513))


TEXT = "The cat sat on the mat."
_numbers = st.floats(-3, 3, width=32)


@pytest.fixture(scope="module")
def bert(tiny_checkpoint: TinyCheckpoint) -> Trace:
    return lab.trace(lab.load_model(tiny_checkpoint("bert")), TEXT)


@settings(max_examples=60)
@given(
    st.lists(st.tuples(_numbers, _numbers), min_size=1, max_size=8),
    st.sampled_from([10.0, 500.0, 10_000.0]),
    st.integers(0, 30),
    st.integers(0, 30),
    st.integers(1, 30),
)
def test_turned_vectors_score_by_their_offset_alone(
    pairs: list[tuple[float, float]], base: float, p: int, r: int, further: int
) -> None:
    query, key = (np.array(each, dtype=np.float64) for each in zip(*pairs, strict=True))
    query, key = np.concatenate([query, key]), np.concatenate([key, query])
    q, k = (positions.turned(each, 64, base) for each in (query, key))
    assert q[p] @ k[r] == pytest.approx(q[p + further] @ k[r + further], abs=1e-3)
    assert np.linalg.norm(q, axis=1) == pytest.approx(np.linalg.norm(query), abs=1e-4)


def test_a_pair_is_a_complex_number_times_e_to_the_i_omega_p() -> None:
    vector = np.array([0.5, -1.0, 2.0, 3.0, 0.25, -0.75])  # pairs: 1 and 4, 2 and 5, 3 and 6
    rows = positions.turned(vector, 9, 100.0)
    for p in (0, 1, 8):
        for m in range(3):
            hand = complex(vector[m], vector[m + 3]) * cmath.exp(1j * p * 100.0 ** (-2 * m / 6))
            assert (rows[p, m], rows[p, m + 3]) == pytest.approx((hand.real, hand.imag), abs=1e-5)


def test_what_stands_at_a_place(bert: Trace) -> None:
    word = bert.embeddings.token[2].double().numpy()
    table = bert.model.weights.embeddings.position
    assert table is not None
    learned = positions.placed(bert, 2, "learned", 5, 10_000.0)
    assert learned[4] == pytest.approx(word + table[4].double().numpy())
    sinusoids = positions.placed(bert, 2, "sinusoids", 5, 10_000.0)
    for i in (0, 7, 15):
        angle = 4 * 10_000.0 ** (-2 * i / 32)
        assert sinusoids[4, 2 * i] == pytest.approx(math.sqrt(32) * word[2 * i] + math.sin(angle))
        assert sinusoids[4, 2 * i + 1] == pytest.approx(math.sqrt(32) * word[2 * i + 1] + math.cos(angle))
    assert positions.placed(bert, 2, "rotary", 5, 10_000.0)[0] == pytest.approx(word)
    with pytest.raises(ValueError, match="has learned 512 positions, not 600"):
        positions.placed(bert, 2, "learned", 600, 10_000.0)


def test_only_turned_words_have_one_cosine_at_each_offset(bert: Trace) -> None:
    apart = {}
    for way in positions.ways(bert):
        pairs = positions.cosines(bert, (2, 4), way, 24, 10_000.0)
        first, second = (positions.placed(bert, token, way, 24, 10_000.0) for token in (2, 4))
        cosine = first[3] @ second[8] / math.hypot(*first[3]) / math.hypot(*second[8])
        assert pairs[3, 8] == pytest.approx(cosine)
        least, largest = positions.by_offset(pairs)
        assert (least[23 + 5], largest[23 + 5]) == pytest.approx(
            (min(pairs[i, i + 5] for i in range(19)), max(pairs[i, i + 5] for i in range(19)))
        )
        apart[way] = float((largest - least).max())
    assert apart["rotary"] < 1e-5
    assert min(apart["learned"], apart["sinusoids"]) > 0.1


def test_without_a_table_there_are_two_ways_and_an_odd_width_is_filled_up(tiny_checkpoint: TinyCheckpoint) -> None:
    modern = lab.trace(lab.load_model(tiny_checkpoint("modernbert")), TEXT)
    assert positions.ways(modern) == ("sinusoids", "rotary")
    odd = lab.trace(constructed_toy(5, 6), "a b c a")
    width = odd.embeddings.token.shape[1]
    assert positions.turned(np.ones(width), 3, 10.0).shape == (3, width + width % 2)
    assert positions.turned(np.ones(5), 3, 10.0).shape == (3, 6)
