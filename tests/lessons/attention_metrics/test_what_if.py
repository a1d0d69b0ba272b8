"""What happens if: the numbers in the answers are those of a second run, read off Hugging Face's attention here."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from transformers import BertModel

from lab.analysis.heads.metrics import trace_metrics
from lab.lessons.attention_metrics import what_if
from lab.models.loading import EMBEDDED, load_model
from lab.models.trace import Trace, trace

HERE = "She gave her brother the book that he wanted."
THERE = "The cat sat on the mat because it was tired."


@cache
def run(text: str) -> Trace:
    return trace(load_model("lab-bert"), text)


@cache
def attention(text: str) -> NDArray[np.float64]:
    """(L, H, n, n), Hugging Face's."""
    traced = run(text)
    with torch.inference_mode():
        theirs = BertModel.from_pretrained(EMBEDDED / "lab-bert", attn_implementation="eager")
        out = theirs(torch.tensor([traced.token_ids]), output_attentions=True)
    return torch.stack(out.attentions)[:, 0].double().numpy()


def spread(text: str) -> NDArray[np.float64]:
    weights = attention(text)
    entropy = -(weights * np.log(np.clip(weights, 1e-12, None))).sum(-1).mean(-1)
    return np.asarray(entropy / math.log(weights.shape[-1]))


@pytest.mark.parametrize("head", [(0, 4), (1, 2), (3, 7)])
def test_where_a_head_stands_on_another_sentence(head: tuple[int, int]) -> None:
    values = [trace_metrics(run(text)).corrected["spread"] for text in (HERE, THERE)]
    question = what_if.another_sentence(head, values[0], values[1], THERE)
    assert question is not None
    order = np.argsort(-spread(THERE).ravel())
    rank = int(np.flatnonzero(order == np.ravel_multi_index(head, (4, 8)))[0])
    assert question.answer == 3 * rank // 32
    assert f"there is {spread(THERE)[head]:.2f}, here {spread(HERE)[head]:.2f}" in question.options[0].why


@pytest.mark.parametrize("head", [(0, 4), (1, 2), (3, 7)])
def test_a_text_said_twice(head: tuple[int, int]) -> None:
    once, twice = (float(attention(text)[head].max(-1).mean()) for text in (HERE, f"{HERE} {HERE}"))
    own = [float(trace_metrics(run(text)).raw["confidence_avg"][head]) for text in (HERE, f"{HERE} {HERE}")]
    question = what_if.said_twice(head, *own)
    if question is None:
        assert abs(abs(twice - once) - 0.05) < 0.011
        return
    assert f"from {once:.2f} to {twice:.2f}" in question.options[0].why
    text = question.options[question.answer].text
    assert text.startswith("It rises" if twice - once > 0.05 else "It falls" if twice - once < -0.05 else "It stays")


def test_an_even_row_has_one_after_the_division() -> None:
    question = what_if.why_divided(12)
    assert question is not None and what_if.why_divided(1) is None
    even = np.full(12, 1 / 12)
    assert f"{-(even * np.log(even)).sum():.2f} nats" in question.options[question.answer].why


def test_too_few_heads_have_no_thirds() -> None:
    assert what_if.third(np.zeros((1, 2)), (0, 0)) is None
    assert what_if.third(np.arange(6.0).reshape(2, 3), (1, 2)) == 0
    assert what_if.third(np.arange(6.0).reshape(2, 3), (0, 0)) == 2
