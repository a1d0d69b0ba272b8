"""The survey of neurons against one run a text and a plain sort."""

from __future__ import annotations

import threading

import pytest

from lab.analysis.excitation import TOP, NeuronSurvey
from lab.models.catalogue import LoadedModel, load_model
from lab.models.trace import trace
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
        positive = sum(value > 0 for value, _, _ in values) / len(values)
        assert survey.tokens == len(values)
        assert survey.share_positive(layer, neuron) == pytest.approx(positive, abs=0.004)


def test_few_tokens_give_few_and_none_before_the_first_step() -> None:
    toy = constructed_toy(5, 6)
    survey = NeuronSurvey(toy, ("a b", "c d e"))
    assert survey.most_excited(0, 0) == () and survey.share_positive(0, 0) == 0
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
