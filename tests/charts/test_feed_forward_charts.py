"""The figures of the feed-forward lesson: neurons, a curve with points, the plan of a layer."""

from __future__ import annotations

import numpy as np
import pytest

from lab.charts.cells.slices import activations
from lab.charts.marks.curve import curve
from lab.charts.marks.layer_plan import Box, plan
from tests.charts.samples import matrix, words


def test_neurons_keep_their_own_numbers_and_answer_a_click() -> None:
    figure = activations(matrix(3, 5), words(3), title="", columns=("Neuron", 97))
    assert list(figure.table().columns) == ["97", "98", "99", "100", "101"]
    assert figure.clicked({"selection": {"cell": [{"q": 2, "k": 4}]}}) == (2, 4)
    assert figure.clicked({"selection": {"cell": [{"q": 2, "k": 5}]}}) is None
    with pytest.raises(ValueError, match="activations: there is no column 5"):
        activations(matrix(3, 5), words(3), title="", highlight=(0, 5))


def test_a_long_text_makes_low_rows_and_colours_meet_at_zero() -> None:
    short, long = (activations(matrix(n, 96) - 0.9, words(n), title="") for n in (8, 64))
    assert short.spec["height"] == 8 * 26 and long.spec["height"] < 500
    low, high = short.spec["layer"][0]["encoding"]["color"]["scale"]["domain"]
    assert low == -high


def test_every_point_and_the_chosen_one_are_drawn_on_the_curve() -> None:
    x = np.array([-2.0, -1.0, 3.0])
    figure = curve(([-3, 0, 3], [0, 0, 3]), (x, x.clip(0)), ("Before", "After", "Neuron"), title="", highlight=2)
    assert figure.data["kind"].tolist() == [0, 0, 0, 1, 1, 1, 2]
    assert figure.data.iloc[-1][["x", "value", "index"]].tolist() == [3, 3, 3]
    table = figure.table()
    assert table.index.tolist() == [1, 2, 3] and table["Before"].tolist() == x.tolist()
    assert "67% of the points lie left of 0" in figure.alt and "Neuron 3: Before 3.000, After 3.000" in figure.alt
    assert curve(([0, 1], [0, 1]), ([0], [0]), ("", "", ""), title="").data["kind"].max() == 1
    beside = curve(([0, 1], [0, 1]), ([0], [0]), ("", "", ""), title="", other=([-1, 1], [-1, 1])).data
    assert beside[beside["kind"] == 3]["value"].tolist() == [-1, 1]


POST = [Box("Input", 1), Box("Attention", 2), Box("Add", 3, 0), Box("LayerNorm", 1), Box("FFN", 4), Box("Add 2", 5, 3)]


def test_a_residual_leaves_below_its_source_and_enters_its_sum_from_the_left() -> None:
    data = plan(POST, title="", value_title="Length").data
    assert data[data["kind"].isin(["box", "sum"])]["kind"].tolist() == ["box", "box", "sum", "box", "box", "sum"]
    for at, source in ((2, 0), (5, 3)):
        way = data[(data["kind"] == "line") & (data["row"] == at)].iloc[1:]  # the first is the step from above
        assert way.iloc[0]["y"] == source + 0.5, "below its source, above the next box"
        assert way.iloc[-1]["y2"] == at and way.iloc[-1]["x2"] == data[data["kind"] == "sum"]["x"].iloc[0]
        for before, after in zip(way.iloc[:-1].itertuples(), way.iloc[1:].itertuples(), strict=True):
            assert (before.x2, before.y2) == (after.x, after.y), "one unbroken way"


def test_a_plan_says_what_is_added_where() -> None:
    figure = plan(POST, title="", value_title="Length")
    assert "Input is added at Add; LayerNorm is added at Add 2." in figure.alt
    assert figure.table()["Length"].tolist() == [1, 2, 3, 1, 4, 5]


def test_a_curve_with_one_point_is_told_and_listed_as_the_curve() -> None:
    figure = curve(
        ([0.0, 1.0, 3.0], [2.0, 0.5, 1.0]), ([2.0], [0.75]), ("Weight", "Loss", "Dot"), title="t", highlight=0
    )
    assert figure.alt == (
        "Curve. Weight goes from 0.00 to 3.00, Loss from 2.00 over 0.50 at 1.00 to 1.00. Dot: Weight 2.000, Loss 0.750."
    )
    assert figure.table().to_numpy().tolist() == [[0, 2], [1, 0.5], [2, 0.75], [3, 1]]
