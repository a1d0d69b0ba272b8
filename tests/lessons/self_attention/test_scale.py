"""Why divide: the largest weight with and without the division, and what each loss moves, from the tensors."""

from __future__ import annotations

import numpy as np
import pytest

from lab.analysis.layers.mistakes import moved_at_last
from lab.lessons.self_attention import scale as step
from lab.lessons.self_attention.break_it import taken_away
from lab.models.interventions import Interventions
from lab.models.trace import Trace, changed
from tests.lessons.self_attention.runs import MODELS, TEXTS, answer, asked, numbers, run, spots
from tests.sentences import STORY


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


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("text", TEXTS)
def test_the_range_of_the_scores_is_that_of_the_row(model: str, text: str) -> None:
    for spot in spots(run(model, text)):
        inside = spot.traced
        weights = inside.attention[spot.head, spot.query].numpy()
        scores = (inside.key[spot.head] @ inside.query[spot.head, spot.query]).numpy()[weights > 0]
        assert numbers(step.spread(spot))[1:] == pytest.approx([scores.min(), scores.max()], abs=0.0051)


@pytest.mark.parametrize("model", MODELS)
def test_what_is_taken_away_is_the_division_the_mask_and_the_values(model: str) -> None:
    names = [name for name, _ in taken_away(run(model, STORY))]
    assert names == ["No division", "No mask", "No values"]


@pytest.mark.parametrize("model", MODELS)
def test_the_mistake_that_moves_most_is_found_from_the_streams(model: str) -> None:
    """The distances are computed again from the hidden states of both runs."""
    trace = run(model, STORY)
    moved = {}
    for name, changes in (("a", Interventions(no_scaling=True)), ("b", Interventions(no_values=True))):
        right, broken = trace.hidden_states[-1], changed(trace, changes).hidden_states[-1]
        moved[name] = float(((broken - right).norm(dim=-1) / right.norm(dim=-1)).mean())
        assert moved_at_last(trace, changes) == pytest.approx(moved[name], rel=1e-4)
    said = step.moved(moved)
    assert said.startswith("Of these changes, **“b”** moves the last vectors most") == (moved["b"] > moved["a"])
    assert f"{max(moved.values()):.2f}" in said and f"{min(moved.values()):.2f}" in said
