"""Training the last layer, against plain PyTorch with the module of Hugging Face, in float64 and without dropout."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from torch import Tensor, nn
from torch.nn import functional

from lab.analysis.tasks import sentence_vectors, tuning
from lab.analysis.tasks.few_examples import turning
from lab.analysis.tasks.sentence_vectors import brief, mark_of, read, together, untrained_together
from lab.analysis.tasks.tuning import scores, tune
from lab.models.config import ModelConfig
from lab.models.encoding import encode
from lab.models.loading import LoadedModel, load_model
from lab.models.trace import trace
from lab.models.twin import untrained_twin
from tests.checkpoints import Family, write_checkpoint

TEXTS = (
    "The rain came too late.", "The rain came in time and saved the harvest.", "He lost the ring.",
    "He found the ring that he had lost.", "They won the last game.", "They lost the last game of the year.",
    "She forgave him.", "She shouted at him and left.", "The soup was cold.", "The soup was warm and tasted wonderful.",
    "My brother came home safe.", "My brother never came home.", "The operation failed.", "The operation was good.",
    "He passed the test.", "He failed the test again.", "The garden is full of roses.", "The garden was destroyed.",
)  # fmt: skip
MARKS = tuple(each in (1, 3, 4, 6, 9, 10, 13, 14, 16) for each in range(len(TEXTS)))


@contextmanager
def wide() -> Iterator[None]:
    """Tensors that are made in the block are float64."""
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(torch.float32)


def in_float64(value: Any) -> Any:
    """A model's weights, or a part of them, in float64."""
    if isinstance(value, Tensor):
        return value.double()
    if isinstance(value, tuple):
        return tuple(map(in_float64, value))
    if is_dataclass(value) and not isinstance(value, ModelConfig | type):
        return replace(value, **{each.name: in_float64(getattr(value, each.name)) for each in fields(value)})
    return value


def last_layer(module: nn.Module, causal: bool) -> nn.Module:
    found: Any = module
    layer: nn.Module = found.transformer.h[-1] if causal else found.bert.encoder.layer[-1]
    return layer


def their_scores(module: nn.Module, head: nn.Linear, model: LoadedModel) -> Tensor:
    """The classifier's scores from Hugging Face's last hidden states, text by text."""
    found = []
    for text in TEXTS:
        encoding = encode(model.tokenizer, model.config, text)
        ids = torch.tensor([encoding.token_ids])
        last = module(input_ids=ids, output_hidden_states=True).hidden_states[-1][0]
        found.append(head(last[mark_of(encoding, model.config.causal)])[0])
    return torch.stack(found)


@pytest.mark.parametrize(("family", "kind"), [("bert", "BertForMaskedLM"), ("gpt2", "GPT2LMHeadModel")])
def test_forty_steps_give_the_logits_of_plain_pytorch(family: Family, kind: str, tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / family, family)
    model = load_model(folder)
    model = replace(model, weights=in_float64(model.weights))
    module = getattr(transformers, kind).from_pretrained(folder, attn_implementation="eager").double().eval()
    for each in module.parameters():
        each.requires_grad_(False)
    layer = last_layer(module, model.config.causal)
    head = nn.Linear(model.config.width, 1).double()
    nn.init.zeros_(head.weight)
    nn.init.zeros_(head.bias)
    trained = [*layer.parameters(), *head.parameters()]
    for each in trained:
        each.requires_grad_(True)
    optimizer = torch.optim.AdamW(trained, lr=tuning._RATE, weight_decay=tuning._DECAY)
    for batch in tuning._batches(len(TEXTS), tuning.STEPS):
        given = their_scores(module, head, model)[batch]
        loss = functional.binary_cross_entropy_with_logits(given, torch.tensor(MARKS).double()[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        theirs = their_scores(module, head, model).numpy()
    with wide():
        ours = tune(model, TEXTS, MARKS)
        difference = np.abs(scores(ours.model, ours.head, TEXTS) - theirs).max()
    assert len(ours.losses) == tuning.STEPS and ours.losses[0] == pytest.approx(np.log(2))
    assert difference <= 1e-6
    assert np.ptp(theirs) > 0.5  # something was learned


def test_only_the_last_layer_moves() -> None:
    model = load_model("lab-bert")
    before = [each.clone() for each in tuning._tensors(model.weights.layers[-1])]
    tuned = tune(model, TEXTS, MARKS, steps=3)
    assert all(torch.equal(a, b) for a, b in zip(before, tuning._tensors(model.weights.layers[-1]), strict=True))
    assert tuned.model.weights.layers[:-1] == model.weights.layers[:-1]
    assert tuned.model.weights.embeddings is model.weights.embeddings
    assert not any(
        torch.equal(a, b) for a, b in zip(before, tuning._tensors(tuned.model.weights.layers[-1]), strict=True)
    )
    assert tuned.nbytes < model.nbytes / 2


def test_one_label_only_is_refused() -> None:
    with pytest.raises(ValueError, match="both labels"):
        tune(load_model("lab-bert"), TEXTS[:3], (True, True, True))


def test_every_sentence_comes_by_before_one_comes_again() -> None:
    batches = list(tuning._batches(20, 5))
    assert all(len(batch) == tuning.BATCH for batch in batches)
    assert len({*batches[0], *batches[1][:4]}) == 20


@pytest.mark.parametrize("name", ["lab-bert", "lab-gpt2"])
def test_vectors_are_those_of_the_runs(name: str) -> None:
    model = load_model(name)
    for each in (model, untrained_twin(model)):
        found = read(each, TEXTS)
        for place in (0, 5):
            run = trace(each, TEXTS[place])
            mark = mark_of(run.encoding, each.config.causal)
            words = [i for i, special in enumerate(run.encoding.special) if not special]
            assert found.mark[-1, place] == pytest.approx(run.output[mark].numpy(), abs=1e-4)
            assert found.mean[1, place] == pytest.approx(run.hidden_states[1][words].mean(0).numpy(), abs=1e-4)
    assert brief(model, TEXTS[:2]).mean == pytest.approx(together(model, TEXTS).mean[:2], abs=1e-4)
    assert brief(model, ()).mean.shape == (0, model.config.width)


def test_the_untrained_twin_is_drawn_once_for_sentences_that_are_the_same_for_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A click in the list of *Teach it* drew the twin anew, and read all sentences with it."""
    model, drawn = load_model("lab-bert"), list[str]()

    def drawing(model: LoadedModel) -> LoadedModel:
        drawn.append(model.id)
        return untrained_twin(model)

    monkeypatch.setattr(sentence_vectors, "untrained_twin", drawing)
    first, second = (untrained_together(model, TEXTS[:3]) for _ in range(2))
    assert first is second and drawn == ["lab-bert"]
    assert first.mean == pytest.approx(brief(untrained_twin(model), TEXTS[:3]).mean, abs=1e-4)


def test_what_turns_is_found_by_cutting_and_shown_beside_attention() -> None:
    model = load_model("lab-bert")
    tuned = tune(model, TEXTS, MARKS)
    run = trace(tuned.model, "The soup was not warm.")
    found = turning(run, tuned)
    assert found is not None
    assert found.score == pytest.approx(scores(tuned.model, tuned.head, ["The soup was not warm."])[0], abs=1e-4)
    assert len(found.places) == len(found.without) == len(found.attention)
    assert all((score > 0) != (found.score > 0) for place, score in zip(found.places, found.without, strict=True)
               if place in found.turns)  # fmt: skip
    row = trace(tuned.model, "The soup was not warm.").attention[-1].mean(0)[0]
    assert found.attention == pytest.approx(row[list(found.places)].numpy(), abs=1e-6)
