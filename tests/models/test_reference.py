"""Hugging Face's module shares what it read as we did, is read while it runs, and is left as it was."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from lab.models.families.family import Place
from lab.models.families.registry import FAMILIES
from lab.models.loading import load_model
from lab.models.proof import prove
from lab.models.reference import after_each_layer, base_of, listening, reference, reference_run
from lab.models.trace import trace
from lab.models.weights import LayerWeights
from tests.checkpoints import LAYERS, Family
from tests.models.conftest import LabModel
from tests.models.reference import SENTENCE


def test_what_both_read_alike_lies_in_memory_once() -> None:
    model = load_model("lab-minilm")
    ours = {model.weights.embeddings.token.data_ptr(), *(layer.w_1.data_ptr() for layer in model.weights.layers)}
    theirs = {each.data_ptr(): each.numel() for each in reference(model).parameters()}
    assert ours <= theirs.keys()
    shared = sum(size for pointer, size in theirs.items() if pointer in pointers(model.weights))
    assert shared / sum(theirs.values()) > 0.99


def pointers(value: object) -> set[int]:
    """Where the tensors of nested dataclasses and tuples begin."""
    if isinstance(value, torch.Tensor):
        return {value.data_ptr()}
    parts = value if isinstance(value, tuple) else vars(value).values() if hasattr(value, "__dict__") else ()
    return {pointer for part in parts for pointer in pointers(part)}


def test_what_was_read_otherwise_stays_apart(lab_model: LabModel, family: Family) -> None:
    """A model whose weights were read wrongly must not hand them to the reference: the proof would be blind."""
    model = lab_model(family)
    wrong = replace(model, weights=replace(model.weights, layers=tuple(map(_shifted, model.weights.layers))))
    theirs = {each.data_ptr() for each in reference(wrong).parameters()}
    assert not theirs & {layer.w_2.data_ptr() for layer in wrong.weights.layers}
    proof = prove(wrong, trace(wrong, SENTENCE, None))
    assert proof.first_failure is not None and proof.first_failure.step == "ffn_output"


def _shifted(layer: LayerWeights) -> LayerWeights:
    return replace(layer, w_2=layer.w_2 + 0.01)


def test_hooks_read_and_go(lab_model: LabModel, family: Family) -> None:
    model = lab_model(family)
    base, path = base_of(model), FAMILIES[model.config.family].layer_path
    seen: list[int] = []
    place: Place = (f"{path.format(0)}.{FAMILIES[model.config.family].layer_places['attention'][0]}", "weights")
    run = trace(model, SENTENCE)
    with (
        listening(base, [place]) as read,
        after_each_layer(base, [path.format(i) for i in range(LAYERS)], seen.append),
    ):
        returned = reference_run(run)
    assert seen == list(range(LAYERS))
    assert torch.equal(read[place], returned.attentions[0])
    read.clear()
    reference_run(run)
    assert not read and seen == list(range(LAYERS))


def test_a_reference_without_attentions_says_so(lab_model: LabModel, monkeypatch: pytest.MonkeyPatch) -> None:
    model = lab_model("bert")
    run = trace(model, SENTENCE)
    monkeypatch.setattr(base_of(model).config, "_attn_implementation", "sdpa")
    with pytest.raises(RuntimeError, match="eager"):
        prove(model, run)
