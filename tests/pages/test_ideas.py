"""What a step says first, in plain words: short, and at the step it is about.

That every step says something before it asks or shows is in test_matrix.py, which comes by every step.
"""

from __future__ import annotations

from lab.course.ideas import IDEAS, idea

from lab.course.pages import CHECK_STEP, LESSONS
from tests.pages.apptest import steps_of, visit


def test_every_idea_has_its_step() -> None:
    """A step that is renamed takes its idea along."""
    known = {lesson.id: lesson for lesson in LESSONS}
    for lesson, ideas in IDEAS.items():
        steps: set[str] = set()
        for model in ("lab-bert", "lab-gpt2"):
            at = visit(known[lesson].page.removeprefix("pages/"), model=model)
            steps |= set(steps_of(at))
        assert ideas.keys() <= steps


def test_ideas_are_short_and_plain() -> None:
    for lesson, ideas in IDEAS.items():
        for step in ideas:
            text = idea(lesson, step)
            assert text is not None and len(text.split()) <= 60, step


def test_a_step_that_speaks_for_itself_has_none() -> None:
    assert idea("attention-metrics", CHECK_STEP) is None
