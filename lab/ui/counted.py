"""The selectors of a model's layer and head, shown from 1 and returned from 0."""

from __future__ import annotations

from lab.models.trace import Trace
from lab.ui import parameters, selection
from lab.ui.parameters_of_a_run import Counted


def choose_layer(trace: Trace, found: tuple[int, int]) -> int:
    """Draw the selector of a layer, which starts at the layer of ``found`` (layer and head, from 0)."""
    return _choose(parameters.LAYER, "Layer", trace.model.config.layers, trace.model.id, found[0])


def choose_head(trace: Trace, found: tuple[int, int]) -> int:
    """Draw the selector of a head, which starts at the head of ``found`` (layer and head, from 0)."""
    return _choose(parameters.HEAD, "Head", trace.model.config.heads, trace.model.id, found[1])


def _choose(parameter: Counted, label: str, count: int, model_id: str, first: int) -> int:
    selection.fit(parameter, count, model_id)
    return parameter.choose(label, range(1, count + 1), first + 1) - 1
