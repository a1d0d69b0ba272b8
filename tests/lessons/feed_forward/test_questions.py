"""Every question of the feed-forward lesson: its right answer found again by another way."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch
from lab.lessons.feed_forward.order import another_word

from lab.analysis.layers.excitation import neuron_survey
from lab.analysis.layers.neurons_off import neurons_off
from lab.analysis.layers.sublayers import NormSteps, layer_norms, norm_steps
from lab.lessons.feed_forward.excited_by import most_exciting_token, what_a_list_shows
from lab.lessons.feed_forward.in_the_blank import one_decides
from lab.lessons.feed_forward.neurons import which_adds_more, without_function
from lab.lessons.feed_forward.residual import most_changed, times_ten, without_sum
from lab.models.interventions import Interventions
from lab.models.loading import load_model
from lab.models.trace import Trace, trace
from lab.questions.question import Option, Question
from lab.questions.returning import Spot
from lab.text.bundled import bundled_sentences
from lab.toy.models import constructed_toy
from tests.checkpoints import Family
from tests.conftest import TinyCheckpoint
from tests.sentences import BOYS, CAT, KEYS, STORY

TEXTS = (CAT, "She opened the door.", "the the the the the dog")


@pytest.fixture(params=["bert", "gpt2"])
def traces(request: pytest.FixtureRequest, tiny_checkpoint: TinyCheckpoint) -> list[Trace]:
    family: Family = request.param
    model = load_model(tiny_checkpoint(family, seed=3))
    return [trace(model, text) for text in TEXTS]


def answer(question: Question | None) -> Option:
    assert question is not None
    return question.options[question.answer]


def test_most_exciting_token_and_most_changed_name_the_maximum(traces: list[Trace]) -> None:
    asked = 0
    for run in traces:
        layer = run.layer(1)
        for token in range(len(run)):
            neuron = int(layer.ffn_activation[token].argmax())
            question = most_exciting_token(Spot(run, 1, 0, token, token))
            if question is not None:
                asked += 1
                assert answer(question).text.endswith(f"({layer.ffn_activation[:, neuron].argmax().item() + 1})")
        question = most_changed(Spot(run, 1, 0, 0, 0))
        if question is not None:
            base = layer.attention_residual if layer.attention_norm is None else layer.attention_norm
            largest = (layer.ffn_output.norm(dim=-1) / base.norm(dim=-1)).argmax().item()
            assert answer(question).text.endswith(f"({largest + 1})")
    assert asked > 5


def test_a_scaled_input_is_the_same_and_is_not_asked_where_eps_counts(traces: list[Trace]) -> None:
    run = traces[0]
    for vectors, norm in layer_norms(run.layer(0)).values():
        steps = norm_steps(vectors[1], norm, run.model.config.norm_eps)
        question = times_ten(steps)
        assert question is not None and answer(question).text == "The same as before"
    ones = np.ones(4)
    assert times_ten(NormSteps(np.array([0.0, 1, 2, 3]), ones, ones, eps=0.5)) is None
    assert times_ten(NormSteps(ones, ones, ones, eps=1e-12)) is None


@pytest.mark.parametrize("name", ["lab-minilm", "lab-bert", "lab-gpt2"])
def test_without_the_function_two_matrices_are_one(name: str) -> None:
    """By the weights: x W₁ W₂ is x times one matrix of the model's width."""
    run = trace(load_model(name), TEXTS[1])
    weights, x = run.layer(1).weights, run.layer(1).input.double()
    one = weights.w_1.double() @ weights.w_2.double()
    torch.testing.assert_close((x @ weights.w_1.double()) @ weights.w_2.double(), x @ one)
    question = without_function(Spot(run, 1, 0, 1, 1))
    assert question is not None
    width = run.model.config.width
    assert one.shape == (width, width) and answer(question).text.endswith(
        f"more than one matrix of {width:,} × {width:,}"
    )


def test_without_the_sum_nothing_of_the_vector_is_left() -> None:
    """If a token gives its whole attention to another one, what attention brings does not depend on its own value."""
    run = trace(load_model("lab-minilm"), TEXTS[1])
    layer = run.layer(2)
    elsewhere = torch.zeros(len(layer.input), dtype=torch.float64)
    elsewhere[1] = 1
    values = layer.value.double()
    changed = values.clone()
    changed[:, 3] += 1
    assert torch.equal(elsewhere @ values, elsewhere @ changed)
    assert answer(without_sum(Spot(run, 2, 0, 4, 4))).text == "What the vector said about “\u2068door\u2069”"


