"""Which wrong numbers a question may offer."""

from __future__ import annotations

import math

import pytest

from lab.questions.kinds import Quantity, numeric
from lab.questions.question import Question, open_question


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
