"""What is asked by doing it is done here again, by Hugging Face's own switch for heads or on the weights themselves."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
import torch

import lab
from lab.analysis.heads.comparing import head_sum
from lab.analysis.words.masking import asked_run
from lab.course.words import share
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
                    answer(question).why.startswith(f"{left:.0%}") and f"would be {right:.0%};" in answer(question).why
                )


def test_several_heads_share_out_attention_several_times(trace: Trace) -> None:
    question = what_if.why_several(trace.model.config)
    assert "several sets at once" in answer(question).text
    rows = trace.layer(0).attention[:, 1]
    assert rows.sum(-1).allclose(torch.ones(len(rows)), atol=1e-5), "each head has a softmax of its own"
