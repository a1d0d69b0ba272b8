"""Steps that have no meaning for a toy are not offered, and links to them lead on; each lesson keeps its toys."""

from __future__ import annotations

import pytest

from lab.course.pages import LESSONS, Lesson, NotForToys
from tests.pages.apptest import components, go, on_screen, reveal, step_of, steps_of, visit, words

PAGES = {lesson.id: lesson.page.removeprefix("pages/") for lesson in LESSONS}
NOT_FOR_TOYS = {
    lesson.id: {step.id: step.not_for_toys for step in lesson.steps if step.not_for_toys} for lesson in LESSONS
}
GONE = [(lesson, step, each) for lesson, steps in NOT_FOR_TOYS.items() for step, each in steps.items()]
WITH_TOYS = [lesson for lesson in LESSONS if lesson.toy]


def test_only_steps_that_exist_are_declared_and_what_takes_their_place_is_offered() -> None:
    for lesson, steps in NOT_FOR_TOYS.items():
        if not steps:
            continue
        there = {step for model in ("lab-minilm", "lab-gpt2") for step in steps_of(visit(PAGES[lesson], model=model))}
        toys = steps_of(visit(PAGES[lesson], mode="Toy"))
        assert steps.keys() <= there and not steps.keys() & set(toys)
        assert {each.instead for each in steps.values()} <= {on_screen(step) for step in toys}


@pytest.mark.parametrize(("lesson", "step", "gone"), GONE, ids=lambda each: str(each)[:30])
def test_a_link_to_such_a_step_lands_on_the_nearest_one_with_a_sentence(
    lesson: str, step: str, gone: NotForToys
) -> None:
    at = visit(PAGES[lesson], mode="Toy", step=step)
    assert on_screen(step_of(at)) == gone.instead
    assert any(f"“{on_screen(step)}”" in note.value and f"“{gone.instead}”" in note.value for note in at.warning)
    assert at.query_params["step"] in (gone.instead, [gone.instead])
    at.run()
    assert not at.warning  # it is said once


def test_whoever_turns_to_a_toy_on_such_a_step_lands_there_too() -> None:
    at = visit(PAGES["head-specialization"], step="grammar")
    at.segmented_control(key="mode").set_value("Toy").run()
    assert step_of(at) == "named-patterns"
    assert any("Letters have no grammar" in note.value for note in at.warning)


@pytest.mark.parametrize("lesson", WITH_TOYS, ids=lambda lesson: lesson.id)
def test_each_lesson_keeps_two_toy_steps_and_one_with_a_figure(lesson: Lesson) -> None:
    at = visit(PAGES[lesson.id], mode="Toy")
    assert len(steps_of(at)) >= 3  # with Check
    figures = 0
    for step in steps_of(at)[:-1]:
        go(at, step)
        figures += bool(len(at.get("vega_lite_chart")) + len(at.get("plotly_chart")) + len(components(at)))
        assert not any("switch the input" in each.value or "saved without" in each.value for each in at.info)
    assert figures


@pytest.mark.parametrize("weights", ["Constructed", "Random"])
def test_lesson_6_measures_what_needs_no_tags(weights: str) -> None:
    at = visit(PAGES["head-specialization"], mode="Toy", toy_weights=weights, step="radar")
    assert "Letters have no parts of speech" in words(at)
    reveal(at)
    assert len(at.get("plotly_chart")) == 1
    assert not any("A radar needs" in each.value for each in at.info)
