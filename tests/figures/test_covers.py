"""The drawings that open the lessons are made of the run that they say, and each lesson has one."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

import lab
from lab.course.cover import COVER_MODEL, COVER_TEXT, cover_of
from lab.course.lessons import LESSONS
from lab.figures.covers import cover, painted
from lab.models.trace import Trace


@pytest.fixture(scope="module")
def trace() -> Trace:
    return lab.trace(lab.load_model(COVER_MODEL), COVER_TEXT)


@pytest.mark.parametrize("lesson", [lesson.id for lesson in LESSONS])
def test_what_ships_is_what_this_run_draws(lesson: str, trace: Trace) -> None:
    shipped = np.asarray(Image.open(cover_of(lesson))).astype(int)
    assert np.abs(shipped - cover(lesson, trace)).mean() < 0.5  # another machine rounds otherwise
    assert shipped[..., 3].std() > 10


def test_a_cell_is_blue_above_0_orange_below_and_fainter_towards_it() -> None:
    picture = painted(np.array([[1.0, -0.5, 0.0]]))
    (left, middle, right) = (picture[10, 480 * place // 6] for place in (1, 3, 5))
    assert left[2] > left[0] and left[3] == 255
    assert middle[0] > middle[2] and middle[3] == 128
    assert right[3] == 0
