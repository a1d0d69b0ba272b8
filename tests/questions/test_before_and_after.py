"""Two tests of a lesson: the same kinds of question, other sentences, and what lies between them."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterable, Iterator, Mapping

import pytest
from streamlit.testing.v1 import AppTest

from lab.course.pages import CHECK_STEP, LESSONS, Lesson
from lab.models.interventions import Interventions
from lab.questions.before_and_after import COUNT, BothTests, Gain, gain, two_tests
from lab.questions.progress import Progress
from lab.questions.progress_file import ProgressFileError, read
from lab.questions.question import Option, Question
from lab.questions.returning import Spot
from lab.ui import parameters, runs
from lab.ui.quiz.before_and_after import both_tests, said
from tests.pages.apptest import visit, words

LESSON = "self-attention"
PAGE = "3_Self-attention.py"


def question(id: str, prompt: str = "?", right: str = "yes") -> Question:
    return Question(id, prompt, (Option(right, "because", correct=True), Option("no", "because")))


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.id)
def test_each_lesson_has_two_tests_of_one_kind_on_two_sentences(lesson: Lesson) -> None:
    ask = importlib.import_module(f"lab.lessons.{lesson.id.replace('-', '_')}.again").questions
    both = both_tests(lesson, ask)
    assert both is not None
    first, second = both
    assert [each.id for each in first.questions] == [each.id for each in second.questions]
    assert len(first.questions) == COUNT
    texts = [(each.spot.trace.text, each.spot.trace.pair) for each in both]
    assert texts[0] != texts[1] and all(lesson.text not in text or not lesson.text for text in texts)
    for one, other in zip(first.questions, second.questions, strict=True):
        assert (one.prompt, one.options) != (other.prompt, other.options)
    own = Spot.of(runs.run("lab-minilm", lesson.text or parameters.DEFAULT_TEXT, "", Interventions()))
    checked = {each.prompt for each in ask(own) if each is not None}
    again = checked & {each.prompt for test in both for each in test.questions}
    assert not again or lesson.id == "inter-sentence-attention", "its clear questions are the same for every text"


def test_what_comes_out_the_same_for_both_is_not_asked() -> None:
    asked = {"a": [question("same"), question("one", "1?")], "b": [question("same"), question("one", "2?")]}
    asked |= {"c": [question("same", "new?"), question("one", "3?"), question("two", "x?")]}
    spots: dict[str, Spot] = {name: object() for name in asked}  # type: ignore[misc]
    named = {id(spot): name for name, spot in spots.items()}

    def ask(spot: Spot) -> Iterable[Question | None]:
        return [*asked[named[id(spot)]], None]

    assert two_tests(ask, [spots["a"], spots["b"]]) is None
    both = two_tests(ask, spots.values())
    assert both is not None and [named[id(each.spot)] for each in both] == ["a", "c"]
    assert [each.id for each in both[0].questions] == ["same", "one"]


def test_no_more_runs_are_made_than_it_takes() -> None:
    made = []

    def spots() -> Iterator[Spot]:
        for number in range(9):
            made.append(number)
            yield number  # type: ignore[misc]

    assert two_tests(lambda spot: [question(name, f"{spot}?") for name in "ab"], spots()) is not None
    assert made == [0, 1]


@pytest.mark.parametrize(
    ("taken", "expected", "g"),
    [
        ([BothTests({"a": False, "b": False}, {"a": True, "b": False})], Gain(2, 0, 1), 0.5),
        ([BothTests({"a": True, "b": True}, {"a": True, "b": True})], Gain(2, 2, 2), None),
        ([BothTests({"a": True, "b": False}, {"a": False, "b": False})], Gain(2, 1, 0), -1.0),
        ([BothTests({"a": False})], Gain(0, 0, 0), None),
        # By hand: 1 of 4 before, 3 of 4 after; (0.75 − 0.25) ÷ (1 − 0.25) = 2/3.
        (
            [
                BothTests({"a": False, "b": True}, {"a": True, "b": True}),
                BothTests({"c": False, "d": False}, {"c": True, "d": False}),
                BothTests({"e": True}),
            ],
            Gain(4, 1, 3),
            2 / 3,
        ),
    ],
)
def test_the_gain_by_hand(taken: list[BothTests], expected: Gain, g: float | None) -> None:
    found = gain(taken)
    assert found == expected and found.g == (g if g is None else pytest.approx(g))
    assert ("All answers were right before" in said(found)) == (g is None)
    assert ("less than before" in said(found)) == (g is not None and g < 0)


def test_the_first_test_stays_and_the_second_is_taken_once() -> None:
    once = Progress().tested(LESSON, {"a": False})
    twice = once.tested(LESSON, {"a": True})
    assert once.tests[LESSON] == BothTests({"a": False}) and twice.tests[LESSON].after == {"a": True}
    assert twice.tested(LESSON, {"a": False}) == twice
    assert twice.merged(once).tests == twice.tests and once.merged(twice).tests == once.tests


def test_the_file_keeps_both_tests_and_their_gain() -> None:
    kept = Progress().tested(LESSON, {"a": False, "b": True}).tested(LESSON, {"a": True, "b": True})
    kept = kept.tested("embeddings", {"c": False})
    data = kept.to_json()
    assert read(data.encode())[0] == kept and not read(data.encode())[1]
    assert json.loads(data)["lessons"][LESSON]["tests"]["g"] == 1.0
    assert json.loads(data)["lessons"]["embeddings"]["tests"] == {"before": {"c": False}, "after": None, "g": None}


@pytest.mark.parametrize(
    "tests",
    [
        [],
        {"before": {"a": 1}},
        {"before": None},
        {"before": {"a": True}, "after": {"b": True}},
        {"after": {}},
        {"before": {"a" * 99: True}},
    ],
)
def test_a_file_with_other_tests_is_refused(tests: object) -> None:
    content = {"lab": "Inside BERT", "version": 1, "lessons": {LESSON: {"tests": tests}}}
    with pytest.raises(ProgressFileError):
        read(json.dumps(content).encode())


def answer(at: AppTest, when: str, right: Mapping[str, bool]) -> AppTest:
    """Choose in each question of a test the right option, or another one, and send the form."""
    for name, wanted in right.items():
        radio = next(each for each in at.radio if f"_{when}.{LESSON}.{name}." in str(each.key))
        right_one = _right(when, name)
        radio.set_value(right_one if wanted else int(right_one == 0))
    next(each for each in at.button if each.label == "Keep my answers").click()
    return at.run()


def _right(when: str, name: str) -> int:
    ask = importlib.import_module("lab.lessons.self_attention.again").questions
    lesson = next(each for each in LESSONS if each.id == LESSON)
    both = both_tests(lesson, ask)
    assert both is not None
    test = both[when == "after"]
    return next(each.answer for each in test.questions if each.id == name)


def opened() -> AppTest:
    at = visit(PAGE)
    assert "Two questions before you begin" in [each.label for each in at.expander]
    at.session_state[f"_before.{LESSON}"] = True
    return at.run()


def test_a_learner_takes_both_and_reads_what_the_lesson_gave() -> None:
    at = opened()
    ids = [str(each.key).split(".")[2] for each in at.radio if f"_before.{LESSON}." in str(each.key)]
    assert len(ids) == COUNT
    answer(at, "before", {ids[0]: False, ids[1]: True})
    assert at.session_state["progress"].tests[LESSON] == BothTests({ids[0]: False, ids[1]: True})
    assert "Two questions before you begin" not in [each.label for each in at.expander]
    assert "Right before" not in words(at)
    at.segmented_control(key="step").set_value(CHECK_STEP).run()
    assert "Before this lesson you answered two questions" in words(at)
    answer(at, "after", {ids[0]: True, ids[1]: True})
    assert "Right before: 1 of 2. Right after: 2 of 2. Gain g = 1.00" in words(at)
    at.switch_page("pages/0_Course.py").run()
    assert "Before and after your lessons" in words(at) and "Right after: 2 of 2" in words(at)


def test_what_is_left_open_counts_as_not_known() -> None:
    at = opened()
    next(each for each in at.button if each.label == "Keep my answers").click()
    at.run()
    assert set(at.session_state["progress"].tests[LESSON].before.values()) == {False}


@pytest.mark.parametrize("link", [{"teach": "1"}, {"mode": "Toy"}])
def test_neither_a_class_nor_a_toy_is_tested(link: dict[str, str]) -> None:
    assert "Two questions before you begin" not in [each.label for each in visit(PAGE, **link).expander]


def test_whoever_has_begun_is_not_asked_before() -> None:
    at = visit(PAGE)
    for step in ("Why divide", "Where does it look?"):
        at.segmented_control(key="step").set_value(step).run()
    assert "Two questions before you begin" not in [each.label for each in at.expander]
    at.segmented_control(key="step").set_value(CHECK_STEP).run()
    assert "Before and after" not in words(at)
