"""The two ways through the course: their steps exist, suit every model, and follow one another to the end."""

from __future__ import annotations

import pytest

from lab.course.pages import CHECK_STEP, LESSONS, lesson_of
from lab.course.ways import NAMES, SHORT, WHOLE, WayStage, minutes, neighbours, way


def test_the_short_way_takes_the_time_in_its_name() -> None:
    assert f"in {minutes(SHORT)} minutes" in NAMES[SHORT]
    assert minutes(WHOLE) == sum(lesson.minutes for lesson in LESSONS)


def test_the_short_way_is_of_single_steps_that_every_model_has() -> None:
    """A step that is optional in its lesson has no minutes; a step that some models lack would lead nowhere."""
    assert way(SHORT)
    for stage in way(SHORT):
        assert stage.step.models == "" and not stage.step.aside and stage.step.name != CHECK_STEP, stage.key
        assert stage.lesson.step(stage.step.id) is stage.step
    assert {stage.key for stage in way(SHORT)} < {stage.key for stage in way(WHOLE)}


def test_the_whole_course_ends_each_lesson_with_its_check() -> None:
    for lesson in LESSONS:
        steps = [stage.step for stage in way(WHOLE) if stage.lesson is lesson]
        assert steps[-1].name == CHECK_STEP and not any(step.aside or step.models == "causal" for step in steps)


@pytest.mark.parametrize("name", NAMES)
def test_a_way_leads_through_its_steps_in_their_order(name: str) -> None:
    stages: list[WayStage | None] = [None, *way(name), None]
    for before, stage, after in zip(stages, stages[1:], stages[2:], strict=False):
        assert stage is not None and neighbours(name, *stage.key) == (before, after)


def test_a_step_beside_the_way_leads_back_onto_it() -> None:
    for lesson in LESSONS:
        for step in lesson.steps:
            before, after = neighbours(SHORT, lesson.id, step.id)
            on_it = [stage.key for stage in way(SHORT) if stage.key != (lesson.id, step.id)]
            found = [stage.key for stage in (before, after) if stage is not None]
            assert found and all(key in on_it for key in found)
            if before is not None and after is not None:
                at = on_it.index(before.key)
                assert on_it[at + 1] == after.key


def test_what_is_no_way_or_no_step_is_an_error() -> None:
    with pytest.raises(KeyError, match="scenic"):
        way("scenic")
    with pytest.raises(KeyError, match="has no step alchemy"):
        neighbours(SHORT, lesson_of("embeddings").id, "alchemy")
