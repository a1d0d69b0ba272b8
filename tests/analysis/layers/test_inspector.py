"""The tensor inspector: search, ranges, parts, statistics against numpy, the proof's row, what may be downloaded."""

from __future__ import annotations

import io
import math
from functools import cache

import numpy as np
import pytest
import torch

import lab
from lab.analysis.layers import inspector
from lab.analysis.layers.inspector import Cut, RangeError, matching, parse_range, statistics, values
from lab.models.tensor_index import TRANSEASY_NAMES, catalogue, tensor_of
from lab.models.trace import Trace

TEXT, PAIR = "The sleepy cat sat.", "It was tired."


@cache
def run(model: str = "lab-bert") -> Trace:
    return lab.trace(lab.load_model(model), TEXT, PAIR)


def whole(traced: Trace, name: str, layer: int = 0, lead: int = 0) -> Cut:
    entry = next(entry for entry in catalogue(traced) if entry.name == name)
    return Cut(entry, layer, lead, range(inspector.rows_of(entry)), range(entry.shape[-1]))


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("selfattn_qkt_scale_hidden", "layer.scaled_scores"),
        ("selfattn_qkt_scale_soft_hidden", "layer.attention"),
        ("attention_probs", "layer.attention"),
        ("attention.self.query", "layer.query"),
        ("Attention Self Query weight", "layer.weights.w_q"),
        ("c_fc", "layer.ffn_hidden"),
        ("intermediate.dense", "layer.ffn_hidden"),
        ("last_hidden_state", "output"),
        ("word_embeddings.weight", "model.weights.embeddings.token"),
        ("kobayashi", "layer.head_contribution"),
        ("w_o", "layer.weights.w_o"),
        ("pooler_output", "model.weights.pair_head.w_pool"),
    ],
)
def test_a_tensor_is_found_by_any_of_its_names(query: str, name: str) -> None:
    assert name in [entry.name for entry in matching(catalogue(run()), query)]


def test_every_name_of_bertscope_finds_something() -> None:
    listed = {entry.alias for entry in catalogue(run())}
    for name in TRANSEASY_NAMES:
        found = matching(catalogue(run()), name)
        assert found, name
        if name in listed:
            assert name in [entry.alias for entry in found]


def test_a_group_narrows_the_search_and_nonsense_finds_nothing() -> None:
    found = matching(catalogue(run()), "layernorm", "Add & norm 2")
    assert {entry.group for entry in found} == {"Add & norm 2"} and len(found) == 3
    assert matching(catalogue(run()), "xyzzy") == ()
    assert matching(catalogue(run()), "  ") == catalogue(run())


@pytest.mark.parametrize(
    ("typed", "first", "last"),
    [("", 0, 10), (" ", 0, 10), ("3-7", 2, 7), ("3 – 7", 2, 7), ("3-", 2, 10), ("-7", 0, 7), ("4", 3, 4)],
)
def test_a_range_is_read(typed: str, first: int, last: int) -> None:
    assert parse_range(typed, 10, "rows") == range(first, last)


@pytest.mark.parametrize(
    "typed", ["0", "0-3", "7-3", "11", "3-11", "a", "3:7", "-", "–", "3 7", "1-2-3", "9" * 12, "1.5"]
)
def test_a_range_that_cannot_be_is_answered(typed: str) -> None:
    with pytest.raises(RangeError, match=r"rows|Rows"):
        parse_range(typed, 10, "rows")


@pytest.mark.parametrize("model", ["lab-bert", "lab-gpt2"])
def test_statistics_of_every_tensor_equal_numpy_s(model: str) -> None:
    for entry in catalogue(run(model)):
        cut = whole(run(model), entry.name, layer=1 if entry.of_layer else 0, lead=1 if len(entry.shape) == 3 else 0)
        array = values(run(model), cut)
        matrix = np.atleast_2d(array).astype(np.float64)
        finite = matrix[np.isfinite(matrix)]
        found = statistics(array)
        assert found is not None
        assert (found.minimum, found.maximum) == (finite.min(), finite.max()), entry.name
        assert matrix[found.lowest] == finite.min() and matrix[found.highest] == finite.max()
        assert found.mean == pytest.approx(np.mean(finite)) and found.deviation == pytest.approx(np.std(finite))
        assert found.norm == pytest.approx(math.sqrt(sum(float(x) ** 2 for x in finite.flat)))
        assert found.zeros == pytest.approx(np.count_nonzero(finite == 0) / finite.size)
        assert found.masked == np.count_nonzero(np.isneginf(matrix))


