"""Figures as files: what is drawn holds the labels to the letter and one mark a number."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np

from lab.charts.base.axes import Axis, Scale
from lab.charts.base.figure import MOST_MARKS, drawable, png, svg
from lab.charts.cells.heatmap import heatmap
from lab.charts.marks.bars import bars

WORDS = ["<b>&", "مرحبا", "cat"]
VALUES = np.array([[0.1, 0.2, 0.7], [0.5, 0.25, 0.25], [0.0, 1.0, 0.0]])
MAP = heatmap(VALUES, (Axis("Query", WORDS), Axis("Key", WORDS)), Scale("Weight"), title="A map")


def test_svg_is_well_formed_and_shows_hostile_labels_as_text() -> None:
    drawn = ElementTree.fromstring(svg(MAP))
    texts = ["".join(each.itertext()) for each in drawn.iter("{http://www.w3.org/2000/svg}text")]
    for word in WORDS:
        assert texts.count(word) == 2  # once as a row, once as a column
    assert "A map" in texts
    assert not list(drawn.iter("{http://www.w3.org/2000/svg}script"))


def test_png_has_two_pixels_a_point() -> None:
    drawn = png(bars(WORDS, VALUES[0], Scale("Value"), title="Bars"))
    assert drawn.startswith(b"\x89PNG")
    width = int.from_bytes(drawn[16:20], "big")
    assert 1000 < width < 2000


def test_what_would_take_seconds_is_not_offered() -> None:
    side = int(MOST_MARKS**0.5) + 1
    axis = Axis("", [str(i) for i in range(side)])
    large = heatmap(np.zeros((side, side)), (axis, axis), Scale("", (0, 1)), title="")
    assert drawable(MAP) and not drawable(large)


def test_what_is_rounded_to_zero_has_no_minus() -> None:
    """d3 hides the minus of −0.001 in '.2f', but not in '+.2f'; Python hides neither."""
    for value_format, zero in (("+.2f", "+0.00"), (".2f", "0.00")):
        scale, axis = Scale("v", format=value_format, signed=True), Axis("r", ["a", "b"])
        figure = bars(["a", "b"], [-0.001, 0.5], scale, title="t")
        drawn = svg(figure)
        assert f">{zero}<" in drawn and ">−0.00<" not in drawn
        assert "-0.00:" not in figure.alt
        cells = heatmap([[-0.001, 0.5], [0.0, -0.7]], (axis, axis), scale, title="t")
        assert f">{zero}<" in svg(cells) and ">−0.00<" not in svg(cells) and ">−0.70<" in svg(cells)
