"""The place of a tensor in the picture of the whole model, and the way from a part to its tensor."""

from __future__ import annotations

import numpy as np
import pytest

import lab
from lab.benches.tensors.tensors import drawn_at, part_of
from lab.figures.machine_of_run import NUMBERS, machine
from lab.models.tensor_entries import DESCRIBED
from lab.models.tensor_index import catalogue, entry_of, missing
from tests.checkpoints import FAMILIES, Family
from tests.conftest import TinyCheckpoint

OUTSIDE = {"pair", "replaced"}


@pytest.mark.parametrize("family", FAMILIES)
def test_every_tensor_of_every_family_is_in_a_part_that_is_drawn(
    tiny_checkpoint: TinyCheckpoint, family: Family
) -> None:
    trace = lab.trace(lab.load_model(tiny_checkpoint(family)), "A cat.")
    parts = {part.id for part in machine(trace).parts}
    for entry in catalogue(trace):
        assert (part_of(trace, entry) in parts) == (entry.place not in OUTSIDE), entry.name
    for part in parts:
        name = drawn_at(trace, part, 1)
        assert name or (part == "word" and trace.model.weights.vocabulary_head is None)
        assert not name or part_of(trace, entry_of(trace, name)) == part
    first = next(iter(parts & {"norm_1"}), "vectors")  # ModernBERT's first layer has no LayerNorm before its heads
    found = drawn_at(trace, first, 0)
    assert not found or not missing(trace, entry_of(trace, found), 0)


@pytest.mark.parametrize("family", ["bert", "gpt2"])
def test_a_part_leads_to_the_numbers_that_it_draws(tiny_checkpoint: TinyCheckpoint, family: Family) -> None:
    trace = lab.trace(lab.load_model(tiny_checkpoint(family)), "A cat.")
    figure = machine(trace)
    drawn = {"vectors": figure.states[1], "add_2": figure.states[2]}
    drawn |= {part: values[1] for part, values in figure.strips.items() if part != "neurons"}
    for part, values in drawn.items():
        tensor = getattr(trace.layer(1), drawn_at(trace, part, 1).removeprefix("layer."))
        assert np.array_equal(tensor[:, :NUMBERS].numpy(), values), part


def test_every_described_tensor_has_a_place() -> None:
    assert all(entry.place and entry.axes and entry.formula and entry.source for entry in DESCRIBED)
