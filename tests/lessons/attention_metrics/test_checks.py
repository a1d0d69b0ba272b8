"""Every question about metrics has one right answer, recomputed here; every card ends in the metric's value."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import given

from lab.analysis.heads.metric_parts import entropy_of_row, metric_parts
from lab.analysis.heads.metrics import METRICS, attention_metrics, uniform_metrics
from lab.analysis.heads.values import uniform_attention
from lab.course.metric_cards import filled, tex
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
    parts = metric_parts(attention[0], causal=causal, threshold=0.05)
    for metric in METRICS:
        for corrected in (False, True):
            value = float(found.values(metric.id, corrected)[0])
            if math.isnan(value):
                with pytest.raises(ValueError, match="no row has more than one key"):
                    filled(metric.id, parts, corrected)
                continue
            shown = filled(metric.id, parts, corrected).removesuffix(r" \end{aligned}").split("= ")[-1]
            number = float(re.sub(r" \\cdot 10\^\{(-\d+)\}", r"e\1", shown))
            assert number == pytest.approx(value, abs=6e-4), (metric.id, corrected)


def test_small_numbers_are_powers_of_ten() -> None:
    shown = [tex(value) for value in (-0.0, 0.25, 0.00042, 12.3456)]
    assert shown == ["0.000", "0.250", r"4.2 \cdot 10^{-4}", "12.346"]


def test_higher_entropy_and_most_even_layer() -> None:
    assert right(checks.higher_entropy([(1, 0), (1, 4)], [0.3, 0.7])) == "Layer 2, head 5"
    assert checks.higher_entropy([(1, 0), (1, 4)], [0.69, 0.7]) is None
    assert right(checks.most_even_layer(np.array([[0.1, 0.2], [0.9, 0.1], [0.3, 0.3]]))) == "Layer 2"


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("n", [5, 11, 60])
def test_uniform_head_questions(n: int, causal: bool) -> None:
    assert right(checks.doubled(n, causal)) == f"{uniform_metrics(2 * n, causal).raw['spread'][0]:.1f} nats"
    assert right(checks.uniform_average(n, causal)) == f"{uniform_attention(n, causal)[0].max(-1).mean():.3f}"


def test_row_questions() -> None:
    weights = random_attention(3, 1, 9, False)[0]
    entropy = -sum(w * math.log(w) for w in weights[4].tolist())
    row = entropy_of_row(weights, 4, causal=False)
    assert right(checks.row_share("“a” (5)", row)) == f"{entropy / math.log(9):.3f}"
    assert right(checks.effective_keys("“a” (5)", row)) == f"{math.exp(entropy):.2f}"
    assert checks.row_share("“a” (1)", entropy_of_row(weights, 0, causal=True)) is None


def test_most_confident_and_the_maximum() -> None:
    assert right(checks.most_confident(2, np.array([0.2, 0.6, 0.3]))) == "Head 2"
    sharp = uniform_attention(9, False)[0].copy()
    even = metric_parts(sharp, causal=False, threshold=0.01)
    assert checks.maximum_is_one_row((0, 0), even) is None
    sharp[3] = np.eye(9)[5]
    question = checks.maximum_is_one_row((0, 0), metric_parts(sharp, causal=False, threshold=0.01))
    assert right(question) == "Few rows are as confident as the maximum"
    assert question is not None and "1 of 9 rows" in question.options[question.answer].why
