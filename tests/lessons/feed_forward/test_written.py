"""What lesson 8 says of the course's sentence, computed again by Hugging Face; and what it reads on other runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

from lab.analysis.layers.feed_forward import TRIED, neurons_off
from lab.course.sentences.looks import STORY_TEXT
from lab.course.words import quoted
from lab.evidence import story
from lab.lessons.feed_forward import excited_by, in_the_blank, neurons, plan, residual
from lab.lessons.feed_forward.view import FAVOURITE, FeedForwardView
from lab.models.ablation import ablate_each_neuron
from lab.models.forward import vocabulary_logits
from lab.models.interventions import Interventions
from lab.models.loading import load_model
from lab.models.trace import Trace, trace
from tests.lessons.feed_forward.story import BLANK, finished_survey, in_theirs, likeliest
from tests.sentences import BOYS, CAT
from tests.told import numbers

LAST = 5


@pytest.fixture(scope="module")
def run() -> Trace:
    return trace(load_model("lab-minilm"), STORY_TEXT)


def view_of(run: Trace, layer: int, token: int, neuron: int = 0) -> FeedForwardView:
    return FeedForwardView(Any, run, run.layer(layer), token, neuron, of_toy=False)  # type: ignore[arg-type]


def caught(names: tuple[str, ...], layer: int) -> dict[str, torch.Tensor]:
    """What modules of Hugging Face's layer put out on the course's sentence, at the blank."""
    theirs, found = in_theirs(), dict[str, torch.Tensor]()
    for name in names:
        theirs.block(layer).get_submodule(name).register_forward_hook(
            lambda _module, _inputs, output, name=name: found.__setitem__(name, output[0, BLANK])
        )
    theirs.run(STORY_TEXT)
    return found


def test_the_plan_has_the_lengths_and_the_words_of_hugging_face(run: Trace) -> None:
    added = caught(("attention.output.dense", "output.dense"), LAST)
    theirs = in_theirs()
    (best, before), *_ = likeliest(theirs)
    theirs.written_by_neurons(LAST)[:] = 0
    (other, after), *_ = likeliest(theirs)
    said = plan.said(view_of(run, LAST, BLANK))
    assert numbers(said) == pytest.approx([before, after], abs=0.006)
    lengths = plan.layer_plan(run, LAST, BLANK).table().iloc[:, 0]
    assert [lengths["Self-attention"], lengths["Feed-forward"]] == pytest.approx(
        [float(each.norm()) for each in added.values()], abs=1e-3
    )
    assert (
        f"{quoted(best)} (" in said
        and f"{quoted(other)} (" in said
        and "the capital comes first in none of 37 countries" in " ".join(said.split())
    )
    with_it, without = (plan.best_words(run, LAST, BLANK, network=each).table() for each in (True, False))
    assert next(iter(with_it.index)) == best and list(without.index)[:2] == ["france", "french"]


def test_without_the_network_the_and_a_comma_lead_in_most_other_sentences(run: Trace) -> None:
    known, theirs = story.known(run.model), in_theirs()
    assert known is not None
    theirs.written_by_neurons(LAST)[:] = 0
    texts = [story.SENTENCE.format(row.country).replace(story.BLANK, "[MASK]") for row in known.named]
    best = [likeliest(theirs, text)[0][0] for text in texts]
    assert sum(each in ("the", ",") for each in best) > 0.9 * len(best) > 30
    capitals = [dict(story.capitals())[row.country].lower() for row in known.named]
    assert not any(each == capital for each, capital in zip(best, capitals, strict=True))
    assert plan.counts(known) == {"count": len(best), "capitals": "none", "countries": "two"}
    countries = [row.country.lower() for row in known.named]
    assert sum(each == country for each, country in zip(best, countries, strict=True)) == 2


@pytest.mark.parametrize("name", ["lab-minilm", "lab-bert", "lab-gpt2"])
def test_nothing_is_concluded_about_other_runs(name: str) -> None:
    other = trace(load_model(name), CAT if name == "lab-minilm" else "The capital of France is")
    view = view_of(other, 1, 2)
    where, steps = list(residual.norms(other, 1, 2).items())[-1]
    for told, written in (
        (plan.said(view), plan.WRITTEN),
        (residual.said(view, where, steps), residual.WRITTEN),
    ):
        assert numbers(told) and written.strip()[:30] not in told
    assert not residual.counts(view)
    assert (view.says is None) == (name != "lab-gpt2")


def test_the_counted_neurons_are_those_of_hugging_face(run: Trace) -> None:
    found = caught(("intermediate.dense", "intermediate"), LAST)
    sums, active = found["intermediate.dense"], found["intermediate"]
    assert run.layer(LAST).ffn_hidden[BLANK].gt(0).sum() == (sums > 0).sum() > 100
    assert active.min() >= -0.1701 and active[sums > 3].sub(sums[sums > 3]).abs().max() < 0.01
    below = active[sums < 0].numpy() @ in_theirs().written_by_neurons(LAST)[sums < 0].numpy()
    assert abs(active[sums < 0]).max() < 0.18 and float((below**2).sum() ** 0.5) > 5, "many of them add up"
    assert "below 0: the least" in neurons.HOLDS_BACK["gelu"]


def test_the_neuron_of_excited_by_fires_where_the_text_says() -> None:
    survey = finished_survey()
    common = survey.commonest(*FAVOURITE)
    assert common is not None and common.repeats == common.strongest == 12
    assert common.hits < common.occurs / 2 and common.hits >= common.excited - 2
    shown = "\n".join(excited_by._marked(survey, each) for each in survey.most_excited(*FAVOURITE))
    assert "president :blue-background[of] the United States" in shown and "capital :blue-background[of]" in shown
    model = load_model("lab-minilm")
    (flowers,) = [each.text for each in survey.encodings if "full of flowers" in each.text]
    for text, fires in ((flowers, False), (STORY_TEXT, True)):
        other = trace(model, text)
        active = other.layer(FAVOURITE[0]).ffn_activation[other.tokens.index("of"), FAVOURITE[1]]
        assert (active > 0) == fires


def test_x_counts_in_the_last_sum(run: Trace) -> None:
    """Hugging Face's last LayerNorm gets what the network adds, without x."""
    theirs = in_theirs()
    module: Any = theirs.block(LAST).get_submodule("output")
    before = likeliest(theirs)[0]
    module.forward = lambda hidden, _x: module.LayerNorm(module.dense(hidden))
    after = dict(likeliest(theirs))
    found = residual.without_x(run, BLANK)
    assert before[0] == "paris" and found == pytest.approx((before[1], after["paris"]), abs=1e-4)
    assert found[1] < found[0] / 2
    where, steps = list(residual.norms(run, LAST, BLANK).items())[-1]
    said = residual.said(view_of(run, LAST, BLANK), where, steps)
    added = caught(("output.dense", "attention.output", "attention.output.dense", "output"), LAST)
    x, total = run.hidden_states[LAST][BLANK], added["output.dense"] + added["attention.output"]
    lengths = [
        added["attention.output.dense"].norm() / x.norm(),
        added["output.dense"].norm() / added["attention.output"].norm(),
    ]
    wanted = [*lengths, total.norm(), torch.tensor(384.0).sqrt(), added["output"].norm()]
    assert numbers(said)[:5] == pytest.approx([float(each) for each in wanted], abs=0.06)
    assert numbers(residual.counts(view_of(run, LAST, BLANK)))[1:] == pytest.approx(found, abs=0.006)
    last = numbers(residual.one_number(steps))
    assert last[-1] == pytest.approx(steps.output[residual.farthest(steps)], abs=1e-4)


