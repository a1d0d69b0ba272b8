"""All single-head ablations in one batch are the same runs done one by one."""

from __future__ import annotations

import pytest

from lab.models import ablation
from lab.models.ablation import ablate_each_head, ablate_each_neuron
from lab.models.interventions import Interventions
from lab.models.trace import trace
from tests.checkpoints import HEADS, LAYERS, WIDTH, Family
from tests.models.conftest import HuggingFace, LabModel
from tests.models.reference import HEAD_WIDTH, PAIR, SENTENCE, close


@pytest.mark.parametrize("to_mean", [False, True])
def test_batched_is_one_by_one(lab_model: LabModel, family: Family, to_mean: bool) -> None:
    model = lab_model(family)
    batched = ablate_each_head(trace(model, SENTENCE, PAIR), to_mean)
    for layer in range(LAYERS):
        for head in range(HEADS):
            heads = frozenset({(layer, head)})
            alone = Interventions(mean_heads=heads) if to_mean else Interventions(zero_heads=heads)
            close(batched[layer, head], trace(model, SENTENCE, PAIR, alone).hidden_states[-1], 1e-5)


@pytest.mark.parametrize("family", ["bert", "distilbert", "electra", "roberta"])
def test_batched_is_hugging_face_with_that_head_cut_out(
    lab_model: LabModel, hugging_face: HuggingFace, family: Family
) -> None:
    batched = ablate_each_head(trace(lab_model(family), SENTENCE))
    for layer in range(LAYERS):
        theirs = hugging_face(family).edited()
        theirs.projection_inputs(layer)[HEAD_WIDTH : 2 * HEAD_WIDTH] = 0
        close(batched[layer, 1], theirs.run(SENTENCE).hidden_states[-1])


def test_memory_is_bounded_by_chunks_that_change_nothing(lab_model: LabModel, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = trace(lab_model("bert"), SENTENCE, PAIR)
    whole = ablate_each_head(plain), ablate_each_head(plain, to_mean=True)
    for numbers in (1, 10_000):
        monkeypatch.setattr(ablation, "_NUMBERS_AT_ONCE", numbers)
        close(ablate_each_head(plain), whole[0], 1e-5)
        close(ablate_each_head(plain, to_mean=True), whole[1], 1e-5)
    assert whole[0].shape == (LAYERS, HEADS, len(plain), WIDTH)


def test_a_changed_trace_is_no_start(lab_model: LabModel) -> None:
    changed = trace(lab_model("bert"), SENTENCE, None, Interventions(no_positions=True))
    with pytest.raises(ValueError, match="starts from a plain trace"):
        ablate_each_head(changed)


def test_neurons_taken_away_together_are_those_of_single_runs(lab_model: LabModel, family: Family) -> None:
    model = lab_model(family)
    plain = trace(model, SENTENCE)
    for layer in range(model.config.layers):
        neurons = (0, 7, model.config.ffn_width - 1)
        found = ablate_each_neuron(plain, layer, neurons)
        for at, neuron in enumerate(neurons):
            alone = trace(model, SENTENCE, None, Interventions(zero_neurons=frozenset({(layer, neuron)})))
            assert (found[at] - alone.output).abs().max() < 1e-4
            assert not alone.layer(layer).ffn_activation[:, neuron].any()
    with pytest.raises(ValueError, match="plain trace"):
        ablate_each_neuron(alone, 0, (1,))
