"""Every question of the feed-forward lesson: its right answer found again by another way."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from lab.analysis.layers.excitation import Commonest
from lab.analysis.layers.feed_forward import share_below_zero
from lab.analysis.layers.neurons_off import NeuronOff, neurons_off
from lab.analysis.layers.sublayers import NormSteps, layer_norms, norm_steps, sublayer_changes
from lab.lessons.feed_forward import blank_checks, checks
from lab.models.interventions import Interventions
from lab.models.loading import load_model
from lab.models.trace import Trace, trace
from lab.questions.question import Option, Question
from lab.toy.models import constructed_toy
from tests.checkpoints import Family
from tests.conftest import TinyCheckpoint
from tests.sentences import BOYS, CAT

TEXTS = (CAT, "She opened the door.", "the the the the the dog")


@pytest.fixture(params=["bert", "gpt2"])
def traces(request: pytest.FixtureRequest, tiny_checkpoint: TinyCheckpoint) -> list[Trace]:
    family: Family = request.param
    model = load_model(tiny_checkpoint(family, seed=3))
    return [trace(model, text) for text in TEXTS]


def answer(question: Question) -> Option:
    return question.options[question.answer]


@pytest.mark.parametrize(
    ("share", "text"), [(0.1, "Fewer than 4 in 10"), (0.5, "About half, 4 to 6 in 10"), (0.9, "More than 6 in 10")]
)
def test_the_band_of_the_share(share: float, text: str) -> None:
    for question in (checks.below_zero(share, "x", 64), checks.how_often(share, 3, 100)):
        assert question is not None and answer(question).text == text and f"{share:.1%}" in answer(question).why
    assert checks.below_zero(0.41, "x", 64) is None and checks.below_zero(0.59, "x", 64) is None


def test_the_share_is_counted_on_the_trace(traces: list[Trace]) -> None:
    layer = traces[0].layer(0)
    below = sum(z < 0 for z in layer.ffn_hidden[2].tolist()) / 64
    assert share_below_zero(layer, 2) == pytest.approx(below)


def test_most_exciting_token_and_most_changed_name_the_maximum(traces: list[Trace]) -> None:
    asked = 0
    for run in traces:
        layer = run.layer(1)
        for neuron in range(0, 64, 7):
            question = checks.most_exciting_token(run, layer, neuron)
            if question is not None:
                asked += 1
                assert answer(question).text.endswith(f"({layer.ffn_activation[:, neuron].argmax().item() + 1})")
        question = checks.most_changed(run, sublayer_changes(run), 1)
        if question is not None:
            base = layer.attention_residual if layer.attention_norm is None else layer.attention_norm
            largest = (layer.ffn_output.norm(dim=-1) / base.norm(dim=-1)).argmax().item()
            assert answer(question).text.endswith(f"({largest + 1})")
    assert asked > 5


@pytest.mark.parametrize(
    ("occurs", "hits", "text"),
    [(40, 16, "At some"), (100, 98, "At nearly all"), (100, 4, "At hardly any"), (100, 79, None)],
)
def test_at_how_many_of_its_own_tokens_a_neuron_fires(occurs: int, hits: int, text: str | None) -> None:
    question = checks.fires_there(Commonest(7, 10, 12, hits + 2, occurs, hits), 25, "“to”")
    assert (question is None) == (text is None)
    if question is not None and text is not None:
        assert answer(question).text.startswith(text) and f"“to” {occurs} times" in question.prompt
        assert f"{hits} of {occurs}" in answer(question).why


def test_a_scaled_input_is_the_same_and_is_not_asked_where_eps_counts(traces: list[Trace]) -> None:
    run = traces[0]
    for vectors, norm in layer_norms(run.layer(0)).values():
        steps = norm_steps(vectors[1], norm, run.model.config.norm_eps)
        question = checks.scaled_input(steps)
        assert question is not None and answer(question).text == "The same as before"
    ones = np.ones(4)
    assert checks.scaled_input(NormSteps(np.array([0.0, 1, 2, 3]), ones, ones, eps=0.5)) is None
    assert checks.scaled_input(NormSteps(ones, ones, ones, eps=1e-12)) is None


@pytest.mark.parametrize("name", ["lab-minilm", "lab-bert", "lab-gpt2"])
def test_without_the_function_two_matrices_are_one(name: str) -> None:
    """By the weights: x W₁ W₂ is x times one matrix of the model's width."""
    run = trace(load_model(name), TEXTS[1])
    weights, x = run.layer(1).weights, run.layer(1).input.double()
    one = weights.w_1.double() @ weights.w_2.double()
    torch.testing.assert_close((x @ weights.w_1.double()) @ weights.w_2.double(), x @ one)
    question = checks.without_function(run.model.config)
    assert question is not None
    width = run.model.config.width
    assert one.shape == (width, width) and answer(question).text.endswith(f"{width:,} × {width:,} could do")


def test_without_the_sum_nothing_of_the_vector_is_left() -> None:
    """If a token gives its whole attention to another one, what attention brings does not depend on its own value."""
    layer = trace(load_model("lab-minilm"), TEXTS[1]).layer(2)
    elsewhere = torch.zeros(len(layer.input), dtype=torch.float64)
    elsewhere[1] = 1
    values = layer.value.double()
    changed = values.clone()
    changed[:, 3] += 1
    assert torch.equal(elsewhere @ values, elsewhere @ changed)
    assert answer(checks.without_sum("“door”")).text == "What the vector said about “door”"


def test_a_silent_network_asks_nothing_about_itself() -> None:
    run = trace(constructed_toy(5, 6), "a b c a")
    layer = run.layer(0)
    assert checks.most_exciting_token(run, layer, 0) is None
    assert checks.most_changed(run, sublayer_changes(run), 0) is None


@pytest.mark.parametrize(("text", "layer"), [(BOYS, 1), ("He drank a cup of [MASK].", 5)])
def test_how_many_neurons_turn_the_word_is_counted_in_runs_without_them(text: str, layer: int) -> None:
    model = load_model("lab-minilm")
    run = trace(model, text)
    place = run.labels.index("[MASK]")
    best, found = int(run.logits(place).argmax()), neurons_off(run, place, layer)
    turned = 0
    for each in found:
        off = Interventions(zero_neurons=frozenset({(layer, each.neuron)}))
        then = int(trace(model, text, None, off).logits(place).argmax())
        assert each.then == then
        turned += then != best
    right = "None" if not turned else "A few" if turned < len(found) / 2 else "Half"
    question = blank_checks.how_many_turn(found, best, "“x”")
    assert answer(question).text.startswith(right) and f"the {len(found)} neurons" in question.prompt
    half = [NeuronOff(0, 1.0, 0.8, 0.1, best + 1), NeuronOff(1, 1.0, 0.8, 0.7, best)]
    assert answer(blank_checks.how_many_turn(half, best, "“x”")).text.startswith("Half")


@pytest.mark.parametrize("name", ["lab-minilm", "lab-bert", "lab-gpt2"])
def test_another_vector_at_one_token_reaches_that_token_alone(name: str) -> None:
    run = trace(load_model(name), "She opened the door.")
    question = blank_checks.another_word(run, 2, 1)
    assert question is not None and question.options[question.answer].text == "At this token alone"
    assert len(run) > 3 and (name != "lab-gpt2" or blank_checks.another_word(trace(run.model, "She"), 2, 0) is None)
