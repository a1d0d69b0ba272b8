"""Every question about specialization has one right answer, recomputed here."""

from __future__ import annotations

import numpy as np
import pytest

from lab.analysis.heads.named import Chance
from lab.analysis.heads.patterns import PATTERNS
from lab.analysis.heads.specialization import SPECIALIZATIONS
from lab.analysis.heads.specialization_parts import MetricPart, specialization_parts
from lab.analysis.heads.values import uniform_attention
from lab.lessons.head_specialization import checks
from lab.questions.question import Question
from tests.analysis.matrices import random_attention

UPOS = [None, "DET", "NOUN", "VERB", "ADP", "DET", "NOUN", "PUNCT", None]
NOTHING: list[str | None] = [None] * len(UPOS)
SELF = SPECIALIZATIONS[6]


def right(question: Question | None) -> str:
    assert question is not None
    return question.options[question.answer].text


def part(id: str, causal: bool, seed: int = 1) -> MetricPart:
    attention = random_attention(seed, 1, len(UPOS), causal)[0]
    return next(each for each in specialization_parts(attention, UPOS, NOTHING, causal=causal) if each.id == id)


def test_kinds() -> None:
    assert [checks.kind_of(tag, False) for tag in ("DET", "PROPN", "PUNCT", "SYM", None)] == [
        "Function words",
        "Content words",
        "Punctuation",
        "Other",
        "Other",
    ]
    assert checks.kind_of("DET", True) == "Special tokens"


def test_most_common_kind() -> None:
    kinds = [checks.kind_of(tag, tag is None) for tag in UPOS]
    assert checks.most_common_kind(kinds) is None  # three function words, three content words
    assert right(checks.most_common_kind([*kinds, "Content words"])) == "Content words"


def test_looks_most() -> None:
    assert right(checks.looks_most(1, SELF, np.array([0.1, 0.5, 0.3]))) == "Head 2"
    assert checks.looks_most(1, SELF, np.array([0.1, 0.5, 0.48])) is None
    assert checks.looks_most(1, SELF, np.array([np.nan, np.nan])) is None


def test_most_common_name() -> None:
    assert right(checks.most_common_name(["mixed", "next_token", "mixed", "delimiter"])) == "Mixed"
    assert checks.most_common_name(["mixed", "delimiter"]) is None


def test_best_head() -> None:
    scores = np.array([[0.1, 0.2], [0.9, 0.3]])
    assert right(checks.best_head(PATTERNS[1], scores)) == "Layer 2, head 1"
    assert checks.best_head(PATTERNS[1], scores * np.nan) is None


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([0.95, 0.0, 0.0, 0.0, 0.7, 0.8], "Delimiter"),
        ([0.2, 0.7, 0.6, 0.1, 0.0, 0.0], "Next token"),
        ([0.2, np.nan, 0.45, 0.4, 0.55, 0.8], "Mixed"),
        ([0.3, 0.0, 0.0, 0.0, 0.65, 0.95], "Bag of words"),
        ([0.3, 0.7, 0.0, 0.65, 0.0, 0.0], "Next token"),  # an untrained head has more of the same word
    ],
)
def test_name_of(scores: list[float], expected: str) -> None:
    chance = Chance(np.array([1, 0.1, 0.1, 0.1, 0.2, 0.8]), np.array([0.99, 0.2, 0.2, 0.7, 0.3, 0.85]))
    question = checks.name_of("layer 1, head 1", np.array(scores), chance)
    assert question is not None and right(question) == expected
    assert "Broad" not in [option.text for option in question.options]


def test_a_name_that_nobody_could_see_is_not_asked_for() -> None:
    chance = Chance(np.array([1, 0.1, 0.1, 0.1, 0.2, 0.8]), np.array([0.99, 0.2, 0.2, 0.7, 0.3, 0.85]))
    assert checks.name_of("layer 1, head 1", np.array([0.99, 0.0, 0.0, 0.0, 0.61, 0.0]), chance) is None


@pytest.mark.parametrize("causal", [False, True])
def test_base_rate_is_what_a_uniform_head_gives(causal: bool) -> None:
    even = uniform_attention(len(UPOS), causal)[0]
    share = even[:, [2, 3, 6]].sum() / even.sum()
    assert right(checks.base_rate(part("content_words", causal), len(UPOS), causal)) == f"{share:.0%}"
    assert checks.base_rate(part("entities", causal), len(UPOS), causal) is None


@pytest.mark.parametrize("causal", [False, True])
def test_corrected_value(causal: bool) -> None:
    attention, even = random_attention(1, 1, len(UPOS), causal)[0], uniform_attention(len(UPOS), causal)[0]
    expected = attention[:, [1, 4, 5]].sum() / even[:, [1, 4, 5]].sum()
    assert right(checks.corrected_value("layer 1, head 1", part("function_words", causal))) == f"{expected:.2f}"
    assert checks.corrected_value("layer 1, head 1", part("entities", causal)) is None


def test_rim_of_radar_is_about_the_largest_head() -> None:
    question = checks.rim_of_radar(0, SELF, (np.array([0.1, 0.4]), np.array([0.8, 3.2])))
    assert right(question) == (
        "More of its attention goes to each token itself than any other head of the layer gives them"
    )
    assert question is not None and "head 2 of layer 1" in question.prompt
    assert any("3.20" in option.why for option in question.options)
    assert checks.rim_of_radar(0, SELF, (np.array([0.1, 1.0]), np.array([0.8, 8.0]))) is None
    assert checks.rim_of_radar(0, SELF, (np.array([0.4]), np.array([0.8]))) is None


def test_same_names() -> None:
    assert right(checks.same_names(9, 10)) == "More than two thirds"
    assert right(checks.same_names(5, 10)) == "Between one and two thirds"
    assert right(checks.same_names(1, 10)) == "Fewer than a third"
    assert checks.same_names(2, 3) is None
