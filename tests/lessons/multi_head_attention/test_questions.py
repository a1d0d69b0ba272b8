"""Every question of the lesson: exactly one right answer, recomputed here from the tensors."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import lab
from lab.analysis.heads.comparing import counted_parameters
from lab.lessons.multi_head_attention.all_heads import shares_of_heads, why_several
from lab.lessons.multi_head_attention.join import another_cut, together
from lab.lessons.multi_head_attention.one_head_off import first_moved, moved_after
from lab.models.interventions import Interventions
from lab.models.trace import Trace
from lab.models.trace import trace as run
from lab.questions.question import Option, Question
from lab.questions.returning import Spot
from lab.toy.models import random_toy
from lab.toy.recut import recut
from tests.sentences import CAT, KEYS, STORY

TEXTS = (STORY, CAT, "Dogs.")


@pytest.fixture(
    scope="module", params=[(model, text) for model in ("lab-minilm", "lab-bert", "lab-gpt2") for text in TEXTS]
)
def trace(request: pytest.FixtureRequest) -> Trace:
    model, text = request.param
    return lab.trace(lab.load_model(model), text)


@pytest.fixture(scope="module")
def keys() -> Spot:
    """The blank of the story, at the head that the course follows."""
    trace = lab.trace(lab.load_model("lab-minilm"), KEYS)
    place = trace.labels.index("[MASK]")
    return Spot(trace, 4, 10, place, place)


def answer(question: Question | None) -> Option:
    assert question is not None
    return question.options[question.answer]


def test_the_token_with_most_weight_of_all_heads_is_asked_about(trace: Trace) -> None:
    for query in range(len(trace)):
        column = trace.layer(1).attention[:, query].double().sum(0)
        asked = shares_of_heads(Spot(trace, 1, 0, query, 0))
        if trace.model.config.causal and query == 0:
            assert asked is None
        elif asked is not None:
            assert f"{float(column.max()):.2f}" in asked.prompt and "In each head, the weights" in answer(asked).text
        else:
            assert column.max() < 1.06
    assert trace.layer(1).attention.sum(-1).allclose(torch.ones(()), atol=1e-5), "each head has a softmax of its own"


def test_several_heads_share_out_attention_several_times(trace: Trace) -> None:
    spot = Spot(trace, 0, 0, 1, 0)
    asked, config = why_several(spot), trace.model.config
    assert "several sets at once" in answer(asked).text
    assert counted_parameters(trace.layer(0), config) == 4 * config.width * (config.width + config.biases)


def test_w_o_keeps_its_size_whatever_the_heads(trace: Trace) -> None:
    d = trace.model.config.width
    assert answer(another_cut(Spot(trace, 0, 0, 1, 0))).text.startswith(f"{d} × {d}")
    assert trace.layer(0).weights.w_o.shape == (d, d)


@pytest.mark.parametrize(("heads", "other"), [(1, 2), (4, 2), (32, 16)])
def test_w_o_of_a_toy_cut_in_another_way_is_as_large(heads: int, other: int) -> None:
    toy = random_toy(8, 8)
    trace = run(recut(toy, heads), "c e b")
    asked = another_cut(Spot(trace, 0, 0, 1, 0))
    assert asked is not None and f"among {other}" in asked.prompt
    assert answer(asked).text == "32 × 32, as it is now" and len({each.text for each in asked.options}) == 3
    assert recut(toy, other).weights.layers[0].w_o.shape == (32, 32)


def test_why_a_sum_is_shorter_is_asked_only_where_it_is(trace: Trace) -> None:
    for layer in (0, 2):
        at = trace.layer(layer)
        every = torch.einsum("hnk,hkd->hnd", at.context, at.weights.w_o.unflatten(0, (len(at.context), -1))).double()
        for token in range(len(trace)):
            parts = every[:, token]
            left = float(parts.sum(0).norm() / parts.norm(dim=-1).sum())
            asked = together(Spot(trace, layer, 0, token, 0))
            if abs(left - 0.95) > 1e-4:
                assert (asked is None) == (left > 0.95)
            if asked is not None:
                right = float(parts.square().sum().sqrt() / parts.norm(dim=-1).sum())
                assert "do not all point the same way" in answer(asked).text
                assert answer(asked).why.startswith(f"{left:.0%}") and f"would be {right:.0%}." in answer(asked).why


def test_first_moved_names_the_layers_that_moved(trace: Trace) -> None:
    assert answer(moved_after(0, 0, np.array([0, 0.1, 0.2, 0.3]))).text == "After layer 1 and all later layers"
    assert answer(moved_after(1, 0, np.array([0, 0, 0.2, 0.3]))).text == "After layer 2 and all later layers"
    assert answer(moved_after(2, 0, np.array([0, 0, 0, 0.3]))).text == "Only after layer 3"
    assert moved_after(0, 0, np.array([0, 0.1])) is None
    assert moved_after(0, 0, np.array([0, 0.0, 0.0])) is None
    off = lab.trace(trace.model, trace.text, interventions=Interventions(zero_heads=frozenset({(1, 0)})))
    moved = [not torch.equal(a, b) for a, b in zip(trace.hidden_states, off.hidden_states, strict=True)]
    assert moved == [False, False] + [True] * (trace.model.config.layers - 1)
    assert answer(first_moved(Spot(trace, 1, 0, 1, 0))).text == "After layer 2 and all later layers"


def test_one_head_asks_only_what_it_can() -> None:
    spot = Spot(run(recut(random_toy(8, 8), 1), "c e b"), 0, 0, 1, 0)
    assert shares_of_heads(spot) is None and together(spot) is None and why_several(spot) is None
    assert answer(another_cut(spot)).text == "32 × 32, as it is now"
