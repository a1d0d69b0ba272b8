"""A named tensor of a layer is replaced, and nothing before it."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from lab.models.forward import Layer, Steps, run_layer
from lab.models.layer_trace import LayerTrace, at_token, become, changed
from lab.models.trace import trace
from tests.checkpoints import Family
from tests.models.conftest import LabModel

# In the order in which a layer computes them.
NAMES = ("scaled_scores", "attention", "context", "attention_output", "ffn_activation", "ffn_output")


@pytest.fixture
def layer(lab_model: LabModel, family: Family) -> LayerTrace:
    return trace(lab_model(family), "The cat sat on the mat.").layer(1)


def again(layer: LayerTrace, lab_model: LabModel, family: Family, steps: Steps) -> Layer:
    model = lab_model(family)
    return run_layer(layer.input, model.weights.layers[1], model.config, steps)


@pytest.mark.parametrize("name", NAMES)
def test_a_named_tensor_is_replaced_and_nothing_before_it(
    layer: LayerTrace, lab_model: LabModel, family: Family, name: str
) -> None:
    seen: list[Tensor] = []

    def other(tensor: Tensor) -> Tensor:
        seen.append(tensor)
        return tensor.flip(-1)

    found = LayerTrace.of(1, layer.weights, again(layer, lab_model, family, changed(**{name: other})))
    own = getattr(layer, name)
    gated = name == "ffn_activation" and lab_model(family).weights.layers[1].w_gate is not None
    assert len(seen) == 1 and (gated or torch.equal(seen[0], own))
    assert gated or torch.equal(getattr(found, name), own.flip(-1))
    for before in NAMES[: NAMES.index(name)]:
        assert torch.equal(getattr(found, before), getattr(layer, before))
    assert not torch.equal(found.output, layer.output)


def test_a_tensor_of_its_own_changes_nothing(layer: LayerTrace, lab_model: LabModel, family: Family) -> None:
    every = {name: become(getattr(layer, name)) for name in NAMES if name != "ffn_activation"}
    assert torch.equal(again(layer, lab_model, family, changed(**every)).output, layer.output)


def test_values_take_the_place_of_some(layer: LayerTrace, lab_model: LabModel, family: Family) -> None:
    where = torch.zeros(layer.context.shape[0], 1, 1, dtype=torch.bool)
    where[0] = True
    found = again(layer, lab_model, family, changed(context=become(torch.tensor(2.0), where))).attention.context
    assert (found[0] == 2).all() and torch.equal(found[1:], layer.context[1:])
    vector = torch.arange(layer.ffn_output.shape[-1], dtype=torch.float32)
    output = again(layer, lab_model, family, changed(ffn_output=at_token(2, vector))).feed_forward.output
    rest = [at for at in range(len(output)) if at != 2]
    assert torch.equal(output[2], vector) and torch.equal(output[rest], layer.ffn_output[rest])


def test_changes_add_up(layer: LayerTrace, lab_model: LabModel, family: Family) -> None:
    twice = changed(changed(context=torch.neg), context=torch.neg, ffn_output=torch.zeros_like)
    found = again(layer, lab_model, family, twice)
    assert torch.equal(found.attention.context, layer.context) and not found.feed_forward.output.any()


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(ValueError, match="No step computes query"):
        changed(query=torch.neg)
