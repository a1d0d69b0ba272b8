"""The shipped ``lab-gpt2`` holds to its bars, on text it never saw (``python -m training.evaluation.gpt2``)."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from training.card import residual_stream
from training.evaluation.gpt2 import FOLDER, PROMPTS, evaluate


@pytest.fixture(scope="module")
def figures() -> dict[str, Any]:
    torch.set_num_threads(1)
    return evaluate(windows=160)


def test_it_fits(figures: dict[str, Any]) -> None:
    assert figures["bytes"] <= 14_000_000
    assert figures["merges"] <= 8192


def test_it_expects_what_comes_next(figures: dict[str, Any]) -> None:
    # gzip needs about 2.6 bits for a byte of English prose, a perplexity of 6 per byte.
    assert figures["perplexity"]["per_byte"] < 3.3


def test_it_goes_on_in_words(figures: dict[str, Any]) -> None:
    added = []
    for prompt, text in zip(PROMPTS, figures["continuations"], strict=True):
        assert text.startswith(prompt)
        added.append(len(text.removeprefix(prompt).split()))
    assert sorted(added)[1] > 5  # one may end its sentence at once


def test_its_heads_are_there_to_be_found(figures: dict[str, Any]) -> None:
    assert figures["heads"]["previous_token"]["score"] > 0.5
    assert figures["heads"]["delimiter"]["score"] > 0.6  # the first token, in a causal model


def test_its_best_induction_head_does_more_than_a_uniform_one(figures: dict[str, Any]) -> None:
    assert figures["induction"]["score"] > 5 * figures["induction"]["uniform"]


def test_the_card_says_what_is_odd_in_its_residual_stream(figures: dict[str, Any]) -> None:
    said = residual_stream(figures["residual"])
    assert said in (FOLDER / "MODEL_CARD.md").read_text("utf-8")
    assert "Layer 1 adds more than 10 times" in said and "silent" not in said
