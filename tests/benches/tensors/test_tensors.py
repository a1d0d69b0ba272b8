"""The Python that the tensor inspector shows is executed, for every tensor, and gives the array on screen."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import cache

import numpy as np
import pandas as pd
import pytest

import lab
from lab.analysis.layers.inspector import Cut, rows_of, values
from lab.benches.tensors.tensors import MOST_COLUMNS, MOST_ROWS, csv, drawn_at, part_of, snippet, tensor_part
from lab.figures.machine_of_run import NUMBERS, machine
from lab.models.tensor_entries import DESCRIBED
from lab.models.tensor_index import catalogue, entry_of, missing
from lab.models.trace import Trace
from lab.models.twin import random_twin
from lab.toy.models import constructed_toy, random_toy
from lab.toy.training import Plan, untrained
from tests.checkpoints import FAMILIES, Family
from tests.conftest import TinyCheckpoint
from tests.thorough import some

TEXT, PAIR = "It's “the\u202e \\ cat”.\nالقط 🙂", 'She said: "yes".'


@cache
def run(name: str) -> Trace:
    made: dict[str, Callable[[], lab.LoadedModel]] = {
        "lab-bert": lambda: lab.load_model("lab-bert"),
        "lab-gpt2": lambda: lab.load_model("lab-gpt2"),
        "twin": lambda: random_twin(lab.load_model("lab-bert"), 7),
        "random toy": lambda: random_toy(8, 8, seed=3),
        "constructed toy": lambda: constructed_toy(6, 8),
        "untrained toy": lambda: untrained(Plan("same", 1, 8, 8, 0)),
    }
    text = "c a b b" if "toy" in name else TEXT
    return lab.trace(made[name](), text, PAIR if name in ("lab-bert", "twin") else None)


def cuts(traced: Trace) -> list[Cut]:
    """The whole of each tensor, and a part of it."""
    found = []
    for entry in catalogue(traced):
        rows, columns = rows_of(entry), entry.shape[-1]
        layer = traced.model.config.layers - 1 if entry.of_layer else 0
        lead = 1 if len(entry.shape) == 3 else 0
        found += [
            Cut(entry, layer, lead, range(rows), range(columns)),
            Cut(entry, layer, lead, range(rows // 3, rows // 3 + 1), range(columns // 2, columns)),
        ]
    return found


@pytest.mark.parametrize("name", ["lab-bert", "lab-gpt2", "twin", "random toy", "constructed toy", "untrained toy"])
def test_the_lines_give_the_array(name: str) -> None:
    traced = run(name)
    setups: dict[str, dict[str, object]] = {}
    for cut in cuts(traced):
        lines = snippet(traced, cut)
        setup, last = lines.rsplit("\n", 1)
        if name.startswith("lab-"):
            assert len(lines.splitlines()) == 3
        if setup not in setups:  # the same two lines for all: run them once
            setups[setup] = {}
            exec(setup, setups[setup])
        exec(last, setups[setup])
        array = setups[setup]["array"]
        assert isinstance(array, np.ndarray)
        shown = values(traced, cut)
        np.testing.assert_array_equal(array, shown if array.ndim == shown.ndim else shown[0])
        assert array.dtype == shown.dtype
    assert len(setups) == 1


def test_a_folder_s_place_is_not_told(tiny_checkpoint: TinyCheckpoint) -> None:
    traced = lab.trace(lab.load_model(tiny_checkpoint("gpt2")), "A cat.")
    lines = snippet(traced, cuts(traced)[0])
    assert "lab.load_model('gpt2-0')" in lines and "/" not in lines


@pytest.mark.parametrize("name", some(["lab-bert", "lab-gpt2", "constructed toy"], 1))
def test_every_tensor_is_drawn_with_its_own_numbers(name: str) -> None:
    traced = run(name)
    for cut in cuts(traced):
        rows, columns = (cut.rows.start, cut.rows.stop), (cut.columns.start, cut.columns.stop)
        figure = tensor_part(traced, cut.entry.name, cut.layer, cut.lead, rows, columns)
        drawn = np.atleast_2d(values(traced, cut))[:MOST_ROWS, :MOST_COLUMNS].astype(np.float32)
        shown = figure.table().to_numpy(np.float32)
        np.testing.assert_array_equal(shown, np.where(np.isneginf(drawn), np.nan, drawn))
        assert len(figure.data) <= MOST_ROWS * MOST_COLUMNS


def test_csv_holds_the_numbers_under_their_names() -> None:
    traced = run("constructed toy")
    for cut in cuts(traced)[1::2]:
        frame = pd.read_csv(io.BytesIO(csv(traced, cut)), index_col=0)
        np.testing.assert_allclose(
            frame.to_numpy(), np.atleast_2d(values(traced, cut)), rtol=1e-6, err_msg=cut.entry.name
        )


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
    for part, numbers in drawn.items():
        tensor = getattr(trace.layer(1), drawn_at(trace, part, 1).removeprefix("layer."))
        assert np.array_equal(tensor[:, :NUMBERS].numpy(), numbers), part


def test_every_described_tensor_has_a_place() -> None:
    assert all(entry.place and entry.axes and entry.formula and entry.source for entry in DESCRIBED)
