"""Outcomes without an order are mixed; outcomes with an order keep it."""

from __future__ import annotations

from lab.questions.question import which_holds


def test_mixed_outcomes_have_the_right_one_at_every_place() -> None:
    asked = [
        which_holds("a", f"Question {n}?", "Why.", {"x": True, "y": False, "z": False}, mixed=True) for n in range(60)
    ]
    counts = [sum(question.answer == place for question in asked) for place in range(3)]
    assert min(counts) > 10
    assert all(question.options[question.answer].text == "x" for question in asked)
    ordered = which_holds("a", "Question?", "Why.", {"x": False, "y": True})
    assert [option.text for option in ordered.options] == ["x", "y"]
