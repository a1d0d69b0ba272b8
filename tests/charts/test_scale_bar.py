"""The legend of coloured cells: a bar with numbers, which says where some numbers are beyond its ends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lab.charts.base.axes import Axis, Scale
from lab.charts.cells.heatmap import Heatmap, heatmap


def a_map(scale: Scale, largest: float) -> Heatmap:
    """A map of 100 numbers between −1 and 1, and one that is ``largest``."""
    values = np.linspace(-1, 1, 100, dtype=np.float32).reshape(10, 10)
    values[4, 4] = largest
    places = [str(place) for place in range(10)]
    return heatmap(values, (Axis("Row", places), Axis("Column", places)), scale, title="Map")


def bar(figure: Heatmap) -> list[dict[str, Any]]:
    return [layer for layer in figure.spec["layer"] if "color" in layer["encoding"]]


def written(figure: Heatmap) -> str:
    texts = [layer for layer in figure.spec["layer"] if layer["mark"]["type"] == "text"]
    return " ".join(layer["encoding"]["text"]["value"]["expr"] for layer in texts)


def test_the_bar_has_the_colours_of_the_cells_and_three_numbers() -> None:
    cells, pieces = bar(figure := a_map(Scale("Change (nats)", signed=True), 1.0))
    assert cells["encoding"]["color"] == pieces["encoding"]["color"]
    assert '"Change (nats)"' in written(figure)
    assert all(f"format({number}, " in written(figure) for number in (-1.0, 0.0, 1.0))
    assert "≥" not in written(figure) and "≤" not in written(figure)


@pytest.mark.parametrize(("largest", "end", "sign"), [(20.0, 0.96, "≥ "), (1.5, 1.5, "")])
def test_one_number_does_not_make_all_others_pale(largest: float, end: float, sign: str) -> None:
    figure = a_map(Scale("Value", signed=True, cut=True), largest)
    low, high = bar(figure)[0]["encoding"]["color"]["scale"]["domain"]
    assert high == -low == pytest.approx(end, abs=0.02)
    assert f"'{sign}' + format({high!r}, " in written(figure)
    assert figure.values.max() == largest  # the table and the tooltip have the number itself


def test_only_a_scale_that_is_cut_ends_before_the_largest_number() -> None:
    assert bar(a_map(Scale("Value", signed=True), 20.0))[0]["encoding"]["color"]["scale"]["domain"] == [-20.0, 20.0]


def test_a_domain_that_was_given_says_what_is_beyond() -> None:
    figure = a_map(Scale("Value", (-0.5, 30.0), signed=True), 20.0)
    assert "'≤ ' + format(-0.5, " in written(figure) and "≥" not in written(figure)
