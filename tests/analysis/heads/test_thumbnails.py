"""Thumbnails: each cell the largest weight of its block, found here with loops."""

from __future__ import annotations

import numpy as np
import pytest

import lab
from lab.analysis.heads.comparing import MOST_CELLS, cells_a_side, strongest_in, thumbnails


@pytest.mark.parametrize("model", ["lab-bert", "lab-gpt2"])
def test_a_short_text_is_its_own_thumbnail(model: str) -> None:
    trace = lab.trace(lab.load_model(model), "The cat sat on the mat.")
    found = thumbnails(trace)
    assert found.block == 1
    np.testing.assert_array_equal(found.maps, trace.attention)


@pytest.mark.parametrize("words", [70, 200])
def test_a_cell_is_the_largest_weight_of_its_block(words: int) -> None:
    trace = lab.trace(lab.load_model("lab-gpt2"), "the cat sat " * words)
    n, found = len(trace), thumbnails(trace)
    assert found.block == -(-n // MOST_CELLS) > 1
    m = -(-n // found.block)
    assert found.maps.shape == (4, 8, m, m)
    attention = np.asarray(trace.attention)
    for q in range(m):
        for k in range(m):
            rows, columns = (slice(at * found.block, (at + 1) * found.block) for at in (q, k))
            np.testing.assert_array_equal(found.maps[:, :, q, k], attention[:, :, rows, columns].max(axis=(2, 3)))
    assert not np.triu(found.maps, 1).any()


@pytest.mark.parametrize("heads", [1, 12, 144, 384, 1024])
def test_all_thumbnails_together_stay_under_a_megabyte_and_a_half(heads: int) -> None:
    side = cells_a_side(heads)
    assert heads * side**2 * 2 < 1_450_000
    assert side == MOST_CELLS or heads * (side + 1) ** 2 * 2 > 1_390_000


def test_the_strongest_of_a_block() -> None:
    weights = np.arange(49, dtype=np.float32).reshape(7, 7)
    weights[2, 5] = 100
    assert strongest_in(weights, 0, 4, 4) == (2, 5)
    assert strongest_in(weights, 4, 4, 4) == (6, 6)  # the last block is cut short
    assert strongest_in(weights, 3, 3, 1) == (3, 3)
