"""Neurons against Hugging Face's modules, the error function, and loops."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from lab.analysis.layers import feed_forward
from lab.models.loading import LoadedModel, load_model
from lab.models.reference import reference
from lab.models.trace import Trace, trace
from lab.toy.models import constructed_toy, random_toy
from tests.checkpoints import FEED_FORWARD, Family
from tests.conftest import TinyCheckpoint

EARLIER = "The sleepy cat sat on the mat."
TEXT = "The unhappily café 🙂 doesn't wait for the cat."
FAMILIES: tuple[Family, ...] = ("bert", "distilbert", "electra", "gpt2", "modernbert")


def traced(tiny_checkpoint: TinyCheckpoint, family: Family) -> Trace:
    return trace(load_model(tiny_checkpoint(family)), TEXT)


def theirs(model: LoadedModel, family: Family, layer: int, ids: tuple[int, ...]) -> dict[str, Tensor]:
    """What Hugging Face's first and second linear map of the network take in and give out."""
    module = reference(model)
    base = module.base_model
    assert isinstance(base, nn.Module)
    first, second = {
        "bert": ("encoder.layer.{}.intermediate.dense", "encoder.layer.{}.output.dense"),
        "electra": ("encoder.layer.{}.intermediate.dense", "encoder.layer.{}.output.dense"),
        "distilbert": ("transformer.layer.{}.ffn.lin1", "transformer.layer.{}.ffn.lin2"),
        "gpt2": ("h.{}.mlp.c_fc", "h.{}.mlp.c_proj"),
        "modernbert": ("layers.{}.mlp.Wi", "layers.{}.mlp.Wo"),
    }[family]
    found: dict[str, Tensor] = {}

    def keep(name: str) -> None:
        def hook(_module: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> None:
            found[f"{name} in"], found[f"{name} out"] = inputs[0][0], output[0]

        handles.append(
            base.get_submodule({"first": first, "second": second}[name].format(layer)).register_forward_hook(hook)
        )

    handles: list[torch.utils.hooks.RemovableHandle] = []
    keep("first")
    keep("second")
    with torch.inference_mode():
        module(torch.tensor([ids]))
    for handle in handles:
        handle.remove()
    return found


@pytest.mark.parametrize("family", FAMILIES)
def test_a_neuron_written_out_is_hugging_face_s(tiny_checkpoint: TinyCheckpoint, family: Family) -> None:
    run = traced(tiny_checkpoint, family)
    expected = theirs(run.model, family, 1, run.token_ids)
    layer = run.layer(1)
    assert torch.allclose(feed_forward.ffn_input(layer), expected["first in"], atol=1e-5)
    for token, neuron in ((0, 0), (3, 17), (len(run) - 1, FEED_FORWARD - 1)):
        steps = feed_forward.neuron_steps(layer, run.model.config, token, neuron)
        assert steps.hidden == pytest.approx(expected["first out"][token, neuron].item(), abs=1e-4)
        assert steps.output == pytest.approx(expected["second in"][token, neuron].item(), abs=1e-4)
        by_loop = sum(float(a) * float(b) for a, b in zip(steps.vector, steps.column, strict=True))
        assert steps.product == pytest.approx(by_loop, abs=1e-9)


@pytest.mark.parametrize(
    ("name", "torch_name"), [("gelu", "none"), ("gelu_new", "tanh"), ("gelu_pytorch_tanh", "tanh")]
)
def test_the_share_times_the_sum_is_torch_s_gelu(name: str, torch_name: str) -> None:
    for z in (-5.0, -0.75, -0.1, 0.0, 0.3, 4.0):
        steps = feed_forward.NeuronSteps(np.array([z]), np.ones(1), np.array([z]), 0.0, name)
        expected = nn.functional.gelu(torch.tensor(z, dtype=torch.float64), approximate=torch_name).item()
        assert steps.output == pytest.approx(expected, abs=1e-12)


def test_relu_is_a_switch_and_the_curve_is_the_same_function() -> None:
    assert [
        feed_forward.NeuronSteps(np.array([z]), np.ones(1), np.array([z]), 0.5, "relu").output for z in (-2.0, 1.0)
    ] == [
        0,
        1.5,
    ]
    x, y = feed_forward.curve("gelu", -3, 3)
    assert y == pytest.approx([0.5 * z * (1 + math.erf(z / math.sqrt(2))) for z in x], abs=1e-12)
    assert (x[0], x[-1]) == (-3, 3)
    assert y.min() == pytest.approx(-0.17, abs=0.001) and x[y.argmin()] == pytest.approx(-0.75, abs=0.03)
    x, y = feed_forward.curve("relu", -1, 1)
    assert y.tolist() == [max(0.0, z) for z in x]


@pytest.mark.parametrize("family", ["bert", "gpt2"])
def test_activations_times_rows_add_up_to_the_output(tiny_checkpoint: TinyCheckpoint, family: Family) -> None:
    layer = traced(tiny_checkpoint, family).layer(0)
    added = layer.weights.b_2.clone()
    for neuron, active in enumerate(layer.ffn_activation[2]):
        added += active * layer.weights.w_2[neuron]
    assert torch.allclose(added, layer.ffn_output[2], atol=1e-5)


def test_most_active_by_loops(tiny_checkpoint: TinyCheckpoint) -> None:
    layer = traced(tiny_checkpoint, "bert").layer(1)
    values = layer.ffn_activation[4].tolist()
    assert feed_forward.most_active(layer, 4, 3) == sorted(range(FEED_FORWARD), key=lambda i: -values[i])[:3]


def test_only_the_constructed_toy_is_silent() -> None:
    assert feed_forward.silent(trace(constructed_toy(5, 6), "a b c").layer(0))
    assert not feed_forward.silent(trace(random_toy(5, 6), "a b c").layer(0))


def test_words_and_special_tokens_are_told_apart_where_neurons_are_counted() -> None:
    """Layer 3 of lab-bert hardly answers to words (issue 11): counted by a loop over Hugging Face's modules."""
    run = trace(load_model("lab-bert"), EARLIER)
    inputs = {"input_ids": torch.tensor([run.token_ids]), "token_type_ids": torch.tensor([run.segment_ids])}
    found: list[Tensor] = []
    module: Any = reference(run.model)
    hooks = [
        layer.intermediate.register_forward_hook(lambda _, __, out: found.append(out[0]))
        for layer in module.base_model.encoder.layer
    ]
    with torch.inference_mode():
        module(**inputs)
    for hook in hooks:
        hook.remove()
    by_hand = [(out[1:-1] > 0).double().mean().item() for out in found]  # [CLS] and [SEP] stand at the ends
    shares = feed_forward.active_on_words(run)
    assert shares == pytest.approx(by_hand, abs=1e-3)
    assert feed_forward.nearly_silent(shares) == [2] and shares[2] < 0.01 and shares[[0, 1, 3]].min() > 0.3


def test_no_layer_is_nearly_silent_where_all_are_alike() -> None:
    assert feed_forward.nearly_silent(np.array([0.3, 0.4, 0.35])) == []
    assert feed_forward.nearly_silent(np.array([0.0])) == []
    assert feed_forward.nearly_silent(np.array([0.0, 0.0])) == []
    assert feed_forward.nearly_silent(np.array([0.5, 0.049, 0.5])) == [1]
    gpt2 = feed_forward.active_on_words(trace(load_model("lab-gpt2"), EARLIER))
    assert feed_forward.nearly_silent(gpt2) == []
