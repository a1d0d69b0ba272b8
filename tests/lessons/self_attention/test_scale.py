"""Why divide: the largest weight with and without the division, from the scores themselves."""

from __future__ import annotations

import numpy as np
import pytest

from lab.lessons.self_attention import scale as step
from lab.models.trace import Trace
from tests.lessons.self_attention.runs import MODELS, TEXTS, answer, asked, numbers, run, spots


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("text", TEXTS)
def test_the_finding_and_its_sentence_have_both_weights(model: str, text: str) -> None:
    for spot in spots(run(model, text)):
        inside = spot.traced
        weights = inside.attention[spot.head, spot.query].double().numpy()
        scores = (inside.key[spot.head].double() @ inside.query[spot.head, spot.query].double()).numpy()
        scores[weights == 0] = -np.inf
        plain = np.exp(scores - scores.max())
        found = step.sharper(spot)
        expected = weights.max(), (plain / plain.sum())[weights.argmax()]
        assert (found.with_division, found.without) == pytest.approx(expected, abs=1e-4)
        assert numbers(step.said(found))[:2] == pytest.approx(expected, abs=0.0051)


def test_without_scaling_is_larger_by_the_softmax_of_raw_scores(traces: list[Trace]) -> None:
    for spot, question in asked(traces[:1], step.without_scaling):
        seen = spot.query + 1 if spot.trace.model.config.causal else None
        expected = spot.traced.scores[0, spot.query, :seen].double().softmax(0).max().item()
        assert answer(question).text == "Larger" and f"{expected:.2f}" in answer(question).why
