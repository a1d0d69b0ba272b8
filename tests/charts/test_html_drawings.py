"""Bars and sketches of HTML: lengths and colours are the numbers', and a learner's text stays text."""

from __future__ import annotations

import re
from base64 import b64decode
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from lab.charts.marks.sketches import cells_sketch, chips_sketch
from lab.charts.tokens.word_bars import WordBar, word_bars


def test_a_bar_is_as_long_as_its_probability() -> None:
    drawn = word_bars([WordBar("was", 0.836, chosen=True), WordBar("were", 0.033, "rank 2")])
    assert re.findall(r"width: ([\d.]+)%", drawn) == ["83.6", "3.3"]
    assert re.findall(r'class="number">([\d.]+)<', drawn) == ["0.84", "0.03"]
    assert drawn.count('<li class="chosen">') == 1 and "<small>rank 2</small>" in drawn


@pytest.mark.parametrize("probability", [-0.1, 1.5, float("nan")])
def test_what_is_no_probability_is_refused(probability: float) -> None:
    with pytest.raises(ValueError, match="probability"):
        word_bars([WordBar("was", probability)])


def test_text_stays_text() -> None:
    for drawn in (word_bars([WordBar("<b>x", 0.5, "<i>y")]), chips_sketch(["<b>x", "\u202ey"], 0)):
        assert "<b>" not in drawn and "<i>" not in drawn and "\u202e" not in drawn


def test_the_cells_of_a_sketch_are_the_matrix() -> None:
    values = np.array([[1.0, -0.5, 0.0], [0.25, 2.0, -2.0]])
    packed = re.findall(r"base64,([^\"]+)", cells_sketch(values))[0]
    picture = np.asarray(Image.open(BytesIO(b64decode(packed))))
    assert picture.shape == (2, 3, 4)
    assert np.abs(picture[..., 3] / 255 - np.abs(values) / 2).max() < 1 / 255
    above, below = picture[0, 0, :3].tolist(), picture[0, 1, :3].tolist()
    assert above[2] > above[0] and below[0] > below[2]  # blue above zero, orange below
    assert (picture[values > 0][:, :3] == above).all() and (picture[values < 0][:, :3] == below).all()


@pytest.mark.parametrize("values", [[1.0], [[float("nan")]], np.zeros((0, 3))])
def test_what_is_no_matrix_is_refused(values: object) -> None:
    with pytest.raises(ValueError, match="matrix"):
        cells_sketch(values)  # type: ignore[arg-type]
