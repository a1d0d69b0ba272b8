"""Every question about metrics has one right answer, recomputed here; every card ends in the metric's value."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import given

from lab.analysis.heads.effective import effective_keys
from lab.analysis.heads.formulas import tex
from lab.analysis.heads.metrics import METRICS, attention_metrics, one_head, uniform_metrics
from lab.analysis.heads.values import uniform_attention
from lab.lessons.attention_metrics import checks
from lab.questions.question import Question
from tests.analysis.matrices import Case, cases, random_attention


def right(question: Question | None) -> str:
    assert question is not None
    return question.options[question.answer].text


@given(cases())
def test_cards_end_in_the_value(case: Case) -> None:
    attention, causal = case
    found = attention_metrics(attention[:1], causal=causal, threshold=0.05)
    cells = one_head(attention[0], causal=causal, threshold=0.05)
    for metric in METRICS:
        for corrected in (False, True):
            value = float(found.values(metric.id, corrected)[0])
            if math.isnan(value):
                with pytest.raises(ValueError, match="no row has more than one key"):
                    metric.fill(cells, corrected)
                continue
            shown = metric.fill(cells, corrected).removesuffix(r" \end{aligned}").split("= ")[-1]
            number = float(re.sub(r" \\cdot 10\^\{(-\d+)\}", r"e\1", shown))
            assert number == pytest.approx(value, abs=6e-4), (metric.id, corrected)


def test_small_numbers_are_powers_of_ten() -> None:
    shown = [tex(value) for value in (-0.0, 0.25, 0.00042, 12.3456)]
    assert shown == ["0.000", "0.250", r"4.2 \cdot 10^{-4}", "12.346"]


def test_a_row_that_is_even_over_k_words_looks_at_k() -> None:
    """By hand: the entropy of k equal weights is ln k."""
    rows = np.stack([np.eye(4)[0], [0.5, 0.5, 0, 0], np.full(4, 1 / 4), [0, 0.5, 0, 0.5]])
    assert effective_keys(rows[None])[0] == pytest.approx([1, 2, 4, 2])
    assert right(checks.at_how_many("“a”", 1.1, 12)) == "One or two"
    assert right(checks.at_how_many("“a”", 4.7, 12)).startswith("A few")
    assert right(checks.at_how_many("“a”", 9.5, 12)).startswith("More than half")
    assert checks.at_how_many("“a”", 6.1, 12) is None and checks.at_how_many("“a”", 2.0, 4) is None


def test_the_head_that_looks_at_more_words() -> None:
    assert right(checks.looks_at_more([(1, 0), (1, 4)], [3.0, 7.0])) == "Layer 2, head 5"
    assert checks.looks_at_more([(1, 0), (1, 4)], [6.9, 7.0]) is None


def test_a_row_gets_narrower_as_its_largest_weight_grows() -> None:
    weights = random_attention(3, 1, 9, False)[0]
    grown = weights.copy()
    grown[4, grown[4].argmax()] += 0.2
    grown /= grown.sum(-1, keepdims=True)
    before, after = (float(effective_keys(each[None])[0, 4]) for each in (weights, grown))
    assert after < before and right(checks.one_word_more(before, float(weights[4].max()))) == "At fewer words"


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("n", [5, 11, 60])
def test_a_head_without_preference_has_more_entropy_on_a_longer_text(n: int, causal: bool) -> None:
    assert right(checks.doubled(n, causal)) == f"{uniform_metrics(2 * n, causal).raw['spread'][0]:.1f} nats"


def test_most_confident_and_the_maximum() -> None:
    assert right(checks.most_confident(2, np.array([0.2, 0.6, 0.3]))) == "Head 2"
    sharp = uniform_attention(9, False)[0].copy()
    even = one_head(sharp, causal=False)
    assert checks.maximum_is_one_row((0, 0), even) is None
    sharp[3] = np.eye(9)[5]
    question = checks.maximum_is_one_row((0, 0), one_head(sharp, causal=False))
    assert "few rows" in right(question)
    assert question is not None and "1 of 9 rows" in question.options[question.answer].why
