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
    head_sum,
    small_maps,
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
