"""The residual stream and LayerNorm against Hugging Face's modules and the formulas by hand."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn

from lab.analysis.layers import sublayers
from lab.models.loading import load_model
from lab.models.reference import reference
from lab.models.trace import Trace, trace
from lab.toy.models import constructed_toy
from tests.checkpoints import Family
from tests.conftest import TinyCheckpoint

TEXT = "The unhappily café 🙂 doesn't wait for the cat."
# Hugging Face's LayerNorms of a layer, in the order in which they run.
NORMS: dict[Family, tuple[str, str]] = {
    "bert": ("encoder.layer.{}.attention.output.LayerNorm", "encoder.layer.{}.output.LayerNorm"),
    "distilbert": ("transformer.layer.{}.sa_layer_norm", "transformer.layer.{}.output_layer_norm"),
    "gpt2": ("h.{}.ln_1", "h.{}.ln_2"),
    "modernbert": ("layers.{}.attn_norm", "layers.{}.mlp_norm"),
}


def traced(tiny_checkpoint: TinyCheckpoint, family: Family) -> Trace:
    return trace(load_model(tiny_checkpoint(family)), TEXT)


def their_norms(run: Trace, family: Family, layer: int) -> list[tuple[Tensor, Tensor]]:
    """(input, output) of both LayerNorms of a layer, as Hugging Face runs them."""
    module = reference(run.model)
    base = module.base_model
    assert isinstance(base, nn.Module)
    found: list[tuple[Tensor, Tensor]] = []
    handles = [
        base.get_submodule(name.format(layer)).register_forward_hook(
            lambda _module, inputs, output: found.append((inputs[0][0], output[0]))
        )
        for name in NORMS[family]
    ]
    with torch.inference_mode():
        module(torch.tensor([run.token_ids]))
    for handle in handles:
        handle.remove()
    return found


@pytest.mark.parametrize("family", NORMS)
def test_every_stage_of_layer_norm_ends_in_hugging_face_s_output(
    tiny_checkpoint: TinyCheckpoint, family: Family
) -> None:
    run = traced(tiny_checkpoint, family)
    for (vectors, norm), (before, after) in zip(
        sublayers.layer_norms(run.layer(1)).values(), their_norms(run, family, 1), strict=True
    ):
        assert torch.allclose(vectors, before, atol=1e-4)
        steps = sublayers.norm_steps(vectors[3], norm, run.model.config.norm_eps)
        assert steps.output == pytest.approx(after[3].numpy(), abs=1e-4)
        assert list(steps.stages) == ["input", "input − mean", "÷ deviation", "× γ", "+ β"]
        assert steps.standard.mean() == pytest.approx(0, abs=1e-9)
        assert steps.standard.var() == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("family", ["bert", "gpt2"])
def test_changes_by_loops(tiny_checkpoint: TinyCheckpoint, family: Family) -> None:
    run = traced(tiny_checkpoint, family)
    changes = sublayers.sublayer_changes(run)
    assert changes.relative.shape == (2, 2, len(run))
    for index in range(2):
        layer, norms = run.layer(index), their_norms(run, family, index)
        # Their LayerNorms' inputs and outputs say what was added to what.
        if family == "bert":
            pairs = [(run.hidden_states[index], norms[0][0]), (norms[0][1], norms[1][0])]
        else:
            pairs = [(run.hidden_states[index], norms[1][0]), (norms[1][0], layer.output)]
        for at, (before, after) in enumerate(pairs):
            for token in range(len(run)):
                x, y = before[token].double().tolist(), after[token].double().tolist()
                change = math.dist(x, y) / math.hypot(*x)
                assert changes.relative[index, at, token] == pytest.approx(change, abs=1e-4)


@pytest.mark.parametrize(("family", "layer"), [*((family, 0) for family in NORMS), ("modernbert", 1)])
def test_stages_follow_from_each_other_in_the_order_shown(
    tiny_checkpoint: TinyCheckpoint, family: Family, layer: int
) -> None:
    run = traced(tiny_checkpoint, family)
    stages = sublayers.stages(run.layer(layer))
    names = [stage.name for stage in stages]
    sublayer = "Self-attention"
    if (family, layer) == ("modernbert", 0):
        assert "LayerNorm 1" not in names, "the embeddings have just been through one"
    elif family in ("gpt2", "modernbert"):
        assert names.index("LayerNorm 1") < names.index(sublayer) < names.index("Add 1")
    else:
        assert names.index(sublayer) < names.index("Add 1") < names.index("LayerNorm 1")
    assert torch.equal(stages[0].vectors, run.hidden_states[layer])
    assert torch.equal(stages[-1].vectors, run.hidden_states[layer + 1])
    for at, stage in enumerate(stages):
        if stage.residual is not None:
            total = stages[stage.residual].vectors + stages[at - 1].vectors
            assert torch.allclose(stage.vectors, total, atol=1e-6)
        elif stage.name.startswith("LayerNorm"):
            before, weights = stages[at - 1].vectors, run.layer(layer).weights
            norm = weights.norm_1 if stage.name.endswith("1") else weights.norm_2
            assert norm is not None
            own = nn.functional.layer_norm(before, (32,), norm.gamma, norm.beta, run.model.config.norm_eps)
            assert torch.allclose(stage.vectors, own, atol=1e-5)


def test_a_network_that_adds_nothing_changes_nothing() -> None:
    changes = sublayers.sublayer_changes(trace(constructed_toy(5, 6), "a b c a"))
    assert changes.relative[0, 1].tolist() == [0.0] * 4
    assert (changes.relative[0, 0] > 0.5).all()
