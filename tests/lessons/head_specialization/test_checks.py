"""Every question about specialization has one right answer, recomputed here."""

from __future__ import annotations

import numpy as np
import pytest

from lab.analysis.heads.patterns import PATTERNS
from lab.analysis.heads.specialization import SPECIALIZATIONS
from lab.analysis.heads.values import Values
from lab.evidence.notable import JOBS, Doing, Notable
from lab.lessons.head_specialization import checks
from lab.questions.question import Question
from tests.by_id import by_id

NEXT, SELF = by_id(PATTERNS, "next_token"), by_id(SPECIALIZATIONS, "self")


def right(question: Question | None) -> str:
    assert question is not None
    return question.options[question.answer].text


def test_kinds() -> None:
    assert [checks.kind_of(tag, False) for tag in ("DET", "PROPN", "PUNCT", "SYM", None)] == [
        "Function words",
        "Content words",
        "Punctuation",
        "Other",
        "Other",
    ]
    assert checks.kind_of("DET", True) == "Special tokens"


def test_looks_most() -> None:
    assert right(checks.looks_most(1, SELF, np.array([0.1, 0.5, 0.3]))) == "Head 2"
    assert checks.looks_most(1, SELF, np.array([0.1, 0.5, 0.48])) is None
    assert checks.looks_most(1, SELF, np.array([np.nan, np.nan])) is None


def test_best_head() -> None:
    scores = np.array([[0.1, 0.2], [0.9, 0.3]])
    assert right(checks.best_head(NEXT, scores)) == "Layer 2, head 1"
    assert checks.best_head(NEXT, scores * np.nan) is None


EVEN = np.array([0.5, 0.4, np.nan, 0.1, np.nan, 0.1, 0.1])


def shares(function: float, content: float, punctuation: float) -> Values:
    """What a head gives, in the order of SPECIALIZATIONS; the text has no names."""
    return np.array([function, content, np.nan, punctuation, np.nan, 0.1, 0.1])


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (shares(0.48, 0.49, 0.03), "Content words"),  # 0.96, 1.23 and 0.3 times
        (shares(0.5, 0.3, 0.2), "Punctuation"),  # 1, 0.75 and 2 times: the largest share is no preference
        (shares(0.5, 0.4, 0.1), None),
        (shares(0.54, 0.43, 0.03), None),  # 1.08 and 1.075 times
    ],
)
def test_the_preferred_kind_has_most_beside_a_uniform_head(given: Values, expected: str | None) -> None:
    question = checks.prefers((4, 10), given, EVEN)
    assert (None if question is None else right(question)) == expected


def test_a_share_is_told_from_a_preference() -> None:
    heads = np.stack([shares(0.48, 0.49, 0.03), shares(0.5, 0.3, 0.2)])
    question = checks.share_or_preference(2, heads, EVEN)
    assert question is not None and right(question) == "Punctuation"
    assert "Head 2 of layer 3 gives function words 50%" in question.prompt and "punctuation 20%" in question.prompt
    assert "20% is 2.0 times 10%" in question.options[question.answer].why
    assert checks.share_or_preference(2, heads[:1], EVEN) is None


OBJECT = next(each for each in JOBS if each.id == "obj:head")


def job(score: float) -> Notable:
    return Notable(OBJECT, 0.36, (Doing(2, 0, score),))


@pytest.mark.parametrize(
    ("score", "expected"),
    [(0.36, "No more often"), (0.68, "More often, but"), (0.8, "More often, but"), (0.83, "In more than 80")],
)
def test_how_often_a_head_is_right(score: float, expected: str) -> None:
    assert right(checks.beats_the_rule(job(score))).startswith(expected)


@pytest.mark.parametrize(("many", "expected"), [(0, "None"), (1, "One"), (2, "2 to 2"), (3, "More than 2")])
def test_heads_that_decide_are_counted(many: int, expected: str) -> None:
    off = np.full((6, 4, 5), 0.9)
    off[:4].reshape(4, -1)[:, :many] = 0.1  # in four of six sentences
    off[:3, 3, 4] = 0.1  # in half of them: not most
    question = checks.heads_that_decide([0.9] * 6, off)
    assert right(question).startswith(expected)
    assert checks.heads_that_decide([0.9] * 3 + [0.1] * 3, off) is None


def test_a_rule_without_grammar_is_as_good() -> None:
    """Table 1 of Clark et al. 2019, "nn": 70.4 by head 4-10, 70.2 by the offset of 1."""
    question = checks.same_as_distance()
    assert "70.4 of 100" in question.prompt and "in 70.2" in question.prompt
    assert "next word" in right(question)


def test_only_a_change_shows_what_is_needed() -> None:
    question = checks.what_shows_need(((4, 10), "finds the subject", 0.679))
    assert "In 68 of 100 cases, layer 5, head 11 finds the subject." in question.prompt
    assert right(question) == right(checks.what_shows_need(None))
    assert right(question).startswith("Without the head")


def test_rim_of_radar_is_about_the_largest_head() -> None:
    question = checks.rim_of_radar(0, SELF, (np.array([0.1, 0.4]), np.array([0.8, 3.2])))
    assert right(question) == (
        "More of its attention goes to each token itself than any other head of the layer gives them"
    )
    assert question is not None and "head 2 of layer 1" in question.prompt
    assert any("3.20 times" in option.why for option in question.options)
    assert checks.rim_of_radar(0, SELF, (np.array([0.1, 1.0]), np.array([0.8, 8.0]))) is None
    assert checks.rim_of_radar(0, SELF, (np.array([0.4]), np.array([0.8]))) is None


def test_same_names() -> None:
    assert right(checks.same_names(9, 10)) == "More than two thirds"
    assert right(checks.same_names(5, 10)).startswith("Between")
    assert right(checks.same_names(1, 10)) == "Fewer than a third"
    assert checks.same_names(2, 3) is None
