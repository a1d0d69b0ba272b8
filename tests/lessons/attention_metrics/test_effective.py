"""The widths of rows, by PyTorch's entropy; the questions about them, worked by hand."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from lab.analysis.heads.effective import effective_keys
from lab.lessons.attention_metrics import effective
from lab.lessons.attention_metrics.effective import THREE, at_how_many, by_hand, one_weight_more, said
from lab.models.trace import Trace
from lab.questions.question import Question
from lab.questions.returning import Spot
from tests.analysis.matrices import random_attention


def widths(maps: NDArray[np.float64]) -> NDArray[np.float64]:
    """e to the entropy of each row, by torch."""
    return np.exp(torch.distributions.Categorical(probs=torch.from_numpy(maps)).entropy().numpy())


def spot_of(rows: NDArray[Any]) -> Spot:
    """A spot whose head has these rows; the query is row 0."""
    trace = SimpleNamespace(
        model=SimpleNamespace(config=SimpleNamespace(causal=False), id="m"),
        labels=[f"t{at}" for at in range(len(rows))],
        text="t",
        pair="",
        layer=lambda at: SimpleNamespace(attention=torch.tensor(rows[None], dtype=torch.float32)),
    )
    return Spot(cast(Any, trace), 0, 0, 0, 0)


def right(question: Question | None) -> str:
    assert question is not None
    return question.options[question.answer].text


def test_the_table_of_three_weights_is_that_of_torch() -> None:
    lines = by_hand().splitlines()[2:]
    for line, (_, weights) in zip(lines, THREE, strict=True):
        entropy = float(torch.distributions.Categorical(probs=torch.tensor(weights, dtype=torch.float64)).entropy())
        assert f"| {entropy:.2f} | {np.exp(entropy):.1f} |" in line
    assert "| 3.0 |" in lines[-1] and "| 1.0 |" in lines[0]


def test_a_head_looks_at_as_many_tokens_as_told(trace: Trace, maps: NDArray[np.float64]) -> None:
    keys = widths(maps)
    for layer, head, query in ((0, 0, len(trace) - 1), (2, 3, 1)):
        told = said(trace, layer, head, query)
        seen = query + 1 if trace.model.config.causal else len(trace)
        assert f"of {seen} tokens" in told
        entropy = np.log(keys[layer, head, query])
        own = keys[layer, head, query]
        assert [float(each) for each in re.findall(r"\d+\.\d+", told)] == pytest.approx(
            [own, entropy, entropy, own, keys[layer, head].mean()], abs=0.051
        )


def test_a_row_that_is_even_over_k_tokens_looks_at_k() -> None:
    """By hand: the entropy of k equal weights is ln k."""
    rows = np.stack([np.eye(4)[0], [0.5, 0.5, 0, 0], np.full(4, 1 / 4), [0, 0.5, 0, 0.5]])
    assert effective_keys(rows[None])[0] == pytest.approx([1, 2, 4, 2])


@pytest.mark.parametrize(("keys", "answer"), [(1, "One or two"), (4, "A few"), (10, "More than half"), (6, None)])
def test_the_question_is_answered_by_the_row(keys: int, answer: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.full((12, 12), 1e-9)
    rows[:, :keys] = 1 / keys
    monkeypatch.setattr(effective, "told_apart", lambda trace, at: "“t”")
    asked = at_how_many(spot_of(rows / rows.sum(1, keepdims=True)))
    assert asked is None if answer is None else right(asked).startswith(answer)


def test_a_row_gets_narrower_as_its_largest_weight_grows() -> None:
    weights = random_attention(3, 1, 9, False)[0]
    grown = weights.copy()
    grown[4, grown[4].argmax()] += 0.2
    grown /= grown.sum(-1, keepdims=True)
    before, after = (float(effective_keys(each[None])[0, 4]) for each in (weights, grown))
    assert after < before and right(one_weight_more(replace(spot_of(weights), query=4))) == "It gets smaller"
