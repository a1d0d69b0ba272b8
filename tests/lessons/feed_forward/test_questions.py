"""Every question of the feed-forward lesson: its right answer found again by another way."""

from __future__ import annotations

import re

import pytest
import torch

import lab
from lab.lessons.feed_forward import check
from lab.lessons.feed_forward.check import SHOWN, in_story, look_at
from lab.lessons.feed_forward.excited_by import what_a_list_shows
from lab.lessons.feed_forward.neurons import without_function
from lab.lessons.feed_forward.plan import without_network
from lab.lessons.feed_forward.residual import scaled_input, without_sum
from lab.lessons.feed_forward.view import FAVOURITE
from lab.models.encoding import TextError
from lab.models.loading import load_model
from lab.models.trace import Trace, trace
from lab.questions.asking import Asking, Spot
from lab.questions.question import Option
from tests.lessons.feed_forward.story import finished_survey, in_theirs, likeliest
from tests.sentences import CAT


@pytest.fixture(scope="module")
def run() -> Trace:
    return trace(load_model("lab-minilm"), CAT)


def answer(asking: Asking, run: Trace) -> Option:
    question = asking(Spot(run, 1, 0, 1, 1))
    assert question is not None
    return question.options[question.answer]


def test_without_the_network_of_layer_6_the_capital_is_lost_and_the_country_is_there(run: Trace) -> None:
    """Hugging Face, with the neurons of the layer written out of its second matrix."""
    theirs = in_theirs()
    theirs.written_by_neurons(5)[:] = 0
    words = [word for word, _ in likeliest(theirs)]
    assert answer(without_network, run).text.startswith("No: *france* itself comes first")
    assert words[:2] == ["france", "french"]
    assert "paris" not in words


@pytest.mark.parametrize("name", ["lab-minilm", "lab-bert", "lab-gpt2"])
def test_without_the_function_two_matrices_are_one(name: str) -> None:
    """By the weights: x W₁ W₂ is x times one matrix of the model's width."""
    run = trace(load_model(name), CAT)
    weights, x = run.layer(1).weights, run.layer(1).input.double()
    one = weights.w_1.double() @ weights.w_2.double()
    torch.testing.assert_close((x @ weights.w_1.double()) @ weights.w_2.double(), x @ one)
    assert answer(without_function, run).text == "The two matrices could do no more than one matrix"


def test_layer_norm_of_ten_times_a_vector_is_that_of_the_vector(run: Trace) -> None:
    x = run.layer(2).input.double()
    torch.testing.assert_close(*(torch.nn.functional.layer_norm(f * x, x.shape[-1:], eps=1e-12) for f in (1, 10)))
    assert answer(scaled_input, run).text == "The same numbers as before"


def test_without_the_sum_nothing_of_the_vector_is_left(run: Trace) -> None:
    """If a token gives its whole attention to another one, what attention brings does not depend on its own value."""
    values = run.layer(2).value.double()
    elsewhere, changed = torch.zeros(len(run), dtype=torch.float64), values.clone()
    elsewhere[1] = 1
    changed[:, 3] += 1
    assert torch.equal(elsewhere @ values, elsewhere @ changed)
    assert answer(without_sum, run).text == "What the vector said about its own token"


def test_a_list_of_the_strongest_shows_only_where_a_neuron_fires(run: Trace) -> None:
    """The lesson's own neuron fires at each token of its list, but not wherever its favourite token occurs."""
    survey = finished_survey()
    found, common = survey.most_excited(*FAVOURITE), survey.commonest(*FAVOURITE)
    assert common is not None and all(each.value > 0 for each in found) and common.hits < common.occurs
    assert answer(what_a_list_shows, run).text == "The neuron fires at *and* in these twelve places"


def test_the_challenge_refuses_what_the_list_has_shown(run: Trace) -> None:
    survey = finished_survey()
    before = {
        encoding.tokens[each.token - 1]
        for each in survey.most_excited(*FAVOURITE)
        for encoding in (survey.encodings[each.text],)
    }
    assert before == SHOWN
    assert not look_at(run.model, "The president of the United States spoke.").met


@pytest.mark.parametrize(
    ("entry", "met"),
    [
        ("The king of England died.", True),
        ("The mayor of London spoke.", True),
        ("A cup of tea.", False),
        ("The roof of the house is red.", False),
        ("She has no such word.", False),
        ("Of course he came.", False),
        ("<script> of $x$ **of**", False),
        ("مدينة of باريس", False),
    ],
)
def test_the_challenge_is_judged_by_the_neuron_s_activation(entry: str, met: bool) -> None:
    """By Hugging Face's activations, where there is an *of* after another word."""
    run = trace(load_model("lab-minilm"), entry)
    found, least = look_at(run.model, entry), in_story(run.model)
    theirs = in_theirs()
    caught: list[torch.Tensor] = []
    theirs.block(FAVOURITE[0]).get_submodule("intermediate").register_forward_hook(lambda *each: caught.append(each[2]))
    theirs.run(entry)
    values = [caught[0][0, at, FAVOURITE[1]].item() for at, token in enumerate(run.tokens) if token == "of" and at > 1]
    assert found.met is met is (max(values, default=0) > least)
    assert least == pytest.approx(1.19, abs=0.005)


def test_a_text_without_tokens_is_refused_by_the_lab(run: Trace) -> None:
    with pytest.raises(TextError):
        look_at(run.model, "\u200b")


def test_two_activations_that_differ_are_not_written_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    model, entry = lab.load_model("lab-minilm"), "The city of Spain"
    found = check.strongest(model, entry, SHOWN)
    assert found is not None
    monkeypatch.setattr(check, "in_story", lambda model: found[0] - 0.001)
    value, least = re.findall(r"\d\.\d+", look_at(model, entry).said)
    assert value != least
