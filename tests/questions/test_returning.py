"""What was answered wrong comes back once, two lessons later at the earliest."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from lab.course.pages import CHECK_STEP, LESSONS
from lab.lessons.open_lesson import written_before
from lab.questions.progress import Answer, LearnerProgress
from lab.questions.question import Question
from lab.ui.quiz.draw_check import missed
from tests.pages.apptest import visit

FIRST = "multi-head-attention"
BEFORE = list(written_before(FIRST))


def test_questions_of_the_lesson_before_do_not_come_back_yet() -> None:
    assert list(written_before(LESSONS[0].id)) == list(written_before(LESSONS[1].id)) == []
    assert {each.lesson for each in BEFORE} == {"tokenization", "embeddings"}


def test_only_wrong_answers_come_back_and_only_once() -> None:
    one, two, three = BEFORE[:3]
    wrong = (two.answer + 1) % len(two.options)
    known = LearnerProgress().predicted("a.b", one.key, one.answer).predicted("a.b", two.key, wrong)
    known = known.answered(three.lesson, three.id, Answer(correct=False))
    assert missed(known, BEFORE, FIRST) == [two, three]
    assert missed(known.predicted("a.b", two.key, two.answer), BEFORE, FIRST) == [three]
    assert missed(known.predicted("a.b", two.key, None), BEFORE, FIRST) == [two, three]  # “Show me” keeps the answer
    again = known.answered(FIRST, f"{two.lesson}.{two.id}", Answer(correct=False))
    assert missed(again, BEFORE, FIRST) == [two, three]  # it stays where it was asked again
    assert missed(again, BEFORE, "feed-forward") == [three]


def with_a_wrong_answer(**given: str) -> tuple[AppTest, Question]:
    """The end of lesson 4, after a wrong answer in lesson 1."""
    asked = next(each for each in BEFORE if each.lesson == "tokenization")
    at = visit("4_Multi-head_attention.py", step=CHECK_STEP, **given)
    known = at.session_state["progress"] if "progress" in at.session_state else LearnerProgress()
    at.session_state["progress"] = known.answered(asked.lesson, asked.id, Answer(correct=False))
    return at.run(), asked


def test_it_is_asked_at_the_end_of_a_lesson_and_stays() -> None:
    at, asked = with_a_wrong_answer()
    assert [each.value for each in at.subheader] == ["Once more"]
    key = next(str(radio.key) for radio in at.radio if asked.id in str(radio.key))
    radio = at.radio(key=key)
    radio.set_value(next(i for i in range(3) if radio.options[i].endswith(asked.options[asked.answer].text))).run()
    assert asked.options[asked.answer].why in [box.value for box in at.success]
    at.run()
    assert at.session_state["progress"].first_tries[FIRST, f"{asked.lesson}.{asked.id}"]
    assert [each.value for each in at.subheader] == ["Once more"]


@pytest.mark.parametrize("given", [{"teach": "1"}, {"mode": "Toy"}])
def test_nothing_before_a_class_and_nothing_about_a_toy(given: dict[str, str]) -> None:
    at, _ = with_a_wrong_answer(**given)
    assert not at.exception and not at.subheader
