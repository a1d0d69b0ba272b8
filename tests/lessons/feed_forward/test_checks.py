"""Every question of the feed-forward lesson: its right answer found again by another way."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from lab.analysis.layers.excitation import Commonest
from lab.analysis.layers.feed_forward import NeuronSteps, neuron_steps, share_below_zero
from lab.analysis.layers.neurons_off import NeuronOff, neurons_off
from lab.analysis.layers.sublayers import NormSteps, layer_norms, norm_steps, sublayer_changes
from lab.lessons.feed_forward import blank_checks, checks
from lab.models.interventions import Interventions
from lab.models.loading import load_model
from lab.models.reference import reference
from lab.models.trace import Trace, trace
from lab.models.twin import random_twin
from lab.questions.question import Option, Question
from lab.toy.models import constructed_toy
from tests.checkpoints import Family
from tests.conftest import TinyCheckpoint

TEXTS = ("The cat sat on the mat because it was tired.", "She opened the door.", "the the the the the dog")


@pytest.fixture(params=["bert", "gpt2"])
def traces(request: pytest.FixtureRequest, tiny_checkpoint: TinyCheckpoint) -> list[Trace]:
    family: Family = request.param
    model = load_model(tiny_checkpoint(family, seed=3))
    return [trace(model, text) for text in TEXTS]


def answer(question: Question) -> Option:
    return question.options[question.answer]


def numbers(text: str) -> list[float]:
    return [float(x) for x in re.findall(r"-?\d+\.\d+", text.replace("−", "-"))]


def test_the_half_with_more_parameters_is_the_one_that_has_them() -> None:
    model = load_model("lab-bert")
    named = reference(model).named_parameters()
    parts = [(name.partition("encoder.layer.0.")[2], parameter.numel()) for name, parameter in named]
    count = {name: size for name, size in parts if name and "LayerNorm" not in name}
    attention = sum(n for name, n in count.items() if name.startswith("attention."))
    assert checks.feed_forward_parameters(model.config) == (sum(count.values()) - attention, attention)
    assert answer(checks.parameter_share(model.config)).text == "The feed-forward network holds more"


def test_sizes_are_those_of_the_tensors(traces: list[Trace]) -> None:
    for run in traces:
        question = checks.hidden_numbers(len(run), run.model.config)
        assert question is not None
        assert answer(question).text == f"{run.layer(0).ffn_activation.numel():,}"
        weights = run.layer(0).weights
        question = checks.shapes(run.model.config)
        assert question is not None
        assert answer(question).text == f"{weights.w_1.numel() + weights.w_2.numel():,}"


@pytest.mark.parametrize(
    ("share", "text"), [(0.1, "Fewer than 4 in 10"), (0.5, "About half, 4 to 6 in 10"), (0.9, "More than 6 in 10")]
)
def test_the_band_of_the_share(share: float, text: str) -> None:
    for question in (checks.below_zero(share, "x", 64), checks.how_often(share, 3, 100)):
        assert question is not None and answer(question).text == text
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
    ("trained", "untrained", "text"),
    [
        ([18.0, 31.0, 0.1, 26.0], [0.5, 0.5, 0.5, 0.5], "In 3"),
        ([18.0, 0.2, 0.4, 0.7], [2.2, 0.8, 0.6, 0.4], "In 2"),
        ([0.1, 0.1], [0.5, 0.5], "In none"),
        ([1.0, 1.0], [0.5, 0.5], "In all of them"),
        ([9.0] * 8 + [0.1] * 4, [1.0] * 12, "In 6 to 8"),
        ([0.51, 9.0], [0.5, 0.5], None),  # 0.51 beside 0.50 is too near to ask
        ([9.0], [0.5], None),
    ],
)
def test_more_than_untrained(trained: list[float], untrained: list[float], text: str | None) -> None:
    question = checks.more_than_untrained("x", np.array(trained), np.array(untrained))
    assert (None if question is None else answer(question).text) == text


def test_more_than_untrained_has_different_answers() -> None:
    """Not one for all, as "which sublayer adds more?" had."""
    answers = set()
    for name in ("lab-minilm", "lab-bert", "lab-gpt2"):
        model = load_model(name)
        runs = [sublayer_changes(trace(each, "The sleepy cat sat on the mat.")) for each in (model, random_twin(model))]
        for token in range(runs[0].relative.shape[2]):
            question = checks.more_than_untrained("x", *(run.relative[:, 1, token] for run in runs))
            if question is not None:
                answers.add(answer(question).text)
    assert len(answers) >= 2


@pytest.mark.parametrize(
    ("excited", "hits", "text"),
    [
        (100, 98, "More than 8"),
        (100, 70, "5 to 8"),
        (100, 20, "Fewer than 5"),
        (100, 51, None),
        (13, 13, None),
        (0, 0, None),
    ],
)
def test_only_there(excited: int, hits: int, text: str | None) -> None:
    question = checks.only_there(Commonest(7, 10, 12, excited, 200, hits), 25, "“to”")
    assert (question is None) == (text is None)
    if question is not None and text is not None:
        assert answer(question).text.startswith(text)
        assert f"10 of the 12 tokens that excite neuron 26 most are “to”. In all, it is above 0 at {excited}" in (
            question.prompt
        )


def test_the_larger_change_is_larger(traces: list[Trace]) -> None:
    for run in traces:
        changes = sublayer_changes(run)
        for token in range(len(run)):
            question = checks.larger_change(run, changes, 0, token)
            if question is not None:
                attention, network = numbers(answer(question).why)
                assert answer(question).text == ("Attention" if attention > network else "Feed-forward")


def test_a_scaled_input_is_the_same_and_is_not_asked_where_eps_counts(traces: list[Trace]) -> None:
    run = traces[0]
    for vectors, norm in layer_norms(run.layer(0)).values():
        steps = norm_steps(vectors[1], norm, run.model.config.norm_eps)
        question = checks.scaled_input(steps)
        assert question is not None and answer(question).text == "The same as before"
    ones = np.ones(4)
    assert checks.scaled_input(NormSteps(np.array([0.0, 1, 2, 3]), ones, ones, eps=0.5)) is None
    assert checks.scaled_input(NormSteps(ones, ones, ones, eps=1e-12)) is None


def test_the_activation_follows_from_the_prompt(traces: list[Trace]) -> None:
    asked = 0
    for run in traces:
        for token in range(len(run)):
            steps = neuron_steps(run.layer(0), run.model.config, token, 3 * token)
            question = checks.neuron_activation(run, steps, token, 3 * token)
            if question is None:
                continue
            asked += 1
            product, bias, share = numbers(question.prompt)[-3:]
            assert numbers(answer(question).text)[0] == pytest.approx((product + bias) * share, abs=3e-3)
            values = sorted(numbers(option.text)[0] for option in question.options)
            assert min(np.diff(values)) > 0.04
    assert asked > 5


def test_relu_needs_no_share(traces: list[Trace]) -> None:
    steps = NeuronSteps(np.array([2.0]), np.array([1.5]), np.array([3.0]), -1.0, "relu")
    question = checks.neuron_activation(traces[0], steps, 1, 0)
    assert question is not None and answer(question).text == "2.000"
    assert "GELU" not in question.prompt + "".join(option.why for option in question.options)


def test_the_normalized_value_follows_from_the_prompt(traces: list[Trace]) -> None:
    asked = 0
    for run in traces:
        (vectors, norm), *_ = layer_norms(run.layer(1)).values()
        for dimension in range(32):
            steps = norm_steps(vectors[2], norm, run.model.config.norm_eps)
            question = checks.normalized_value(steps, dimension)
            if question is None:
                continue
            asked += 1
            mean, variance, x, gamma, beta = numbers(question.prompt)
            expected = (x - mean) / math.sqrt(variance) * gamma + beta
            assert numbers(answer(question).text)[0] == pytest.approx(expected, abs=0.01)
    assert asked > 5


def test_a_silent_network_asks_nothing_about_itself() -> None:
    run = trace(constructed_toy(5, 6), "a b c a")
    layer = run.layer(0)
    assert checks.most_exciting_token(run, layer, 0) is None
    assert checks.most_changed(run, sublayer_changes(run), 0) is None
    assert checks.neuron_activation(run, neuron_steps(layer, run.model.config, 0, 0), 0, 0) is None


def test_what_is_asked_about_the_blank_is_done() -> None:
    model = load_model("lab-bert")
    text = "The boys [MASK] playing in the garden."
    run = trace(model, text)
    off = neurons_off(run, 3, 1)[0]
    question = blank_checks.one_neuron_off(run, 3, 1, off)
    assert question is not None
    after = trace(model, text, None, Interventions(zero_neurons=frozenset({(1, off.neuron)}))).logits(3)
    kept = after.softmax(-1).max().item() > run.logits(3).softmax(-1).max().item() / 2
    assert question.options[question.answer].text.startswith("It keeps more" if kept else "It loses more")
    gone = NeuronOff(off.neuron, off.activation, 0.8, 0.1)
    asked = blank_checks.one_neuron_off(run, 3, 1, gone)
    assert asked is not None and asked.options[asked.answer].text.startswith("It loses more")
    assert blank_checks.one_neuron_off(run, 3, 1, NeuronOff(off.neuron, 1.0, 0.8, 0.4)) is None


@pytest.mark.parametrize("name", ["lab-minilm", "lab-bert", "lab-gpt2"])
def test_another_vector_at_one_token_reaches_that_token_alone(name: str) -> None:
    run = trace(load_model(name), "She opened the door.")
    question = blank_checks.another_word(run, 2, 1)
    assert question is not None and question.options[question.answer].text == "At this token alone"
    assert len(run) > 3 and (name != "lab-gpt2" or blank_checks.another_word(trace(run.model, "She"), 2, 0) is None)
