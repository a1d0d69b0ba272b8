"""A trace keeps the residual stream and little else, and recomputes what is looked at."""

from __future__ import annotations

import gc
import threading
import types
from pathlib import Path
from typing import Any
from weakref import ref

import pytest
import torch
import transformers

from lab.models.families.registry import read_weights
from lab.models.layer_trace import LayerTrace
from lab.models.loading import Checkpoint, LoadedModel
from lab.models.memo import Memo
from lab.models.proof import prove
from lab.models.reference import reference
from lab.models.tensor_index import tensor
from lab.models.trace import Trace, trace
from tests.checkpoints import HEADS, LAYERS, WIDTH, Family
from tests.models.conftest import LabModel
from tests.models.reference import PAIR, SENTENCE, words


def storages(start: object, stop: object = None) -> dict[int, int]:
    """Where each storage is that ``start`` refers to, not through ``stop``, however indirectly, and its bytes."""
    seen, waiting, found = {id(stop)}, list[Any]([start]), dict[int, int]()
    while waiting:
        thing = waiting.pop()
        if id(thing) in seen or isinstance(thing, types.ModuleType | type | types.FunctionType):
            continue
        seen.add(id(thing))
        if isinstance(thing, torch.Tensor):
            found[thing.untyped_storage().data_ptr()] = thing.untyped_storage().nbytes()
        waiting.extend(gc.get_referents(thing))
    return found


def kept_bytes(thing: object, apart_from: object) -> int:
    """Bytes of all tensors that live because ``thing`` does and not because ``apart_from`` does."""
    others = storages(apart_from)
    return sum(size for place, size in storages(thing, apart_from).items() if place not in others)


def kept(run: Trace) -> int:
    """Bytes of all tensors that live because ``run`` does; the model's do not count."""
    return kept_bytes(run, apart_from=run.model)


@pytest.fixture(scope="module")
def deep_model(lab_model: LabModel) -> LoadedModel:
    """Six layers, kept in memory."""
    config = transformers.BertConfig(
        vocab_size=400, hidden_size=WIDTH, num_hidden_layers=6, num_attention_heads=HEADS, intermediate_size=64
    )
    torch.manual_seed(3)
    module = transformers.BertForPreTraining(config)
    raw, tensors = config.to_dict(), dict(module.state_dict())
    weights = read_weights({**raw, "model_type": "bert"}, tensors)
    return LoadedModel("deep", weights, lab_model("bert").tokenizer, Checkpoint(raw, tensors))


@pytest.mark.parametrize("count", [1, 60, 900])
def test_a_trace_keeps_its_residual_stream(lab_model: LabModel, family: Family, count: int) -> None:
    run = trace(lab_model(family), words(count), PAIR)
    stream = (LAYERS + 1) * len(run) * WIDTH * 4
    assert run.hidden_states.shape == (LAYERS + 1, len(run), WIDTH)
    assert stream <= kept(run) <= 1.05 * stream


def test_looks_at_logits_embeddings_and_names_keep_nothing(lab_model: LabModel) -> None:
    run = trace(lab_model("bert"), SENTENCE)
    before = kept(run)
    _ = run.logits(range(len(run))), run.pair_logits, run.embeddings, run.output, tensor(run, "manual_hiddens")
    assert kept(run) == before


def test_runs_share_a_room_for_their_layers(deep_model: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = [trace(deep_model, SENTENCE) for _ in range(2)]
    layer = runs[0].layer(0)
    made = kept_bytes(layer, apart_from=[runs[0].hidden_states, layer.weights])  # its input belongs to the run
    assert layer.nbytes == pytest.approx(made + layer.input.nbytes, abs=200)
    monkeypatch.setattr("lab.models.trace._LAYERS", Memo(3 * layer.nbytes + 2_000, at_least=2))
    seen = [ref(run.layer(number)) for run in runs for number in (0, 1, 2, 3)]
    gc.collect()
    assert [each() is not None for each in seen] == [False] * 5 + [True] * 3
    assert kept(runs[0]) == kept(trace(deep_model, SENTENCE))


def test_two_layers_stay_however_large_they_are(deep_model: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lab.models.trace._LAYERS", Memo(1, at_least=2))
    run = trace(deep_model, SENTENCE)
    first = run.layer(2)
    run.layer(3)
    assert run.layer(2) is first
    run.layer(4), run.layer(5)
    again = run.layer(2)
    assert again is not first and torch.equal(again.attention, first.attention)


def test_attention_stacks_all_layers(deep_model: LoadedModel) -> None:
    run = trace(deep_model, SENTENCE)
    assert run.attention.shape == (6, HEADS, len(run), len(run))
    assert torch.equal(run.attention[3], run.layer(3).attention)


@pytest.mark.parametrize("number", [-1, LAYERS, 99])
def test_a_layer_that_does_not_exist(lab_model: LabModel, number: int) -> None:
    run = trace(lab_model("bert"), SENTENCE)
    with pytest.raises(IndexError, match=f"layer {number}: bert-0 has layers 0 to {LAYERS - 1}"):
        run.layer(number)


def test_a_model_kept_in_memory_is_proven_too(deep_model: LoadedModel) -> None:
    proof = prove(deep_model, trace(deep_model, SENTENCE, PAIR))
    assert proof.passed and proof.largest_difference <= 1e-4
    assert proof.rows[-1].step == "pair_logits"


def test_what_a_trace_says_of_its_text(lab_model: LabModel) -> None:
    run = trace(lab_model("bert"), "The café", "A cat")
    assert (run.text, run.pair) == ("The café", "A cat")
    assert run.tokens[0] == "[CLS]" and run.tokens.count("[SEP]") == 2
    assert len(run) == len(run.tokens) == len(run.token_ids) == len(run.offsets) == len(run.word_ids)
    assert run.segment_ids == tuple(int(i > run.tokens.index("[SEP]")) for i in range(len(run)))


def test_nothing_a_trace_returns_carries_gradients(lab_model: LabModel, family: Family) -> None:
    run = trace(lab_model(family), SENTENCE)
    layer: LayerTrace = run.layer(0)
    for each in (run.hidden_states, layer.attention, layer.head_contribution, run.output, run.embeddings.sum):
        assert each.dtype == torch.float32 and not each.requires_grad


def test_sessions_share_a_trace(deep_model: LoadedModel) -> None:
    run = trace(deep_model, SENTENCE)
    expected = [run.layer(number).attention.clone() for number in range(6)]
    wrong: list[int] = []

    def look(offset: int) -> None:
        for step in range(120):
            number = (step * (offset + 1) + offset) % 6
            if not torch.equal(run.layer(number).attention, expected[number]):
                wrong.append(number)

    threads = [threading.Thread(target=look, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == [] and kept(run) > 0


def test_the_folder_is_the_source_of_the_reference(lab_model: LabModel) -> None:
    model = lab_model("bert")
    assert isinstance(model.source, Path)
    assert reference(model) is reference(model), "loaded once"
    assert not reference(model).training
