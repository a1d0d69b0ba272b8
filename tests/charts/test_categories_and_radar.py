"""Maps of names and radars: what is drawn is what was given, and what cannot be is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from lab.charts.base.plotted import Plotted
from lab.charts.cells.categories import Category, category_map
from lab.charts.cells.heatmap import Heatmap
from lab.charts.marks.radar_marks import Shape, radar

KINDS = [Category("previous <b>", "P"), Category("mixed", "–", rest=True), Category("next", "N")]


def mapped(places: list[list[int]], kinds: list[Category], highlight: tuple[int, int] | None = None) -> Heatmap:
    return category_map(places, kinds, title="Names", value_title="Name", highlight=highlight)


def test_a_map_of_names() -> None:
    figure = mapped([[0, 1, 1], [2, 0, 1]], KINDS, (1, 0))
    assert figure.data["category"].tolist() == [0, 1, 1, 2, 0, 1]
    assert figure.data["chosen"].tolist() == [False, False, False, True, False, False]
    assert figure.table().to_numpy().tolist() == [["previous <b>", "mixed", "mixed"], ["next", "previous <b>", "mixed"]]
    assert list(figure.table().index) == ["Layer 1", "Layer 2"]
    assert figure.values.tolist() == [[0, 1, 1], [2, 0, 1]] and figure.axes[1].total == 3
    assert "2 by 3" in figure.alt and "mixed 3" in figure.alt
    colours = figure.spec["layer"][0]["encoding"]["color"]["scale"]["range"]
    assert len(colours) == 3 and colours[0] != colours[2]
    assert figure.clickable().spec["layer"][0]["params"][0]["select"]["fields"] == ["q", "k"]


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


def test_a_radar_says_where_a_number_is_missing() -> None:
    with pytest.raises(ValueError, match="NaN"):
        drawn({"Head 1": [0.1, 0.2, np.nan]}, ["a", "b", "c"])


def test_the_scale_of_a_radar_has_no_line_that_could_be_taken_for_an_axis() -> None:
    scale = drawn({"one": [0.2, 0.4, 1.0]}, ["a", "b", "c"], "one").figure.layout.polar.radialaxis
    assert scale.showline is False and scale.ticks == ""
