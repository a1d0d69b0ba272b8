"""Before a step asks or shows anything, it says in plain words what it is about."""

from __future__ import annotations

import pytest

from lab.course.ideas import IDEAS, idea
from lab.course.lessons import CHECK_STEP, LESSONS, Lesson
from tests.pages.apptest import visit, walk

# What a step asks or shows; before the first of them stands a sentence.
SHOWN = ("radio", "vega_lite_chart", "plotly_chart", "arrow_data_frame", "dataframe", "latex", "metric")
FRAME = ("After lesson", "Hugging Face", ":gray-badge", "This shows that the lab")


def said_first(at: object) -> list[str]:
    """The sentences between the row of steps and the first thing asked or shown."""
    texts: list[str] = []
    elements = list(at.main)  # type: ignore[attr-defined]
    row = next(place for place, element in enumerate(elements) if getattr(element, "key", None) == "step")
    for element in elements[row + 1 :]:
        if element.type in SHOWN:
            break
        if element.type in ("markdown", "info") and not any(each in element.value for each in FRAME):
            texts.append(element.value)
    return [text for text in texts if len(text.split()) >= 8]


@pytest.mark.parametrize("model", ["lab-bert", "lab-gpt2"])
@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.id)
def test_every_step_says_what_it_is_about(lesson: Lesson, model: str) -> None:
    at = visit(lesson.page.removeprefix("pages/"), model=model)
    silent = [step for step in walk(at) if step != CHECK_STEP and not said_first(at)]
    assert not silent


def test_every_idea_has_its_step() -> None:
    """A step that is renamed takes its idea along."""
    known = {lesson.id: lesson for lesson in LESSONS}
    for lesson, ideas in IDEAS.items():
        steps: set[str] = set()
        for model in ("lab-bert", "lab-gpt2"):
            steps |= set(walk(visit(known[lesson].page.removeprefix("pages/"), model=model)))
        assert ideas.keys() <= steps


def test_ideas_are_short_and_plain() -> None:
    for lesson, ideas in IDEAS.items():
        for step in ideas:
            text = idea(lesson, step)
            assert text is not None and len(text.split()) <= 60, step


def test_a_step_that_speaks_for_itself_has_none() -> None:
    assert idea("attention-metrics", CHECK_STEP) is None
