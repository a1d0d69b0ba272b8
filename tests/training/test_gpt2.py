"""The shipped ``lab-gpt2`` holds to its bars, on text it never saw (``python -m training.evaluation.gpt2``)."""

from __future__ import annotations

import pytest
import torch
from tokenizers import Tokenizer
from transformers import GPT2LMHeadModel

from tests.thorough import at_night
from training.card_parts import residual_stream
from training.corpus import TokenCorpus
from training.evaluation import folder_bytes
from training.evaluation.gpt2 import FOLDER, PROMPTS, continuation, merges, perplexity, shipped
from training.evaluation.heads import feeds_induction, head_patterns, induction
from training.evaluation.residual import residual

Shipped = tuple[GPT2LMHeadModel, TokenCorpus, Tokenizer]


@pytest.fixture(scope="module")
def model() -> Shipped:
    torch.set_num_threads(1)
    return shipped()


def test_it_fits() -> None:
    assert folder_bytes(FOLDER) <= 14_000_000
    assert merges() <= 8192


@at_night
def test_it_expects_what_comes_next(model: Shipped) -> None:
    # gzip needs about 2.6 bits for a byte of English prose, a perplexity of 6 per byte.
    found = perplexity(*model, windows=48)
    assert found["per_byte"] < 3.0
    assert found["per_token"] < 58  # 51.8 over 640 windows


@at_night
def test_it_goes_on_in_words(model: Shipped) -> None:
    added = []
    for prompt in PROMPTS:
        text = continuation(model[0], model[2], prompt, seed=1)
        assert text.startswith(prompt)
        added.append(len(text.removeprefix(prompt).split()))
    assert sorted(added)[1] > 5  # one may end its sentence at once


def test_its_heads_are_there_to_be_found() -> None:
    found = head_patterns("lab-gpt2", 50)
    assert found["previous_token"]["score"] > 0.5
    assert found["delimiter"]["score"] > 0.6  # the first token, in a causal model


def test_its_best_induction_head_does_more_than_a_uniform_one() -> None:
    found = induction("lab-gpt2")
    assert found["score"] > 5 * found["uniform"]


@at_night
def test_the_head_that_feeds_it_looks_at_the_token_before_and_is_needed() -> None:
    found, card = feeds_induction("lab-gpt2"), (FOLDER / "MODEL_CARD.md").read_text("utf-8")
    assert found["previous"] > 0.5 and found["without"] < found["with"] / 3
    assert f"fed by layer {found['layer']}, head\n{found['head']}, which" in card


@at_night
def test_the_card_says_what_is_odd_in_its_residual_stream() -> None:
    said = residual_stream(residual("lab-gpt2"))
    assert said in (FOLDER / "MODEL_CARD.md").read_text("utf-8")
    assert "Nothing is odd." in said
