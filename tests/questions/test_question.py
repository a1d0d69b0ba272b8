"""A question: its options, its key, what it hides, and which wrong numbers it may offer."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from lab.questions.forms import Bounds, Kind, NumberAnswer
from lab.questions.kinds import Quantity, numeric
from lab.questions.question import Option, Question, clear_winner, open_question, shuffled


def test_an_open_question_waits_for_its_answer() -> None:
    question = open_question("q", "?", ("yes", "no"))
    with pytest.raises(ValueError, match="nobody knows"):
        _ = question.answer
    known = question.answered(1, "It was measured.")
    assert question.is_open and not known.is_open
    assert known.answer == 1 and {option.why for option in known.options} == {"It was measured."}


def offered(question: Question | None) -> set[str]:
    assert question is not None
    return {option.text for option in question.options}


def test_numbers_that_could_be_no_answer_are_left_out() -> None:
    wrong = {-0.2: "negative", 1.5: "above", math.inf: "infinite", math.nan: "no number", 0.3: "third", 0.9: "most"}
    question = numeric("id", "How much?", (0.6, "right"), wrong, Quantity("{:.1f}".format, within=(0, 1)))
    assert offered(question) == {"0.6", "0.3", "0.9"}
    anywhere = numeric("id", "How much?", (0.6, "right"), wrong, Quantity("{:.1f}".format))
    assert offered(anywhere) == {"0.6", "−0.2", "1.5", "0.3"}


def test_numbers_nearer_than_asked_are_left_out() -> None:
    wrong = {0.004: "near", 0.02: "far", -0.02: "far below"}
    question = numeric("id", "How much?", (0.001, "right"), wrong, Quantity("{:.3f}".format, apart=0.01))
    assert offered(question) == {"0.001", "0.020", "−0.020"}
    assert numeric("id", "How much?", (0.001, "right"), wrong, Quantity("{:.3f}".format, apart=0.1)) is None


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
    number = NumberAnswer(0.34, 0.02, Bounds(0.0, 1.0, ""), (0.32, 0.36))
    options = tuple(Option(text, f"Why {text}.", text == "b") for text in "abc")
    whole = Question("which", "Which?", options, number=number, hint="Look there.", link={"text": "x"})
    assert whole.kinds == (Kind.CHOICE, Kind.NUMBER) and whole.asked_for(Kind.CHOICE).number is None
    for hidden in (whole.hidden(), whole.asked_for(Kind.CHOICE).hidden()):
        assert hidden.is_open and not [
            told for told in ("0.34", "Why", "there", "correct=True") if told in repr(hidden)
        ]
    assert whole.hidden().options == () and whole.hidden().accepts(0.5) and not whole.hidden().accepts(2)
