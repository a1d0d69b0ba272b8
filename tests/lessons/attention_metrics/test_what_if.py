"""What happens if: the numbers in the answers are those of a second run, read off Hugging Face's attention here."""

from __future__ import annotations

import math
import re
from functools import cache

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import BertModel

from lab.analysis.heads.metrics import trace_metrics
from lab.lessons.attention_metrics import what_if
from lab.models.loading import EMBEDDED, load_model
from lab.models.trace import Trace, trace
from tests.sentences import CAT, STORY


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


def third(text: str, head: tuple[int, int]) -> int:
    order = np.argsort(-spread(text).ravel())
    return 3 * int(np.flatnonzero(order == np.ravel_multi_index(head, (4, 8)))[0]) // 32


def test_what_two_texts_say_of_where_a_head_stands() -> None:
    values, agree = [trace_metrics(run(text)).corrected["spread"] for text in (STORY, CAT)], set()
    for head in np.ndindex(4, 8):
        question = what_if.another_sentence(head, values[0], values[1], CAT)
        assert question is not None
        thirds = [third(text, head) for text in (STORY, CAT)]
        told = re.findall("in the (middle third|third that looks at most|third that looks at fewest)", question.prompt)
        order = ("third that looks at most", "middle third", "third that looks at fewest")
        assert [order.index(each) for each in told] == thirds
        same = "in the same third" in question.options[question.answer].text
        assert same == (thirds[0] == thirds[1])
        assert f"is {spread(STORY)[head]:.2f} here, and {spread(CAT)[head]:.2f} there" in question.options[0].why
        agree.add(same)
    assert agree == {True, False}


def test_a_text_said_twice() -> None:
    asked = 0
    for head in np.ndindex(4, 8):
        numbers = [
            (float(weights[head].max(-1).mean()), 1 / weights.shape[-1])
            for weights in (attention(text) for text in (STORY, f"{STORY} {STORY}"))
        ]
        once, twice = (own / even for own, even in numbers)
        question = what_if.said_twice(head, *numbers)
        assert (question is None) == (abs(twice - once) < 0.2 * once)
        if question is not None:
            asked += 1
            assert question.options[question.answer].text.startswith("More" if twice > once else "Less")
            assert f"from {once:.1f} to {twice:.1f} times" in question.options[0].why
            for own, even in numbers:
                assert f"{own:.3f}" in question.prompt and f"{even:.3f}" in question.prompt
    assert asked


def test_an_even_row_has_one_after_the_division() -> None:
    question = what_if.why_divided(12)
    assert question is not None and what_if.why_divided(1) is None
    even = np.full(12, 1 / 12)
    assert f"{-(even * np.log(even)).sum():.2f} nats" in question.options[question.answer].why


def test_too_few_heads_have_no_thirds() -> None:
    assert what_if.third(np.zeros((1, 2)), (0, 0)) is None
    assert what_if.third(np.arange(6.0).reshape(2, 3), (1, 2)) == 0
    assert what_if.third(np.arange(6.0).reshape(2, 3), (0, 0)) == 2
