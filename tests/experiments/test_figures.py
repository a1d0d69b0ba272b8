"""The figure of each experiment is made again by the Python that its button shows."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

import lab
from lab.course.pages import EXPERIMENTS
from lab.figures.notebook import python_of


@pytest.mark.parametrize("id", [each.id for each in EXPERIMENTS])
def test_the_figure_can_be_taken_home(id: str) -> None:
    experiment = import_module(f"lab.experiments.{id.replace('-', '_')}.page").EXPERIMENT
    model, scope = lab.load_model("lab-gpt2"), dict[str, Any]()
    call = experiment.figure(model, experiment.measurement.known(model))
    setup, expression = python_of(call)
    exec(setup, scope)
    assert eval(expression, scope).table().equals(call().table())