def test_statistics_by_hand() -> None:
    found = statistics(np.array([[3.0, 0.0], [-4.0, -np.inf]]))
    assert found is not None
    assert (found.minimum, found.maximum, found.lowest, found.highest) == (-4, 3, (1, 0), (0, 0))
    assert (found.norm, found.masked) == (5, 1) and found.zeros == pytest.approx(1 / 3)
    assert statistics(np.full((2, 2), -np.inf)) is None


@pytest.mark.parametrize("model", ["lab-bert", "lab-gpt2"])
def test_a_part_is_that_part(model: str) -> None:
    traced = run(model)
    for name in ("layer.attention", "hidden_states", "layer.weights.w_1", "layer.weights.norm_2.beta"):
        cut = whole(traced, name, layer=2, lead=3)
        part = Cut(cut.entry, 2, 3, range(1, 4) if len(cut.entry.shape) > 1 else range(1), range(2, 5))
        tensor = tensor_of(traced, name, 2)
        by_hand = tensor[3] if tensor.ndim == 3 else tensor
        by_hand = by_hand[2:5] if by_hand.ndim == 1 else by_hand[1:4, 2:5]
        np.testing.assert_array_equal(values(traced, part), by_hand.numpy())
        np.testing.assert_array_equal(eval(part.python, {"trace": traced}), by_hand.numpy())
        assert part.at_most(1, 2).size == 2


@pytest.mark.parametrize("model", ["lab-bert", "lab-gpt2"])
def test_the_difference_is_that_of_the_proof_s_row(model: str) -> None:
    traced = run(model)
    proof = lab.prove(traced.model, traced)
    by_step = {(row.step, row.layer): row.difference for row in proof.rows}

    def difference(name: str, layer: int = 0, lead: int = 0) -> float | None:
        return inspector.proven_difference(proof, whole(traced, name, layer, lead))

    assert difference("layer.query", 2) == by_step["query", 2]
    assert difference("embeddings.sum") == by_step["embeddings.sum", None]
    assert difference("layer.output", 3) == difference("hidden_states", lead=4) == by_step["output", 3]
    assert difference("output") == by_step["output", None] and difference("logits") == by_step["logits", None]
    assert difference("layer.input", 0) == difference("hidden_states", lead=0) == by_step["embeddings.output", None]
    assert difference("layer.input", 2) == by_step["output", 1]
    proven = {entry.name for entry in catalogue(traced) if difference(entry.name) is not None}
    assert not any(".weights." in name for name in proven) and "layer.head_contribution" not in proven
    steps = {row.step for row in proof.rows}
    named = {name.removeprefix("layer.") for name in proven} - {"input", "hidden_states"}
    assert named == steps


def test_what_is_too_large_is_refused_with_a_sentence() -> None:
    cut = whole(run(), "layer.attention")
    assert inspector.refusal(cut, 4, "npy") is None and inspector.refusal(cut, 4, "csv") is None
    large = Cut(cut.entry, 0, 0, range(10_000), range(501))
    assert "about 20 MB" in (inspector.refusal(large, 4, "npy") or "")
    assert inspector.refusal(Cut(cut.entry, 0, 0, range(10_000), range(500)), 4, "npy") is None
    assert "65 MB" in (inspector.refusal(large, 4, "csv") or "")


def test_npy_is_read_by_numpy() -> None:
    array = run().layer(0).attention[2].numpy()
    np.testing.assert_array_equal(np.load(io.BytesIO(inspector.npy(array))), array)
    assert torch.equal(torch.tensor(array), run().layer(0).attention[2])
