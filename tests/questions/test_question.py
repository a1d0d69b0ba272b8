"""A question: its options, its key, and what it hides."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lab.course.pages import LESSONS, Lesson
from lab.lessons.open_lesson import askings
from lab.questions.asking import Asking
from lab.questions.question import Option, Question, bet, clear_winner, open_question, shuffled, which_holds


def test_an_open_question_waits_for_its_answer() -> None:
    question = open_question("q", "?", ("yes", "no"))
    with pytest.raises(ValueError, match="nobody knows"):
        _ = question.answer
    known = question.answered(1, "It was measured.")
    assert question.is_open and not known.is_open
    assert known.answer == 1 and {option.why for option in known.options} == {"It was measured."}


def test_uniform_attention_asks_nothing() -> None:
    assert clear_winner([0.25, 0.25, 0.25, 0.25]) is None
    assert clear_winner([1.0]) is None
    assert clear_winner([0.2, 0.5, 0.3]) == 1


def test_a_question_needs_exactly_one_answer_and_distinct_options() -> None:
    with pytest.raises(ValueError, match="exactly one"):
        Question("q", "?", (Option("a", "x", True), Option("b", "y", True)))
    with pytest.raises(ValueError, match="exactly one"):
        Question("q", "?", (Option("a", "x"), Option("b", "y")))
    with pytest.raises(ValueError, match="read the same"):
        Question("q", "?", (Option("a", "x", True), Option("a", "y")))
    with pytest.raises(ValueError, match="explanation"):
        Question("q", "?", (Option("a", "x", True), Option("b", "")))


def test_a_key_names_lesson_question_and_subject_and_survives_a_corrected_text() -> None:
    def asked(prompt: str, why: str, lesson: str = "", subject: str = "") -> Question:
        options = [Option("One", why, correct=True), Option("Two", why)]
        return replace(shuffled("which", prompt, options), lesson=lesson, subject=subject)

    first = asked("Which wieghs 0.48, *he* or *she*?", "So it is.", "a", "b")
    mended = asked("Which weighs 0.48, *he* or *she*?", "So it was measured.", "a", "b")
    others = [replace(first, lesson="c"), replace(first, subject="c"), replace(first, id="c")]
    assert first.key == mended.key and len({first.key, *(other.key for other in others)}) == 4
    same, other = asked("Which one is 0.48?", "Sure."), asked("Which is 0.49?", "So.")
    assert asked("Which is 0.48?", "So.").key == same.key != other.key
    for choice in range(2):  # the prompt decides the order on screen, so an answer is kept by its option
        kept = first.kept_as(choice)
        again = mended.on_screen(kept)
        assert again is not None and mended.options[again].text == first.options[choice].text
    assert first.on_screen(7) is None and first.on_screen(None) is None


def test_hiding_a_question_leaves_no_answer_in_it() -> None:
    options = tuple(Option(text, f"Why {text}.", text == "b") for text in "abc")
    hidden = Question("which", "Which?", options, hint="Look there.", link={"text": "x"}).hidden()
    assert hidden.is_open and [option.text for option in hidden.options] == ["a", "b", "c"]
    assert not [told for told in ("Why", "there", "correct=True", "text': 'x") if told in repr(hidden)]


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


def test_mixed_outcomes_have_the_right_one_at_every_place() -> None:
    asked = [
        which_holds("a", f"Question {n}?", "Why.", {"x": True, "y": False, "z": False}, mixed=True) for n in range(60)
    ]
    counts = [sum(question.answer == place for question in asked) for place in range(3)]
    assert min(counts) > 10
    assert all(question.options[question.answer].text == "x" for question in asked)
    ordered = which_holds("a", "Question?", "Why.", {"x": False, "y": True})
    assert [option.text for option in ordered.options] == ["x", "y"]