def test_a_silent_network_asks_nothing_about_itself() -> None:
    run = trace(constructed_toy(5, 6), "a b c a")
    assert most_exciting_token(Spot(run, 0, 0, 0, 0)) is None
    assert most_changed(Spot(run, 0, 0, 0, 0)) is None


@pytest.mark.parametrize(("text", "layer"), [(BOYS, 1), (KEYS, 3), ("He drank a cup of [MASK].", 5)])
def test_whether_one_neuron_decides_is_seen_in_runs_without_each(text: str, layer: int) -> None:
    model = load_model("lab-minilm")
    run = trace(model, text)
    place = run.labels.index("[MASK]")
    best, turned = int(run.logits(place).argmax()), 0
    for each in neurons_off(run, place, layer):
        off = Interventions(zero_neurons=frozenset({(layer, each.neuron)}))
        turned += int(trace(model, text, None, off).logits(place).argmax()) != best
    assert answer(one_decides(Spot(run, layer, 0, place, place))).text.startswith("Yes" if turned else "No")


@pytest.mark.parametrize("name", ["lab-minilm", "lab-bert", "lab-gpt2"])
def test_where_a_neuron_adds_more_is_computed_from_the_weights(name: str) -> None:
    """The row of W₂ is the same at both tokens, so the longer of the two vectors is where the activation is larger."""
    run, asked = trace(load_model(name), STORY), 0
    for index in range(run.model.config.layers):
        layer = run.layer(index)
        for token in range(len(run)):
            question = which_adds_more(Spot(run, index, 0, token, token))
            if question is None:
                continue
            asked += 1
            neuron = int(re.findall(r"neuron ([\d,]+)", question.prompt)[0].replace(",", "")) - 1
            here, there = (int(each) - 1 for each in re.findall(r"\((\d+)\)", question.prompt))
            added = [(layer.ffn_activation[at, neuron] * layer.weights.w_2[neuron]).norm() for at in (here, there)]
            sums = [layer.ffn_hidden[at, neuron].item() for at in (here, there)]
            assert here == token and added[0] > added[1] and sums[0] > 0 > sums[1] and -sums[1] > sums[0]
            assert answer(question).text.endswith(f"({token + 1})")
    assert asked > 10


def test_a_silent_network_and_a_gated_one_are_not_asked_about_their_sums(tiny_checkpoint: TinyCheckpoint) -> None:
    gated = trace(load_model(tiny_checkpoint("modernbert", seed=3)), CAT)
    assert which_adds_more(Spot(gated, 0, 0, 1, 1)) is None and without_function(Spot(gated, 0, 0, 1, 1)) is None
    assert which_adds_more(Spot(trace(constructed_toy(5, 6), "a b c a"), 0, 0, 1, 1)) is None


def test_a_list_of_the_strongest_shows_only_where_a_neuron_fires() -> None:
    """The step's own neuron fires at each token of its list, but not wherever its favourite token occurs."""
    survey = neuron_survey(model := load_model("lab-minilm"), bundled_sentences())
    while not survey.finished:
        survey.step(model)
    neuron = survey.most_selective(3)
    assert neuron is not None
    found, common = survey.most_excited(3, neuron), survey.commonest(3, neuron)
    assert common is not None and all(each.value > 0 for each in found) and common.hits < common.occurs
    question = what_a_list_shows(Spot(trace(model, CAT), 3, 0, 1, 1))
    assert answer(question).text == "The neuron fires at *and* in these twelve places"


@pytest.mark.parametrize("name", ["lab-minilm", "lab-bert", "lab-gpt2"])
def test_another_vector_at_one_token_reaches_that_token_alone(name: str) -> None:
    run = trace(load_model(name), "She opened the door.")
    question = another_word(Spot(run, 2, 0, 1, 1))
    assert question is not None and question.options[question.answer].text == "At this token alone"
    assert len(run) > 3 and (name != "lab-gpt2" or another_word(Spot(trace(run.model, "She"), 2, 0, 0, 0)) is None)
