"""Every question about a trace: exactly one right answer, and it is the right one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import lab
from lab.analysis.heads.attention import AttentionRow, attention_row
from lab.course.words import escaped
from lab.lessons.self_attention import checks, claims
from lab.models.trace import Trace
from lab.questions.question import Option, Question, clear_winner
from tests.checkpoints import Family, write_checkpoint

TEXTS = ("The cat sat on the mat because it was tired.", "She opened the door.", "the the the the the dog")


@pytest.fixture(params=["bert", "gpt2"])
def traces(request: pytest.FixtureRequest, tmp_path: Path) -> list[Trace]:
    family: Family = request.param
    model = lab.load_model(write_checkpoint(tmp_path / family, family, seed=3))
    return [lab.trace(model, text) for text in TEXTS]


def answer(question: Question) -> Option:
    return question.options[question.answer]


def test_most_attended_names_the_largest_weight(traces: list[Trace]) -> None:
    asked = 0
    for trace in traces:
        for query in range(len(trace)):
            weights = np.asarray(trace.layer(0).attention[1, query])
            question = checks.most_attended(trace, attention_row(trace.layer(0), 1, query), query)
            if question is not None:
                asked += 1
                assert answer(question).text.endswith(f"({weights.argmax() + 1})")
    assert asked > 5


def test_without_scaling_is_larger_by_the_softmax_of_raw_scores(traces: list[Trace]) -> None:
    trace = traces[0]
    layer = trace.layer(0)
    for query in range(2, len(trace)):
        question = claims.without_scaling(claims.sharper(trace, attention_row(layer, 0, query), query))
        if question is None:
            continue
        scores = layer.scores[0, query, : query + 1 if trace.model.config.causal else None].double()
        expected = scores.softmax(0).max().item()
        assert answer(question).text == "Larger"
        assert f"{expected:.2f}" in answer(question).why


def asked_about_rows(
    traces: list[Trace], build: Callable[[Trace, AttentionRow, int], Question | None]
) -> Iterator[tuple[AttentionRow, Question]]:
    """Each row of head 1 of layer 1 about which ``build`` asks, with its question; at least one."""
    asked = 0
    for trace in traces:
        for query in range(len(trace)):
            row = attention_row(trace.layer(0), 0, query)
            question = build(trace, row, query)
            if question is not None:
                asked += 1
                yield row, question
    assert asked


def test_a_value_of_0_leaves_the_weights(traces: list[Trace]) -> None:
    """With the value of the largest weight at 0, the same weights give another sum."""
    for row, question in asked_about_rows(traces, checks.value_gone):
        assert answer(question).text.startswith("The weight stays")
        values = row.values.copy()
        values[row.weights.argmax()] = 0
        assert not np.allclose(row.weights @ values, row.context, atol=1e-3)


def test_if_one_score_grows_the_other_weights_shrink(traces: list[Trace]) -> None:
    for row, question in asked_about_rows(traces, checks.one_score_up):
        raised, most = (int(place) - 1 for place in re.findall(r"\((\d+)\)", question.prompt)[-2:])
        scores = row.scaled.astype(np.float64)
        scores[raised] += 1
        after = np.exp(scores) / np.exp(scores).sum()
        assert after[most] < row.weights[most]
        assert answer(question).text == "It gets smaller"


def test_a_weight_is_a_factor_of_a_value(traces: list[Trace]) -> None:
    for row, question in asked_about_rows(traces, checks.what_a_weight_says):
        assert answer(question).text.endswith(f"with the factor {row.weights.max():.2f}")
        np.testing.assert_allclose(row.weights @ row.values, row.context, atol=1e-5)


def test_a_single_token_decides_nothing(tmp_path: Path) -> None:
    trace = lab.trace(lab.load_model(write_checkpoint(tmp_path / "gpt2", "gpt2")), "a")
    row = attention_row(trace.layer(0), 0, 0)
    for build in (checks.value_gone, checks.one_score_up, checks.what_a_weight_says):
        assert build(trace, row, 0) is None


def test_column_and_head_questions_agree_with_the_maps(traces: list[Trace]) -> None:
    for trace in traces:
        layer = trace.layer(1)
        attention = layer.attention.numpy()
        question = checks.most_attended_overall(trace, layer, 0)
        if question is not None:
            assert answer(question).text.endswith(f"({attention[0].sum(0).argmax() + 1})")
        question = checks.previous_token_head(trace, layer)
        if question is not None:
            n = len(trace)
            before = [np.mean([head[i, i - 1] for i in range(1, n)]) for head in attention]
            assert answer(question).text == f"Head {int(np.argmax(before)) + 1}"


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


@pytest.mark.parametrize(
    "hostile", ["<script>alert(1)</script>", "$x$ :red[a] **b** `c`", "[a](http://b)", ":material/x:"]
)
def test_tokens_cannot_become_markup(hostile: str) -> None:
    assert re.sub(r"\\(.)", r"\1", escaped(hostile)) == hostile
    assert not re.search(r"(?<!\\)[<>$*`\[\]:_]", escaped(hostile))


def test_the_other_direction_is_the_transposed_cell(traces: list[Trace]) -> None:
    asked = 0
    for trace in traces:
        weights = trace.layer(0).attention[0].numpy()
        for query in range(len(trace)):
            for key in range(len(trace)):
                question = checks.other_direction(trace, trace.layer(0), 0, query, key)
                if question is not None:
                    asked += 1
                    assert answer(question).text == f"{weights[key, query]:.3f}"
    assert asked > 5


def test_most_even_row_has_the_smallest_maximum(traces: list[Trace]) -> None:
    for trace in traces:
        for head in range(4):
            question = checks.most_even(trace, trace.layer(0), head)
            if question is not None:
                largest = trace.layer(0).attention[head].max(dim=-1).values
                assert answer(question).text.endswith(f"({largest.argmin().item() + 1})")
