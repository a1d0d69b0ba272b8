"""The toy's head comes to look one letter back, whatever the seed; the words say it only then."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from lab.lessons.how_it_learns import many_steps
from lab.lessons.how_it_learns.many_steps import LEAST, PLAN, SENTENCE, WRITTEN, one_back, one_back_said
from lab.toy.data import as_text
from lab.toy.models import number_run
from lab.toy.training import TrainingRun, trained_to
from tests.thorough import some


@pytest.fixture(scope="module", params=some([0, 1, 2], 1))
def run(request: pytest.FixtureRequest) -> TrainingRun:
    plan = replace(PLAN, seed=request.param)
    return trained_to(plan, plan.steps)


def test_the_head_learns_to_look_one_letter_back(run: TrainingRun) -> None:
    first, *_, last = run.stages
    weights = number_run(last.model, as_text(SENTENCE)).attention[0, 0]
    before = torch.tensor([float(weights[place, place - 1]) for place in range(1, len(SENTENCE))])
    assert one_back(last.model) == pytest.approx(float(before.mean()), abs=1e-6)
    assert one_back(first.model) < 0.3 and one_back(last.model) > 0.7
    assert last.accuracy > 0.99 and last.loss < 0.1 < first.loss


def test_it_is_said_only_of_a_head_that_has_learned_it(run: TrainingRun) -> None:
    for stage in run.stages:
        told = one_back_said(run.kept[0], stage)
        assert f"**{one_back(stage.model):.2f}**" in told and f"to {stage.loss:.2f}" in told
        assert (WRITTEN in told) == (one_back(stage.model) >= LEAST)
    drawn = many_steps.head_map(run.latest.model).values
    assert drawn.shape == (len(SENTENCE), len(SENTENCE)) and drawn.sum(axis=1) == pytest.approx(1, abs=1e-4)
