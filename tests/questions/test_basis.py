"""Each question rests on something: a figure that was shown by then, beliefs, or what the learner makes."""

from __future__ import annotations

import pytest

from lab.course.pages import LESSONS, Lesson
from lab.lessons.open_lesson import askings
from lab.questions.asking import Asking
from lab.questions.question import bet

ASKINGS = [(lesson, asking) for lesson in LESSONS for asking in askings(lesson)]


@pytest.mark.parametrize(("lesson", "asking"), ASKINGS, ids=lambda each: getattr(each, "id", ""))
def test_what_a_question_rests_on_was_shown_by_then(lesson: Lesson, asking: Asking) -> None:
    if asking.basis.kind == "derivable":
        there, step, shown = asking.basis.of
        earlier = [each.id for each in LESSONS[: LESSONS.index(lesson) + 1]]
        assert there in earlier and shown
        source = next(each for each in LESSONS if each.id == there)
        assert source.step(step)
    else:
        assert all(each.endswith(".") for each in asking.basis.of) and len(set(asking.basis.of)) == len(asking.basis.of)


def test_a_bet_needs_two_beliefs() -> None:
    with pytest.raises(ValueError, match="two or three beliefs, not 1"):
        bet("One.")
