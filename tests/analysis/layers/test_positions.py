"""Sinusoids against numbers worked by hand, naive loops, and the properties that Vaswani et al. claim."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lab.analysis.layers.positions import (
    by_distance,
    frequencies,
    similarity,
    sinusoids,
    spaced,
    wavelengths,
)


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
