"""One dimension that stands out does not leave all others pale."""

from __future__ import annotations

import numpy as np
import pytest

from lab.figures.embedding_figures import colours_end


def test_colours_end_at_the_largest_of_numbers_of_one_size() -> None:
    values = np.linspace(-1, 0.8, 1000, dtype=np.float32).reshape(10, 100)
    assert colours_end(values) == 1


def test_a_dimension_that_stands_out_does_not_set_the_colours() -> None:
    values = np.random.default_rng(0).normal(0, 0.05, (12, 384)).astype(np.float32)
    values[:, 63] = 1.01
    assert colours_end(values) == pytest.approx(np.quantile(np.abs(values), 0.99), abs=0.005)
    assert colours_end(values) < 0.2
    assert 12 <= (np.abs(values) > colours_end(values)).sum() <= 0.012 * values.size


@pytest.mark.parametrize("values", [np.zeros((3, 4), np.float32), np.eye(20, dtype=np.float32)[:1]])
def test_colours_end_above_nought(values: np.ndarray) -> None:
    assert colours_end(values) == 1
