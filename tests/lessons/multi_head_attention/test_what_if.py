"""What is asked by doing it is done here again, by Hugging Face's own switch for heads or on the weights themselves."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
import torch

import lab
from lab.analysis.heads.comparing import head_sum
from lab.analysis.words.masking import asked_run
from lab.course.words import plain, share
from lab.lessons.multi_head_attention import what_if
from lab.models.loading import LoadedModel
from lab.models.trace import Trace, trace_encoding
from lab.questions.question import Option, Question

TEXTS = ("She gave her brother the book that he wanted.", "The cat sat on the mat because it was tired.", "Dogs.")


@pytest.fixture(
    scope="module", params=[(model, text) for model in ("lab-minilm", "lab-bert", "lab-gpt2") for text in TEXTS]
)
def trace(request: pytest.FixtureRequest) -> Trace:
    model, text = request.param
    return lab.trace(lab.load_model(model), text)


def answer(question: Question | None) -> Option:
    assert question is not None
    return question.options[question.answer]


def without_rows(model: LoadedModel, layer: int, heads: set[int]) -> LoadedModel:
    """The same model whose W_O has zeros in the rows of these heads: another way to silence them."""
    weights = model.weights.layers[layer]
    w_o = weights.w_o.clone().unflatten(0, (model.config.heads, -1))
    w_o[list(heads)] = 0
    layers = list(model.weights.layers)
    layers[layer] = replace(weights, w_o=w_o.flatten(0, 1))
    return replace(model, weights=replace(model.weights, layers=tuple(layers)))


def probability(trace: Trace, place: int, word: int, layer: int = 0, heads: set[int] | None = None) -> float:
    run = trace if not heads else trace_encoding(without_rows(trace.model, layer, heads), trace.encoding)
    return float(run.logits(place)[0].double().softmax(-1)[word])


def side(value: float, low: float, high: float) -> str:
    if low < value < high:
        return f"Between {share(low)} and {share(high)}"
    return f"Less than {share(low)}" if value < low else f"More than {share(high)}"


def test_a_change_of_the_logarithm_is_that_of_silent_rows_of_w_o(trace: Trace) -> None:
    found = asked_run(trace)
    assert found is not None
    asked, place = found
    word = int(asked.logits(place)[0].argmax())
    told = 0
    for layer, head in ((0, 0), (1, 2), (2, 5), (3, 7), (0, 5), (1, 6)):
        question = what_if.change_of_log(asked, place, layer, head)
        before, after = (probability(asked, place, word, layer, off) for off in (None, {head}))
        change = float(np.log(after) - np.log(before))
        assert (question is None) == (abs(change) < 0.05) or abs(abs(change) - 0.05) < 1e-3
        if question is not None:
            told += 1
            assert f"{'less' if after < before else 'more'} probable" in answer(question).text
            assert f"from {share(before)} to {share(after)}" in answer(question).why
            said = re.search(r"changes by ([+−][\d.]+)\.", question.prompt)
            assert said is not None and float(said[1].replace("−", "-")) == pytest.approx(change, abs=0.006)
    assert told


def test_two_heads_off_are_run_together(trace: Trace) -> None:
    found = asked_run(trace)
    assert found is not None
    asked, place = found
    word = int(asked.logits(place)[0].argmax())
    for layer, head in ((0, 0), (1, 2)):
        question = what_if.both_off(asked, place, layer, head)
        if question is None:
            continue
        named = [int(each) - 1 for each in re.findall(r"head (\d)", question.prompt)]
        assert named[0] == head and len(named) == 2
        low, high = sorted(probability(asked, place, word, layer, {each}) for each in named)
        both = probability(asked, place, word, layer, set(named))
        assert answer(question).text == side(both, low, high)


def test_another_sentence_is_read_by_the_same_model(trace: Trace) -> None:
    def run(text: str) -> Trace:
        return lab.trace(trace.model, text)

    for layer, head in ((0, 1), (3, 0)):
        question = what_if.elsewhere(trace, run, layer, head)
        if question is None:
            continue
        text = re.findall("“\u2068(.+?)\u2069”", plain(question.prompt))[0]
        assert text != trace.text
        other = run(text)
        out = np.array(other.encoding.special) if any(other.encoding.special) else np.arange(len(other)) == 0
        parked = float(other.layer(layer).attention[head].numpy()[~out][:, out].sum(-1).mean())
        mine = lab.trace(trace.model, trace.text)
        own = np.array(mine.encoding.special) if any(mine.encoding.special) else np.arange(len(mine)) == 0
        here = float(mine.layer(layer).attention[head].numpy()[~own][:, own].sum(-1).mean())
        count = {"both": 2, "one": 1, "neither": 0}[answer(question).text.split()[4]]
        assert count == (here > 0.9) + (parked > 0.9)


def test_why_a_sum_is_shorter_is_asked_only_where_it_is(trace: Trace) -> None:
    for layer in (0, 2):
        added = head_sum(trace.layer(layer))
        for token in range(len(trace)):
            parts = torch.from_numpy(added.parts[:, token]).double()
            left = float(parts.sum(0).norm() / parts.norm(dim=-1).sum())
            question = what_if.together(trace, added, token)
            assert (question is None) == (left > 0.95)
            if question is not None:
                right = float(parts.square().sum().sqrt() / parts.norm(dim=-1).sum())
                assert "do not all point the same way" in answer(question).text
                assert (
                    answer(question).why.startswith(f"{left:.0%}") and f"would be {right:.0%}." in answer(question).why
                )


def test_why_there_are_several_heads_and_where_one_is_switched_off(trace: Trace) -> None:
    config = trace.model.config
    several, after = what_if.why_several(config), what_if.after_w_o(config, 2)
    assert "several sets at once" in answer(several).text and "every head" in answer(after).text
    assert after is not None and any("Dimensions 65 to 96" in option.why for option in after.options)