def test_no_single_neuron_of_layer_6_turns_paris_and_one_matters(run: Trace) -> None:
    every = ablate_each_neuron(run, LAST, tuple(range(run.model.config.ffn_width)))[:, BLANK]
    logits = vocabulary_logits(every, run.model.vocabulary_head, run.model.config)
    best = int(run.logits(BLANK).argmax())
    assert {int(each.argmax()) for each in logits} == {best}
    found = neurons_off(run, BLANK, LAST)
    theirs = in_theirs()
    theirs.written_by_neurons(LAST)[found[0].neuron] = 0
    word, left = likeliest(theirs)[0]
    assert word == "paris" and left == pytest.approx(found[0].after, abs=1e-4)
    assert found[0].after < 0.8 * found[0].before
    said = in_the_blank.said(run, BLANK, LAST, found[0].neuron)
    assert "another one 0 times" in said and "1,536 neurons turns *paris* alone" in said


@pytest.mark.parametrize(("name", "text", "place"), [("lab-minilm", BOYS, 3), ("lab-gpt2", "She gave her brother", 3)])
def test_without_a_neuron_the_word_s_probability_is_that_of_a_run_without_it(name: str, text: str, place: int) -> None:
    other = trace(load_model(name), text)
    found = neurons_off(other, place, 3)
    assert len(found) == TRIED
    off = Interventions(zero_neurons=frozenset({(3, found[0].neuron)}))
    logits = trace(other.model, text, None, off).logits(place).double()[0]
    best = int(other.logits(place).argmax())
    assert found[0].after == pytest.approx(logits.softmax(-1)[best].item(), abs=1e-5)
    assert found[0].then == int(logits.argmax())
    said = in_the_blank.said(other, place, 3, found[0].neuron)
    assert numbers(said) == pytest.approx([found[0].before, found[0].after], abs=0.0006)
    assert "alone." not in said.replace("switched off alone;", "")


def test_the_story_is_told_at_its_layer_and_its_blank_alone(run: Trace) -> None:
    assert view_of(run, LAST, BLANK).in_story
    assert not view_of(run, 2, BLANK).in_story and not view_of(run, LAST, 3).in_story
    assert not replace(view_of(run, LAST, BLANK), trace=plan.network_off(run, 1)).in_story
