"""The picture of the whole model: each of its numbers is Hugging Face's, and it says what a model of its kind does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import nn

import lab
from lab.charts.components.machine_picture import LessonDoor, MachineOnPage
from lab.figures.machine_of_run import NUMBERS, ROWS, around, first_watched, machine
from lab.figures.notebook import python_of
from lab.models.catalogue import EMBEDDED
from lab.models.loading import load_model
from lab.models.trace import Trace
from lab.toy.models import constructed_toy
from tests.charts.payloads import unpack
from tests.charts.samples import HOSTILE
from tests.checkpoints import FAMILIES, Family
from tests.conftest import TinyCheckpoint
from tests.models.reference import TOLERANCE, Theirs, load_theirs, words

BLANK = "The capital of France is [MASK]."
CAUSAL = "The capital of France is"
MODELS: tuple[tuple[str, Family, str], ...] = (
    ("lab-minilm", "bert", BLANK),
    ("lab-bert", "bert", BLANK),
    ("lab-gpt2", "gpt2", CAUSAL),
)
POST_NORM = ["tokens", "vectors", "attention", "add_1", "neurons", "add_2", "word"]
PRE_NORM = ["tokens", "vectors", "norm_1", "attention", "add_1", "norm_2", "neurons", "add_2", "word"]
DOORS = {part: [LessonDoor("self-attention", 3, "Self-attention", "Self-attention?text=x" * 5)] for part in POST_NORM}


@cache
def theirs(model: str, family: Family) -> Theirs:
    return load_theirs(EMBEDDED / model, family)


@cache
def run(model: str, text: str) -> Trace:
    return lab.trace(lab.load_model(model), text)


def heard(module: nn.Module, of: Callable[[Any, Any], torch.Tensor], found: list[NDArray[Any]]) -> Any:
    return module.register_forward_hook(lambda _, given, made: found.append(of(given, made)[0].numpy()))


def inside(model: str, family: Family, text: str) -> dict[str, list[NDArray[Any]]]:
    """The numbers between the vectors of each layer, by Hugging Face's modules."""
    own, layers = theirs(model, family), run(model, text).model.config.layers
    made: Callable[[Any, Any], torch.Tensor] = lambda _, made: made  # noqa: E731
    given: Callable[[Any, Any], torch.Tensor] = lambda given, _: given[0]  # noqa: E731
    at = {
        "bert": {"add_1": ("attention.output", made), "neurons": ("intermediate", made)},
        "gpt2": {
            "norm_1": ("ln_1", made),
            "add_1": ("ln_2", given),
            "norm_2": ("ln_2", made),
            "neurons": ("mlp.act", made),
        },
    }[family]
    found: dict[str, list[NDArray[Any]]] = {name: [] for name in at}
    hooks = [
        heard(own.part(path, path, path, path, layer), of, found[name])
        for name, (path, of) in at.items()
        for layer in range(layers)
    ]
    own.run(text)
    for hook in hooks:
        hook.remove()
    return found


@pytest.mark.parametrize(("model", "family", "text"), MODELS)
def test_its_numbers_are_hugging_face_s(model: str, family: Family, text: str) -> None:
    figure, out = machine(run(model, text)), theirs(model, family).run(text)
    assert figure.maps == pytest.approx(np.stack([each.numpy() for each in out.attentions]), abs=TOLERANCE)
    # The last of GPT-2's states has gone through its final LayerNorm there.
    states = np.stack([each.numpy() for each in out.hidden_states])[:, :, :NUMBERS]
    count = len(states) - (family == "gpt2")
    assert figure.states[:count] == pytest.approx(states[:count], abs=TOLERANCE)
    for name, layers in inside(model, family, text).items():
        full = np.stack(layers)
        if name == "neurons":  # of each layer those that differ most from token to token, in their order
            most = [np.sort(np.argsort(-each.var(0))[:NUMBERS]) for each in full]
            full = np.stack([each[:, chosen] for each, chosen in zip(full, most, strict=True)])
        assert figure.strips[name] == pytest.approx(full[:, :, :NUMBERS], abs=TOLERANCE), name


@pytest.mark.parametrize(("model", "family", "text"), MODELS)
def test_its_words_are_hugging_face_s(model: str, family: Family, text: str) -> None:
    trace, logits = run(model, text), theirs(model, family).run(text).logits
    assert logits is not None
    figure = machine(trace)
    best = logits[first_watched(trace)].softmax(-1).topk(len(figure.words))
    assert [share for _, share in figure.words] == pytest.approx(best.values.tolist(), abs=TOLERANCE)
    named = [trace.model.tokenizer.decode([i]).strip() for i in best.indices.tolist()]
    assert [word.strip("␣ ") for word, _ in figure.words] == named


def test_a_token_that_hides_nothing_has_no_words_and_says_why() -> None:
    figure = machine(run("lab-minilm", BLANK), watched=2)
    assert figure.words == [] and figure.unread and figure.ending[0][0] == figure.unread and not figure.next_words
    causal = machine(run("lab-gpt2", CAUSAL), watched=2)
    assert causal.words and causal.next_words and not causal.unread


@pytest.mark.parametrize("family", FAMILIES)
def test_the_parts_are_those_of_the_family(tiny_checkpoint: TinyCheckpoint, family: Family) -> None:
    trace = lab.trace(load_model(tiny_checkpoint(family)), "The cat sat.")
    figure, n = machine(trace), len(trace)
    assert [part.id for part in figure.parts] == (PRE_NORM if trace.model.config.pre_norm else POST_NORM)
    shapes = {part.id: part.shape for part in figure.parts}
    assert shapes["attention"] == f"4 × {n} × {n}" and shapes["neurons"] == f"{n} × 64"
    assert {shape for id, shape in shapes.items() if "norm" in id or "add" in id or id == "vectors"} == {f"{n} × 32"}
    assert set(figure.strips) == {*shapes} & {"norm_1", "add_1", "norm_2", "neurons"}
    assert (trace.model.weights.vocabulary_head is None) == (not figure.words and "predicts no words" in figure.unread)
    vectors = next(part.says for part in figure.parts if part.id == "vectors")
    assert ("segment" in vectors) == (trace.model.weights.embeddings.segment is not None)
    assert ("place" in vectors) == (trace.model.weights.embeddings.position is not None)


