"""One token of a layer is the same, computed alone or with all others."""

from __future__ import annotations

from typing import Literal

import pytest
import torch

from lab.models import forward
from lab.models.forward import PAPER
from lab.models.interventions import Interventions, heads_level, heads_off, neurons_off
from lab.models.layer_trace import changed
from lab.models.one_token import from_contexts, layer_at, layer_rows, model_at, of_token
from lab.models.trace import trace
from tests.checkpoints import HEADS, LAYERS, Family
from tests.models.conftest import HuggingFace, LabModel
from tests.models.reference import SENTENCE, close

ZERO = torch.arange(HEADS) == 1


def test_each_text_has_its_own_token() -> None:
    x = torch.arange(2 * 3 * 4 * 5.0).view(2, 3, 4, 5)
    found = of_token(x, torch.tensor([3, 0, 1]))
    assert found.shape == (2, 3, 1, 5)
    assert all(torch.equal(found[:, text, 0], x[:, text, place]) for text, place in enumerate((3, 0, 1)))
    assert torch.equal(of_token(x, torch.tensor([2]))[:, :, 0], x[:, :, 2])


@pytest.mark.parametrize("off", [None, "head", "neuron"])
def test_a_layer_at_one_token_is_that_row_of_the_layer(
    lab_model: LabModel, family: Family, off: Literal["head", "neuron"] | None
) -> None:
    model = lab_model(family)
    neuron = torch.arange(model.config.ffn_width) == 7
    every = {"head": changed(context=heads_off(ZERO, None)), "neuron": changed(ffn_activation=neurons_off(neuron))}
    steps = every[off] if off else PAPER
    first = trace(model, SENTENCE).hidden_states[0]
    texts, n = torch.stack([first, first.flip(0)]), len(first)
    for w in model.weights.layers:
        whole = forward.run_layer(texts, w, model.config, steps).output
        for place in range(n):
            places = torch.tensor([place, n - 1 - place])
            close(layer_at(texts, places, w, model.config, steps), of_token(whole, places)[:, 0], 1e-5)


def test_a_whole_run_at_one_token_is_hugging_face_s(
    lab_model: LabModel, hugging_face: HuggingFace, family: Family
) -> None:
    model, theirs = lab_model(family), hugging_face(family).run(SENTENCE).hidden_states[-1]
    for place in (0, 2, len(theirs) - 1):
        found = model_at(trace(model, SENTENCE).hidden_states[0][None], model.weights, torch.tensor([place]))
        norm = model.weights.final_norm  # Hugging Face's last hidden state stands behind it
        close(found[0] if norm is None else forward.layer_norm(found, norm, model.config.norm_eps)[0], theirs[place])


def test_single_tokens_go_on_from_what_their_heads_mixed(lab_model: LabModel, family: Family) -> None:
    model = lab_model(family)
    run = trace(model, SENTENCE)
    for number in range(LAYERS):
        x, layer = run.hidden_states[number], run.layer(number)
        found = from_contexts(x[:, None], layer.context.transpose(0, 1)[:, :, None], layer.weights, model.config)
        close(found[:, 0], run.hidden_states[number + 1], 1e-5)


@pytest.mark.parametrize(
    "changes",
    [
        Interventions(),
        Interventions(blocked=frozenset({(3, 1), (5, 5)}), blocked_links=frozenset({(1, 4, 2)})),
        Interventions(blocked_in_heads=frozenset({(0, 1, 3, 2), (1, 0, 5, 4)})),
    ],
    ids=["plain", "links", "heads"],
)
def test_some_rows_of_a_layer_are_those_of_the_whole_layer(
    lab_model: LabModel, family: Family, changes: Interventions
) -> None:
    model, rows = lab_model(family), [5, 3]
    run = trace(model, SENTENCE, None, changes)
    for number, w in enumerate(model.weights.layers):
        whole, steps = run.layer(number), changes.steps(number, model.config, len(run))
        found = layer_rows(run.hidden_states[number], rows, w, model.config, steps)
        close(found.attention.attention, whole.attention[:, rows], 1e-6)
        close(found.output, whole.output[rows], 1e-5)


def test_another_mask_is_refused(lab_model: LabModel) -> None:
    model = lab_model("bert")
    x, w = trace(model, SENTENCE).hidden_states[0][None], model.weights.layers[0]
    uniform = Interventions(uniform_heads=frozenset({(0, 1)})).steps(0, model.config, x.shape[1])
    for steps in (uniform, changed(scaled_scores=heads_level(ZERO))):
        with pytest.raises(ValueError, match="another mask"):
            layer_at(x, torch.tensor([0]), w, model.config, steps)
