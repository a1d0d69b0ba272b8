"""The parts of the attention output, small maps and the cuts, against Hugging Face and naive loops."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import lab
from lab.analysis.heads.comparing import (
    MOST_CELLS,
    cells_a_side,
    head_sum,
    small_maps,
    strongest_in,
    thumbnails,
)
from lab.toy.settings import divisors
from tests.checkpoints import HEADS, WIDTH, Family
from tests.conftest import TinyCheckpoint
from tests.models.reference import HEAD_WIDTH, SENTENCE, load_theirs

FAMILIES: tuple[Family, ...] = ("bert", "gpt2", "distilbert", "modernbert")


@pytest.mark.parametrize("family", FAMILIES)
def test_a_part_is_what_hugging_face_s_output_projection_makes_of_that_head_alone(
    family: Family, tiny_checkpoint: TinyCheckpoint
) -> None:
    folder = tiny_checkpoint(family)
    trace = lab.trace(lab.load_model(folder), SENTENCE)
    layer, theirs = trace.layer(1), load_theirs(folder, family)
    added = head_sum(layer)
    project = theirs.output_projection(1)
    with torch.inference_mode():
        empty = project(torch.zeros(1, len(trace), WIDTH))[0]
        for head in range(HEADS):
            alone = torch.zeros(1, len(trace), WIDTH)
            own = slice(head * HEAD_WIDTH, (head + 1) * HEAD_WIDTH)
            alone[0, :, own] = layer.context_concat[:, own]
            np.testing.assert_allclose(added.parts[head], (project(alone)[0] - empty).numpy(), atol=1e-5)
    np.testing.assert_allclose(added.bias, empty[0].numpy(), atol=1e-6)
    np.testing.assert_allclose(added.total, layer.attention_output.numpy(), atol=1e-5)
    assert added.difference == pytest.approx(np.abs(added.total - layer.attention_output.numpy()).max())
    assert added.norms[2, 1] == pytest.approx(math.sqrt(sum(float(x) ** 2 for x in added.parts[2, 1])), rel=1e-5)


@given(st.integers(1, 40), st.integers(1, 12), st.integers(0, 5))
def test_small_maps_hold_the_largest_weight_of_each_block(n: int, most: int, seed: int) -> None:
    weights = np.random.default_rng(seed).random((2, n, n)).astype(np.float32)
    maps, block = small_maps(weights, most)
    side = maps.shape[1]
    assert side <= most
    assert (side - 1) * block < n <= side * block
    for head in range(2):
        for q in range(side):
            for k in range(side):
                cell = weights[head, q * block : (q + 1) * block, k * block : (k + 1) * block]
                assert maps[head, q, k] == cell.max()


@given(st.integers(1, 300))
def test_divisors_are_all_there_are(width: int) -> None:
    cuts = divisors(width)
    assert math.prod(cuts) ** 2 == width ** len(cuts)  # they come in pairs whose product is the width
    assert len(cuts) == sum(width % cut == 0 for cut in range(1, width + 1))


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
