"""The figure of the paper: the right blocks in the right order for each family, the right one marked; and slices."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import lab
from lab.charts.base.axes import Axis, Scale
from lab.charts.cells.slices import HiddenCells, matrix_slice
from lab.charts.marks.layer_figure import Architecture, layer_figure
from lab.models.tensor_entries import DESCRIBED
from lab.models.tensors import catalogue
from tests.checkpoints import FAMILIES, Family
from tests.conftest import TinyCheckpoint
from tests.thorough import some

VALUE = Scale("v")


def architecture(folder: Path) -> tuple[Architecture, list[str]]:
    model = lab.load_model(folder)
    traced = lab.trace(model, "A cat.")
    places = [entry.place for entry in catalogue(traced)]
    return Architecture(frozenset(places), model.config.pre_norm, model.config.causal), places


def order(figure: Architecture, *blocks: str) -> bool:
    row_of = {block: number for number, row in enumerate(figure.rows) for block in row}
    numbers = [row_of[block] for block in blocks]
    return numbers == sorted(numbers) and len(set(numbers)) == len(numbers)


@pytest.mark.parametrize("family", some(FAMILIES, 2))
def test_every_tensor_of_every_family_has_its_block(tiny_checkpoint: TinyCheckpoint, family: Family) -> None:
    figure, places = architecture(tiny_checkpoint(family))
    blocks = [block for row in figure.rows for block in row]
    assert len(blocks) == len(set(blocks))
    for place in places:
        drawn = layer_figure(figure, place, title="t")
        boxes = drawn.data[drawn.data["kind"] == "block"]
        marked = [blocks[label] for label in boxes.loc[boxes["marked"], "label"]]
        assert tuple(marked) == tuple(b for b in blocks if b in figure.marked(place)) and marked
        assert drawn.table()["marked"].sum() == len(marked)
    assert ("segment" in blocks) == (family not in ("gpt2", "distilbert", "modernbert"))
    assert ("position" in blocks) == ("gate" not in blocks) == (family != "modernbert")
    assert ("project" in blocks) == ("replaced" in blocks) == (family == "electra")
    assert ("pair" in blocks) == (family == "bert")
    assert ("vocabulary" in blocks) == (family not in ("electra", "bert-headless"))


def test_layer_norm_stands_where_the_family_has_it(tiny_checkpoint: TinyCheckpoint) -> None:
    bert, _ = architecture(tiny_checkpoint("bert"))
    attention = ("query", "scores", "scale", "softmax", "mix", "concat", "projection", "add_1")
    network = ("ffn_in", "activation", "ffn_out", "add_2")
    assert order(
        bert, "token", "sum", "embedding_norm", "input", *attention, "norm_1", *network, "norm_2", "vocabulary"
    )
    gpt2, _ = architecture(tiny_checkpoint("gpt2"))
    assert order(gpt2, "token", "sum", "input", "norm_1", *attention, "norm_2", *network, "final_norm", "vocabulary")
    assert bert.marked("left") == ("norm_2",) and gpt2.marked("left") == ("add_2",)
    assert bert.marked("final") == ("norm_2",) and gpt2.marked("final") == ("final_norm",)
    assert bert.marked("embedded") == ("embedding_norm",) and gpt2.marked("embedded") == ("sum",)


def test_residuals_start_and_end_at_the_right_blocks(tiny_checkpoint: TinyCheckpoint) -> None:
    for family, starts in (("bert", ("input", "norm_1")), ("gpt2", ("input", "add_1"))):
        figure, _ = architecture(tiny_checkpoint(family))
        row_of = {block: number for number, row in enumerate(figure.rows) for block in row}
        wires = layer_figure(figure, "query", title="t").data.query("kind == 'wire'")
        lanes = wires[(wires["x"] < 0.1) & (wires["x2"] < 0.1)]
        ways = {(row.y, row.y2) for row in lanes.itertuples()}
        assert ways == {(row_of[start], row_of[end]) for start, end in zip(starts, ("add_1", "add_2"), strict=True)}


def test_the_mask_is_named_where_there_is_one(tiny_checkpoint: TinyCheckpoint) -> None:
    for family, label in (("bert", "÷ √d_k"), ("gpt2", "÷ √d_k, mask")):
        figure, _ = architecture(tiny_checkpoint(family))
        assert label in layer_figure(figure, "query", title="t").table()["block"].tolist()


def test_every_described_tensor_has_a_place() -> None:
    assert all(entry.place and entry.axes and entry.formula and entry.source for entry in DESCRIBED)


def test_a_slice_of_a_causal_matrix_knows_where_it_is_masked() -> None:
    scores = np.where(np.tri(8) > 0, np.arange(64.0).reshape(8, 8) - 20, -np.inf)
    rows, columns = range(2, 6), range(1, 7)
    down, across = (Axis("Query", [str(i) for i in places]) for places in (rows, columns))
    figure = matrix_slice(scores[2:6, 1:7], (down, across), VALUE, title="t", hidden=HiddenCells(1))
    table = figure.table().to_numpy()
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            assert np.isnan(table[i, j]) if column > row else table[i, j] == scores[row, column]
    assert np.isfinite(figure.data["value"]).all()
    assert "datum.k <= datum.q + 1" in str(figure.spec) and "all is masked" in figure.alt
    with pytest.raises(ValueError, match="NaN or infinite"):
        matrix_slice(scores[2:6, 1:7], (down, across), VALUE, title="t")


def test_a_slice_that_is_all_masked_is_said_to_be() -> None:
    side = Axis("Query", ["a", "b"])
    figure = matrix_slice(np.full((2, 2), -np.inf), (side, side), VALUE, title="t", hidden=HiddenCells(-3))
    assert "All of it is masked" in figure.alt and figure.table().isna().all(axis=None)


def test_numbered_sides_take_the_whole_width_and_signs_diverge() -> None:
    sizes = (("Dimension", 3), ("Neuron", 40))
    rows, columns = (Axis(title, [str(i) for i in range(count)], counts=True) for title, count in sizes)
    figure = matrix_slice(np.linspace(-1, 3, 120).reshape(3, 40), (rows, columns), VALUE, title="t")
    assert figure.width == "stretch" and "[-3.0, 3.0]" in str(figure.spec)
    plain = matrix_slice(np.ones((3, 40)), (rows, columns), VALUE, title="t")
    assert "[0.0, 1.0]" in str(plain.spec)


@pytest.mark.parametrize("largest", [0.0123, 0.5, 1.0, 3.26, 48.2, 701.5, 9999.0, 3.4e-5, 2.2e6])
def test_a_number_in_a_cell_has_six_characters_at_most(largest: float) -> None:
    """Beside a weight of 1.00 one of 0.0000620 would run into its neighbours."""
    axis = Axis("Token", list("abcd"))
    values = np.array([largest, -largest, largest * 6.2e-5, largest / 3] * 4).reshape(4, 4)
    spec = json.dumps(matrix_slice(values, (axis, axis), VALUE, title="t").spec)
    (format_,) = set(re.findall(r"format\(datum.value, .{1,2}(\.\df|\.\de).{1,2}\)", spec))
    assert all(len(format(value, format_)) <= 6 for value in values.ravel())