def test_the_matrices_of_a_head_give_its_weights_and_what_it_collects() -> None:
    found = machine(run("lab-minilm", BLANK), layer=2, head=4).opened
    assert found is not None and (found.layer, found.head) == (2, 4)
    scores = found.query.astype(np.float64) @ found.key.T.astype(np.float64) / np.sqrt(found.query.shape[1])
    weights = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    assert found.attention == pytest.approx(weights, abs=1e-5)
    assert found.context == pytest.approx(weights @ found.value, abs=1e-5)


def test_of_a_long_text_the_tokens_around_the_watched_one_are_drawn() -> None:
    trace = run("lab-minilm", words(80))
    for watched in (0, 40, len(trace) - 1):
        figure, rows = machine(trace, watched=watched), around(watched, len(trace))
        assert len(rows) == len(figure.tokens) == ROWS and figure.others == len(trace) - ROWS
        assert rows[figure.watched] == watched
        whole = trace.layer(3).attention.numpy()
        assert np.array_equal(figure.maps[3], whole[:, rows.start : rows.stop, rows.start : rows.stop])
        best = whole[:, rows.start : rows.stop].argmax(-1)
        drawn = np.isin(best, list(rows))
        assert np.array_equal(figure.most[3], np.where(drawn, best - rows.start, -1)) and not drawn.all()


def test_six_layers_of_twelve_heads_and_24_tokens_fit_into_70_kilobytes() -> None:
    sent = machine(run("lab-minilm", words(80))).payload(MachineOnPage(doors=DOORS, twin=False))
    assert 60_000 < len(sent) <= 70_000


def test_of_a_larger_model_one_layer_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = run("lab-minilm", BLANK)
    whole = machine(trace)
    monkeypatch.setattr("lab.figures.machine_of_run._MOST_BYTES", 5_000)
    for layer in (None, 0, 4):
        figure, at = machine(trace, layer=layer), 5 if layer is None else layer
        assert (figure.first, figure.layers, len(figure.maps), len(figure.states)) == (at, 6, 1, 2)
        assert np.array_equal(figure.maps[0], whole.maps[at]) and np.array_equal(
            figure.states, whole.states[at : at + 2]
        )
        assert np.array_equal(figure.strips["neurons"][0], whole.strips["neurons"][at])


def test_a_colour_is_the_number_within_a_127th_of_the_scale_of_its_layer() -> None:
    figure = machine(run("lab-minilm", BLANK))
    header, arrays = unpack(figure.payload())
    assert header["words"][0][0] == "paris" and header["blank"].index(True) == header["watched"]
    for name, values in {"states": figure.states, **figure.strips}.items():
        ends = np.quantile(np.abs(values).reshape(len(values), -1), 0.98, axis=1)[:, None, None]
        assert np.abs(arrays[name] / 127 * ends - np.clip(values, -ends, ends)).max() <= ends.max() / 254 + 1e-6
    assert np.abs(arrays["maps"] / 255 - figure.maps).max() <= 1 / 510 + 1e-6
    assert np.array_equal(arrays["most"], figure.maps.argmax(-1))


def test_one_very_large_number_does_not_bleach_the_others() -> None:
    figure = machine(run("lab-minilm", BLANK))
    states = figure.states.copy()
    states[3, 0, 0] = 1e6
    _, arrays = unpack(replace(figure, states=states).payload())
    _, before = unpack(figure.payload())
    assert np.abs(arrays["states"][3].astype(int) - before["states"][3]).mean() < 4


def test_while_a_page_waits_for_a_guess_nothing_tells_the_word() -> None:
    sent = machine(run("lab-minilm", BLANK)).payload(MachineOnPage(waits=True))
    assert b"paris" not in sent and b"strasbourg" not in sent
    assert b"paris" in machine(run("lab-minilm", BLANK)).payload()


@pytest.mark.parametrize("token", HOSTILE)
def test_hostile_tokens_stay_text(token: str) -> None:
    trace = run("lab-minilm", BLANK)
    figure = replace(machine(trace), tokens=[token] * len(trace))
    header, _ = unpack(figure.payload())
    assert len(header["tokens"]) == len(trace) and "\n" not in "".join(header["tokens"])
    assert "<script" not in figure._repr_html_()


def test_a_toy_has_its_own_sizes() -> None:
    toy = constructed_toy(8, 8)
    trace = lab.trace(toy, "a b c")
    figure = machine(trace)
    assert figure.layers == toy.config.layers and figure.states.shape[-1] == min(NUMBERS, toy.config.width)
    assert figure.maps.shape[1] == toy.config.heads


def test_what_does_not_exist_is_refused() -> None:
    trace = run("lab-minilm", BLANK)
    for wrong in ({"watched": 9}, {"watched": -1}, {"head": 12}, {"layer": 6, "head": 0}):
        with pytest.raises(IndexError, match=r"(token|head|layer) -?\d+: .* 0 to \d+"):
            machine(trace, **wrong)


def test_a_notebook_writes_it() -> None:
    setup, expression = python_of(partial(machine, run("lab-minilm", BLANK), 6, None, 3))
    assert (
        "from lab.figures.machine_of_run import machine" in setup and expression == "machine(traced, watched=6, head=3)"
    )
