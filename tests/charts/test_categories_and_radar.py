"""Maps of names and radars: what is drawn is what was given, and what cannot be is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from lab.charts.base.plotted import Plotted
from lab.charts.cells.categories import Category, category_map
from lab.charts.cells.heatmap import Heatmap
from lab.charts.marks.radar import Shape, radar

KINDS = [Category("previous <b>", "P"), Category("mixed", "–", rest=True), Category("next", "N")]


def mapped(places: list[list[int]], kinds: list[Category], highlight: tuple[int, int] | None = None) -> Heatmap:
    return category_map(places, kinds, title="Names", value_title="Name", highlight=highlight)


def test_a_map_of_names() -> None:
    figure = mapped([[0, 1, 1], [2, 0, 1]], KINDS, (1, 0))
    assert figure.data["category"].tolist() == [0, 1, 1, 2, 0, 1]
    assert figure.data["chosen"].tolist() == [False, False, False, True, False, False]
    assert figure.table().to_numpy().tolist() == [["previous <b>", "mixed", "mixed"], ["next", "previous <b>", "mixed"]]
    assert list(figure.table().index) == ["Layer 1", "Layer 2"]
    assert "2 by 3" in figure.alt and "mixed 3" in figure.alt
    colours = figure.spec["layer"][0]["encoding"]["color"]["scale"]["range"]
    assert len(colours) == 3 and colours[0] != colours[2]
    assert figure.clickable().spec["layer"][0]["params"][0]["select"]["fields"] == ["q", "k"]


@pytest.mark.parametrize(
    ("places", "kinds", "highlight", "said"),
    [
        ([0, 1], KINDS, None, "shape"),
        ([[0, 3]], KINDS, None, "from 0 to 2"),
        ([[0]], [Category("a", "A"), Category("b", "A")], None, "one sign"),
        ([[0]], [Category(str(i), str(i)) for i in range(7)], None, "6 kinds"),
        ([[0]], KINDS, (1, 0), "no row 1"),
    ],
)
def test_a_map_that_cannot_be(
    places: list[list[int]], kinds: list[Category], highlight: tuple[int, int] | None, said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        mapped(places, kinds, highlight)


def drawn(shapes: dict[str, list[float]], axes: list[str], chosen: str = "Head 1") -> Plotted:
    drawn = {name: Shape(values, [f"{name} {axis}" for axis in axes]) for name, values in shapes.items()}
    return radar(drawn, axes, title="Radar", axis_title="relative", chosen=chosen, table=pd.DataFrame({"a": [1]}))


def test_a_radar_closes_its_shapes_and_fills_the_chosen_one() -> None:
    found = drawn({"Head 1": [0.0, 0.5, 1.0], "Head 2": [1.0, 0.0, 0.2]}, ["a", "b", "c"])
    other, chosen = found.figure.data
    assert (other.name, chosen.name) == ("Head 2", "Head 1")
    assert list(chosen.r) == [0.0, 0.5, 1.0, 0.0] and list(chosen.theta) == ["a", "b", "c", "a"]
    assert (chosen.fill, other.fill) == ("toself", "none")
    assert "farthest at c, 1.00" in found.alt
    assert "relative" in found.figure.layout.title.text
    assert found.table()["a"].tolist() == [1]


@pytest.mark.parametrize(
    ("shapes", "axes", "chosen", "said"),
    [
        ({"Head 1": [0.1, 0.2]}, ["a", "b"], "Head 1", "three axes"),
        ({"Head 1": [0.1, 0.2, np.nan]}, ["a", "b", "c"], "Head 1", "NaN"),
        ({"Head 1": [0.1, 0.2]}, ["a", "b", "c"], "Head 1", "3 labels"),
        ({"Head 1": [0.1, 0.2, 0.3]}, ["a", "b", "c"], "Head 2", "not among"),
    ],
)
def test_a_radar_that_cannot_be(shapes: dict[str, list[float]], axes: list[str], chosen: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        drawn(shapes, axes, chosen)


def test_the_scale_of_a_radar_has_no_line_that_could_be_taken_for_an_axis() -> None:
    scale = drawn({"one": [0.2, 0.4, 1.0]}, ["a", "b", "c"], "one").figure.layout.polar.radialaxis
    assert scale.showline is False and scale.ticks == ""
