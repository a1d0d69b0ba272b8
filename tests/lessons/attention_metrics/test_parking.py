"""What is said of heads that park, held to the maps and to runs with one head off."""

from __future__ import annotations

import re

import numpy as np
import pytest

import lab
from lab.analysis.heads.parked import effect_sizes, parked_share
from lab.lessons.attention_metrics.parking import compared, parked_against_busy
from lab.models.interventions import Interventions
from lab.models.trace import Trace
from tests.sentences import STORY

TEXTS = (STORY, "Dogs bark.")


@pytest.fixture(scope="module", params=[(model, text) for model in ("lab-bert", "lab-gpt2") for text in TEXTS])
def trace(request: pytest.FixtureRequest) -> Trace:
    model, text = request.param
    return lab.trace(lab.load_model(model), text)


def shares_of(trace: Trace) -> np.ndarray:
    """By the maps themselves: rows of the words, columns of the tokens that say nothing about them."""
    aside = np.array(trace.encoding.special) if any(trace.encoding.special) else np.arange(len(trace)) == 0
    maps = np.stack([trace.layer(at).attention.numpy() for at in range(trace.model.config.layers)])
    return maps[:, :, ~aside][..., aside].sum(-1).mean(-1)


def test_the_share_is_that_of_the_words_rows(trace: Trace) -> None:
    np.testing.assert_allclose(parked_share(trace), shares_of(trace), atol=1e-5)


def test_effects_are_those_of_runs_without_the_head(trace: Trace) -> None:
    place = len(trace) - 2
    word = int(trace.logits(place)[0].argmax())
    found = effect_sizes(trace, place, word)
    for head in ((0, 3), (2, 5), (3, 0)):
        off = lab.trace(trace.model, trace.text, interventions=Interventions(zero_heads=frozenset({head})))
        chances = [run.logits(place)[0].double().softmax(-1)[word].log().item() for run in (trace, off)]
        assert found[head] == pytest.approx(abs(chances[1] - chances[0]), abs=1e-4)


def test_parked_heads_are_set_beside_the_others(trace: Trace) -> None:
    place = len(trace) - 2
    word = int(trace.logits(place)[0].argmax())
    said, effects, shares = compared(trace, place, word), effect_sizes(trace, place, word), shares_of(trace)
    parked = shares > 0.9
    if not parked.any():
        assert "No head parks here" in said
        assert f"({shares.max():.2f})" in said
        return
    inside, outside = effects[parked].mean(), effects[~parked].mean()
    assert f"{parked.sum()} head" in said
    numbers = [float(each) for each in re.findall(r"(?:is |most )(\d+\.\d\d)", said)]
    assert all(
        any(abs(each - value) < 0.006 for value in (inside, outside, effects[parked].max(), effects[~parked].max()))
        for each in numbers
    )


def test_what_is_said_follows_the_numbers() -> None:
    trace = lab.trace(lab.load_model("lab-bert"), TEXTS[0])
    shares, effects = np.array([[0.95, 0.99, 0.1, 0.2]]), np.array([[0.1, 0.1, 1.0, 0.6]])
    assert "is 0.10 on average, at most 0.10" in parked_against_busy(shares, effects, trace, "")
    assert "it is 0.80 on average, at most 1.00" in parked_against_busy(shares, effects, trace, "")
    tiny = parked_against_busy(shares, np.array([[0.001, 0.002, 1.0, 0.6]]), trace, "")
    assert "the change is always less than 0.01. Without" in tiny
    assert "No head parks" in parked_against_busy(shares / 2, effects, trace, "")
    assert "no other head" in parked_against_busy(shares * 0 + 1, effects, trace, "")
