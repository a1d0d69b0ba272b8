"""Every lesson that looks at weights can look at the model before its training, and says so."""

from __future__ import annotations

import pytest

from lab.course.pages import LESSONS, Lesson
from lab.models.catalogue import twin_id, twin_of
from lab.ui import runs
from tests.pages.apptest import visit, words
from tests.thorough import one_by_day


@one_by_day
@pytest.mark.parametrize("lesson", [lesson for lesson in LESSONS if lesson.weights], ids=lambda lesson: lesson.id)
def test_random_weights_are_on_screen_and_named(lesson: Lesson) -> None:
    at = visit(lesson.page.removeprefix("pages/"), weights="Random", twin_seed="3")
    assert "Random weights, seed 3" in words(at)


def test_a_lesson_without_weights_offers_none() -> None:
    at = visit("1_Tokenization.py", weights="Random")
    assert "Random weights" not in words(at)


def test_a_twin_has_the_name_it_is_found_by() -> None:
    assert twin_of(twin_id("lab-bert", 7)) == ("lab-bert", 7)
    assert twin_of("lab-bert") is None
    model = runs.model(twin_id("lab-bert", 7))
    assert model.id == twin_id("lab-bert", 7)
    assert model is runs.model(twin_id("lab-bert", 7))
