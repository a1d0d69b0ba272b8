"""Words in cells: what is drawn, what is read aloud, what the table holds, what is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest

from lab.charts.base.axes import Axis, Scale
from lab.charts.cells.categories import word_grid
from lab.charts.cells.grid import Texts
from lab.charts.cells.heatmap import Heatmap

VALUES = np.array([[0.1, 0.2, 0.3], [0.4, 0.9, 0.6]])
TEXTS = [["the", "", "\u202ea"], ["<b>", "cat", "$x$"]]


def grid(values: np.ndarray = VALUES, texts: list[list[str]] = TEXTS) -> Heatmap:
    axes = Axis("After", ["Embeddings", "Layer 1"]), Axis("At token", ["1 the", "2 the", "3 cat"])
    scale = Scale("Probability", (0.0, 1.0))
    return word_grid(values, Texts("Best word", texts), axes, scale, title="Best word", highlight=(1, 2))


def test_texts_travel_as_data_and_stand_in_tooltip_and_table() -> None:
    figure = grid()
    (texts,) = (each["value"] for each in figure.spec["params"] if each["name"] == "cell_texts")
    assert texts == ["the", "(empty)", "⟨202E⟩a", "<b>", "cat", "$x$"]
    assert figure.data["value"].tolist() == pytest.approx(VALUES.ravel().tolist())
    assert '"Best word": cell_texts[datum.place - 1]' in figure.spec["layer"][0]["mark"]["tooltip"]["expr"]
    assert "Largest 0.900" in figure.alt
    assert "Last row: <b>, cat, $x$." in figure.alt
    table = figure.table()
    assert table.columns.tolist() == ["After", "At token", "Best word", "Probability"]
    assert table.iloc[4].tolist() == ["Layer 1", "2 the", "cat", pytest.approx(0.9)]
    json.dumps(figure.spec)


def test_numbers_do_not_stand_under_the_words() -> None:
    layers = grid().spec["layer"]
    written = [layer for layer in layers if layer["mark"]["type"] == "text" and "data" not in layer]
    assert len(written) == 1
    assert "cell_texts" in written[0]["encoding"]["text"]["value"]["expr"]


def test_a_click_names_its_cell() -> None:
    assert grid().clicked({"selection": {"cell": [{"q": 1, "k": 2}]}}) == (1, 2)
