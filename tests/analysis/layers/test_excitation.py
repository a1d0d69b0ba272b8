"""The survey of neurons against one run a text and a plain sort."""

from __future__ import annotations

import threading
from collections import Counter

import pytest
import torch

from lab.analysis.layers.excitation import TOP, NeuronSurvey
from lab.models.loading import LoadedModel, load_model
from lab.models.trace import trace
from lab.text.bundled import bundled_sentences
from lab.toy.models import constructed_toy
from tests.checkpoints import CORPUS, Family
from tests.conftest import TinyCheckpoint

TEXTS = (*CORPUS, "Yes.", "No.", "The cat <pad> sat.")


def finished(model: LoadedModel, texts: tuple[str, ...]) -> NeuronSurvey:
    survey = NeuronSurvey(model, texts)
    while not survey.finished:
        survey.step(model)
    return survey


@pytest.mark.parametrize("family", ["bert", "roberta", "electra", "gpt2"])
def test_the_strongest_tokens_are_those_of_single_runs(tiny_checkpoint: TinyCheckpoint, family: Family) -> None:
    model = load_model(tiny_checkpoint(family))
    survey = finished(model, TEXTS)
    runs = [trace(model, text) for text in TEXTS]
    for layer, neuron in ((0, 0), (1, 5), (1, 63)):
        values = sorted(
            (
                (run.layer(layer).ffn_activation[token, neuron].item(), text, token)
                for text, run in enumerate(runs)
                for token in range(len(run))
                if not run.encoding.special[token]
            ),
            reverse=True,
        )
        found = survey.most_excited(layer, neuron)
        assert len(found) == TOP
        assert [each.value for each in found] == pytest.approx([value for value, _, _ in values[:TOP]], abs=1e-4)
        for each in found:
            own = runs[each.text].layer(layer).ffn_activation[each.token, neuron].item()
            assert each.value == pytest.approx(own, abs=1e-4)
        assert survey.tokens == len(values)


def test_few_tokens_give_few_and_none_before_the_first_step() -> None:
    toy = constructed_toy(5, 6)
    survey = NeuronSurvey(toy, ("a b", "c d e"))
    assert survey.most_excited(0, 0) == ()
    survey.step(toy)
    survey.step(toy)
    survey.step(toy)
    assert (survey.done, survey.total, survey.finished) == (2, 2, True)
    assert sorted((each.text, each.token) for each in survey.most_excited(0, 0)) == [
        (0, 0),
        (0, 1),
        (1, 0),
        (1, 1),
        (1, 2),
    ]


def test_two_sessions_share_the_work(tiny_checkpoint: TinyCheckpoint) -> None:
    model = load_model(tiny_checkpoint("bert"))
    shared, alone = NeuronSurvey(model, TEXTS), finished(model, TEXTS)

    def work() -> None:
        while not shared.finished:
            shared.step(model)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert shared.tokens == alone.tokens and shared.done == alone.total
    assert shared.most_excited(1, 3) == alone.most_excited(1, 3)


@pytest.mark.parametrize("family", ["bert", "gpt2"])
def test_the_commonest_strongest_token_is_counted(tiny_checkpoint: TinyCheckpoint, family: Family) -> None:
    model = load_model(tiny_checkpoint(family))
    survey = finished(model, TEXTS)
    every = [i for e in survey.encodings for i, special in zip(e.token_ids, e.special, strict=True) if not special]
    for layer, neuron in ((0, 0), (1, 5), (1, 63)):
        ids = [survey.encodings[each.text].token_ids[each.token] for each in survey.most_excited(layer, neuron)]
        found = survey.commonest(layer, neuron)
        assert found is not None
        assert found.repeats == max(Counter(ids).values()) == ids.count(found.token_id)
        assert found.strongest == TOP and found.occurs == every.count(found.token_id)
        active = torch.cat(
            [
                trace(model, text).layer(layer).ffn_activation[[not each for each in e.special], neuron]
                for text, e in zip(TEXTS, survey.encodings, strict=True)
            ]
        )
        # Counts may differ by a token whose activation is 0 up to rounding.
        assert found.excited == pytest.approx(int((active > 0).sum()), abs=1)
        assert found.hits == pytest.approx(int(((active > 0) & (torch.tensor(every) == found.token_id)).sum()), abs=1)


@pytest.mark.parametrize("name", ["lab-bert", "lab-gpt2"])
def test_the_most_selective_neuron_is_seldom_above_0_and_its_strongest_tokens_are_alike(name: str) -> None:
    model = load_model(name)
    survey = finished(model, bundled_sentences())
    for layer in range(model.config.layers):
        best = survey.most_selective(layer)
        assert best is not None
        repeats = _repeats(survey, layer, best)
        assert repeats >= TOP / 2 and _share(survey, layer, best) <= 0.2
        for other in range(0, model.config.ffn_width, 5):
            strongest = survey.most_excited(layer, other)
            if _share(survey, layer, other) <= 0.2 and strongest[-1].value > 0:
                assert _repeats(survey, layer, other) <= repeats


def _share(survey: NeuronSurvey, layer: int, neuron: int) -> float:
    """The share of all tokens at which a neuron is above 0."""
    found = survey.commonest(layer, neuron)
    assert found is not None
    return found.excited / survey.tokens


def _repeats(survey: NeuronSurvey, layer: int, neuron: int) -> int:
    """How many of a neuron's strongest tokens are the same word; tokens without a letter or a figure are none."""
    spelt = []
    for each in survey.most_excited(layer, neuron):
        encoding = survey.encodings[each.text]
        start, end = encoding.offsets[each.token]
        if any(char.isalnum() for char in encoding.text[start:end]):
            spelt.append(encoding.token_ids[each.token])
    return max(Counter(spelt).values(), default=0)


def test_a_silent_network_has_no_selective_neuron() -> None:
    survey = finished(constructed_toy(5, 6), ("1 2", "3 4 5"))
    assert survey.most_selective(0) is None
