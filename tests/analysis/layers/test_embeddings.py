"""The input vectors, the worked dimension and the changed runs, against Hugging Face and naive loops."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
import torch

import lab
from lab.analysis.layers.embeddings import (
    Order,
    new_order,
    parts,
    permutation_gap,
    position_rows,
    reordered,
    with_segments,
    worked_dimension,
)
from lab.models.interventions import Interventions
from lab.models.tensor_index import tensor
from lab.models.trace import Trace, trace_encoding
from lab.toy.models import constructed_toy, random_toy
from tests.checkpoints import FAMILIES, Family
from tests.conftest import TinyCheckpoint
from tests.sentences import CAT

TEXT, PAIR = CAT, "The dog laughed."
ZEROED = Interventions(no_positions=True)


def run(tiny_checkpoint: TinyCheckpoint, family: Family, pair: str | None = None) -> Trace:
    return lab.trace(lab.load_model(tiny_checkpoint(family)), TEXT, pair)


def their_state(folder: Path) -> dict[str, torch.Tensor]:
    from safetensors.torch import load_file

    return load_file(folder / "model.safetensors")


@pytest.mark.parametrize("family", FAMILIES)
def test_parts_are_those_the_family_has(family: Family, tiny_checkpoint: TinyCheckpoint) -> None:
    trace = run(tiny_checkpoint, family, PAIR)
    found = parts(trace)
    lacking = {"gpt2": {"segment", "LayerNorm"}, "distilbert": {"segment"}, "modernbert": {"position", "segment"}}
    missing = lacking.get(family, set())
    assert set(found) == {"token", "position", "segment", "sum", "LayerNorm"} - missing
    np.testing.assert_allclose(
        found["sum"], sum(found[name] for name in ("token", "position", "segment") if name in found), atol=1e-6
    )


@pytest.mark.parametrize("family", FAMILIES)
def test_the_worked_dimension_is_what_enters_layer_1(family: Family, tiny_checkpoint: TinyCheckpoint) -> None:
    trace = run(tiny_checkpoint, family)
    theirs = tensor(trace, "pipeline_hiddens")[0].numpy()  # type: ignore[index]
    projected = trace.model.weights.embeddings.project is not None
    for token in (0, 3, len(trace) - 1):
        for dimension in (0, 7, 15):
            worked = worked_dimension(trace, token, dimension)
            assert sum(worked.summands.values()) == pytest.approx(worked.total, abs=1e-6)
            out = worked.total if worked.norm is None else worked.norm.output
            expected = parts(trace)["LayerNorm"] if projected else theirs
            assert out == pytest.approx(float(expected[token, dimension]), abs=1e-5)


def test_layer_norm_written_out_in_a_loop(tiny_checkpoint: TinyCheckpoint) -> None:
    trace = run(tiny_checkpoint, "bert", PAIR)
    row = [float(x) for x in parts(trace)["sum"][4]]
    mean = sum(row) / len(row)
    variance = sum((x - mean) ** 2 for x in row) / len(row)
    norm = worked_dimension(trace, 4, 9).norm
    assert norm is not None
    assert norm.mean == pytest.approx(mean, abs=1e-6)
    assert norm.deviation == pytest.approx(math.sqrt(variance + 1e-12), rel=1e-6)
    assert norm.normalized == pytest.approx((row[9] - mean) / math.sqrt(variance), rel=1e-5)


@pytest.mark.parametrize(("family", "first"), [("bert", 0), ("roberta", 2), ("gpt2", 0)])
def test_position_rows_begin_where_the_first_token_stands(
    family: Family, first: int, tiny_checkpoint: TinyCheckpoint
) -> None:
    folder = tiny_checkpoint(family)
    table = next(t for name, t in their_state(folder).items() if "position_embeddings" in name or "wpe" in name)
    trace = run(tiny_checkpoint, family)
    np.testing.assert_array_equal(position_rows(trace.model, 9), table[first : first + 9].numpy())
    np.testing.assert_array_equal(position_rows(trace.model, len(trace)), parts(trace)["position"])
    assert len(position_rows(trace.model, 10_000)) == 512


def test_there_are_no_position_rows_without_a_table(tiny_checkpoint: TinyCheckpoint) -> None:
    with pytest.raises(ValueError, match="has learned no vectors of positions"):
        position_rows(run(tiny_checkpoint, "modernbert").model, 9)


def test_changes_of_ids(tiny_checkpoint: TinyCheckpoint) -> None:
    encoding = run(tiny_checkpoint, "bert", PAIR).encoding
    assert set(with_segments(encoding, "all 0").segment_ids) == {0}
    swapped = with_segments(encoding, "swapped")
    assert swapped.segment_ids == tuple(1 - each for each in encoding.segment_ids)
    assert with_segments(swapped, "swapped") == encoding
    assert with_segments(encoding, "left out") is encoding


@pytest.mark.parametrize("order", get_args(Order))
@pytest.mark.parametrize("n", [1, 2, 3, 17])
def test_an_order_names_every_place_once(order: Order, n: int) -> None:
    assert sorted(new_order(order, n)) == list(range(n))


def test_what_the_orders_do(tiny_checkpoint: TinyCheckpoint) -> None:
    encoding = run(tiny_checkpoint, "bert", PAIR).encoding
    n = len(encoding)
    assert reordered(encoding, new_order("reversed", n)).tokens == encoding.tokens[::-1]
    assert reordered(encoding, new_order("moved on by one", n)).tokens == (encoding.tokens[-1], *encoding.tokens[:-1])
    shuffled = reordered(encoding, new_order("shuffled", n))
    assert shuffled.tokens != encoding.tokens
    pairs = zip(encoding.token_ids, encoding.segment_ids, strict=True)
    assert sorted(zip(shuffled.token_ids, shuffled.segment_ids, strict=True)) == sorted(pairs)
    with pytest.raises(ValueError, match="each of the"):
        reordered(encoding, [0] * n)


@pytest.mark.parametrize("family", ["bert", "distilbert", "roberta", "electra"])
@pytest.mark.parametrize("order", get_args(Order))
def test_without_positions_outputs_move_with_their_tokens(
    family: Family, order: Order, tiny_checkpoint: TinyCheckpoint
) -> None:
    trace = run(tiny_checkpoint, family, PAIR)
    gap = permutation_gap(trace, order, ZEROED)
    assert gap.follows
    assert gap.layers.max() < 1e-4
    kept = permutation_gap(trace, order, Interventions())
    assert not kept.follows
    assert kept.layers.max() > 0.1


@pytest.mark.parametrize("order", get_args(Order))
def test_a_causal_mask_tells_the_order_even_without_positions(order: Order, tiny_checkpoint: TinyCheckpoint) -> None:
    trace = run(tiny_checkpoint, "gpt2")
    masked = permutation_gap(trace, order, ZEROED)
    assert masked.layers[0] == 0  # the embeddings themselves know nothing of order
    assert not masked.follows
    assert permutation_gap(trace, order, replace(ZEROED, no_causal_mask=True)).follows


@pytest.mark.parametrize("order", get_args(Order))
def test_a_window_tells_which_tokens_are_near_even_without_positions(
    order: Order, tiny_checkpoint: TinyCheckpoint
) -> None:
    trace = run(tiny_checkpoint, "modernbert")
    # Read backwards, each token has the same tokens within its window.
    assert permutation_gap(trace, order, ZEROED).follows == (order == "reversed")
    assert permutation_gap(trace, order, replace(ZEROED, no_causal_mask=True)).follows
    assert not permutation_gap(trace, order, Interventions()).follows


def test_the_gap_in_a_loop(tiny_checkpoint: TinyCheckpoint) -> None:
    trace = run(tiny_checkpoint, "bert")
    order = new_order("shuffled", len(trace))
    before = trace.hidden_states
    after = trace_encoding(trace.model, reordered(trace.encoding, order)).hidden_states
    gap = permutation_gap(trace, "shuffled", Interventions())
    for state in range(len(before)):
        largest = max((after[state, new] - before[state, old]).abs().max().item() for new, old in enumerate(order))
        assert gap.layers[state] == pytest.approx(largest, rel=1e-6)
        shares = [
            ((after[state, new] - before[state, old]).norm() / before[state, old].norm()).item()
            for new, old in enumerate(order)
        ]
        assert gap.moved[state] == pytest.approx(sum(shares) / len(shares), rel=1e-5)
    assert gap.largest == pytest.approx(before.abs().max().item())


def test_toys_go_through_the_same_functions() -> None:
    for model in (random_toy(8, 8), constructed_toy(8, 8)):
        trace = lab.trace(model, "c e b c")
        assert permutation_gap(trace, "reversed", ZEROED).follows
        assert worked_dimension(trace, 1, 5).norm is not None
    # One-hot: token 5 is dimension 5, and its LayerNorm changes nothing.
    worked = worked_dimension(lab.trace(constructed_toy(8, 8), "c e b c"), 1, 5)
    assert (worked.total, worked.norm.output if worked.norm else 0) == pytest.approx((1.0, 1.0), abs=1e-5)
