"""Tokens in effect: by PyTorch's entropy, and what is written of the course's sentence by Hugging Face."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from lab.analysis.heads.metrics import effective_keys
from lab.lessons.attention_metrics import effective
from lab.lessons.attention_metrics.effective import STORY, THREE, at_how_many, by_hand, one_weight_more
from lab.models.trace import Trace
from lab.questions.asking import Spot
from tests.analysis.matrices import random_attention
from tests.lessons.attention_metrics.conftest import Told

MARKS = {"[CLS]", "[SEP]", "."}


def entropy_of(maps: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(torch.distributions.Categorical(probs=torch.from_numpy(maps)).entropy().numpy())


def test_the_table_of_three_weights_is_that_of_torch() -> None:
    for line, (_, weights) in zip(by_hand().splitlines()[2:], THREE, strict=True):
        entropy = float(entropy_of(np.array(weights)))
        assert f"| {entropy:.2f} | {np.exp(entropy):.1f} |" in line


def test_a_head_looks_at_as_many_tokens_as_told(trace: Trace, maps: NDArray[np.float64]) -> None:
    entropy = entropy_of(maps)
    for layer, head, query in ((0, 0, len(trace) - 1), (2, 3, 1)):
        told = effective.reading(Spot(trace, layer, head, query, 0))
        own = entropy[layer, head, query]
        assert [float(each) for each in re.findall(r"\d+\.\d+", told)] == pytest.approx(
            [np.exp(own), own, own, np.exp(own)], abs=0.051
        )
    figure = effective.sharpest(trace, 0, 0, len(trace) - 1).table()
    order = np.sort(np.exp(entropy[:, :, -1]), axis=None)[: len(figure)]
    assert figure.iloc[:, -1].tolist() == pytest.approx(order.tolist(), abs=1e-3)


def test_a_row_that_is_even_over_k_tokens_looks_at_k() -> None:
    """By hand: the entropy of k equal weights is ln k."""
    rows = np.stack([np.eye(4)[0], [0.5, 0.5, 0, 0], np.full(4, 1 / 4), [0, 0.5, 0, 0.5]])
    assert effective_keys(rows[None])[0] == pytest.approx([1, 2, 4, 2])


def test_what_is_written_of_the_sharpest_rows(told: Told) -> None:
    blank = told.tokens.index("[MASK]")
    keys = np.exp(entropy_of(told.maps[:, :, blank]))
    order = [tuple(int(i) for i in divmod(int(at), 12)) for at in np.argsort(keys, axis=None)[:10]]
    best = {head: told.tokens[int(told.maps[head][blank].argmax())] for head in order}
    assert order[:3] == [(0, 2), (2, 9), (5, 3)] and [best[each] for each in order[:3]] == ["[MASK]", "[CLS]", "france"]
    words = [head for head, token in best.items() if token not in MARKS | {"[MASK]"}]
    assert len(words) == 3 and {best[each] for each in best if each not in words} == {"[CLS]", "[MASK]"}
    said = " ".join(STORY.split())
    assert "three look at another word" in said and "seven at [CLS]" in said
    asked = at_how_many()
    assert asked is not None and asked.options[asked.answer].text == f"At {keys[5, 3]:.1f}"
    assert told.maps[5, 3, blank, told.tokens.index("france")] == pytest.approx(0.96, abs=0.005)


def test_a_row_gets_narrower_as_its_largest_weight_grows() -> None:
    weights = random_attention(3, 1, 9, False)[0]
    grown = weights.copy()
    grown[4, grown[4].argmax()] += 0.2
    grown /= grown.sum(-1, keepdims=True)
    before, after = (float(effective_keys(each[None])[0, 4]) for each in (weights, grown))
    asked = one_weight_more()
    assert after < before and asked is not None and asked.options[asked.answer].text == "It gets smaller"
