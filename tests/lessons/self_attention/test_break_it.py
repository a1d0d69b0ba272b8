"""Break it: the mistake that moves the vectors most, from the hidden states of both runs."""

from __future__ import annotations

import pytest

from lab.analysis.layers.mistakes import moved_at_last
from lab.lessons.self_attention import break_it as step
from lab.models.interventions import Interventions
from lab.models.trace import changed
from tests.lessons.self_attention.runs import MODELS, run
from tests.sentences import STORY


@pytest.mark.parametrize("model", MODELS)
def test_the_mistake_that_moves_most_is_found_from_the_streams(model: str) -> None:
    """The distances are computed again from the hidden states of both runs."""
    trace = run(model, STORY)
    moved = {}
    for name, changes in (("a", Interventions(no_scaling=True)), ("b", Interventions(no_values=True))):
        right, broken = trace.hidden_states[-1], changed(trace, changes).hidden_states[-1]
        moved[name] = float(((broken - right).norm(dim=-1) / right.norm(dim=-1)).mean())
        assert moved_at_last(trace, changes) == pytest.approx(moved[name], rel=1e-4)
    question = step.asked(moved)
    assert question is not None and question.options[question.answer].text == max(moved, key=lambda name: moved[name])
    said = step.said(moved)
    assert said.startswith("**b** moves the vectors most") == (moved["b"] > moved["a"])
    assert f"{max(moved.values()):.2f}" in said and f"{min(moved.values()):.2f}" in said
