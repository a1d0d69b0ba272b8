"""The shipped ``lab-bert`` holds to its bars, on text it never saw (``python -m training.evaluation.bert``)."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from training.card import residual_stream
from training.evaluation.bert import AFTER_THE, BLANKS, FOLDER, evaluate
from training.evaluation.heads import sentences


@pytest.fixture(scope="module")
def figures() -> dict[str, Any]:
    torch.set_num_threads(1)
    return evaluate(rows=1500, rows_a_source=0)


def test_it_fits(figures: dict[str, Any]) -> None:
    assert figures["bytes"] <= 20_000_000


def test_it_fills_masks(figures: dict[str, Any]) -> None:
    assert figures["all"]["positions"] > 8000
    assert figures["all"]["top_1"] >= 0.34
    assert figures["all"]["top_5"] >= 0.53


def test_it_tells_next_sentences_from_random_ones(figures: dict[str, Any]) -> None:
    assert figures["next_sentence"] >= 0.75


@pytest.mark.parametrize(("pattern", "bar"), [("previous_token", 0.5), ("next_token", 0.5), ("delimiter", 0.6)])
def test_its_heads_are_there_to_be_found(figures: dict[str, Any], pattern: str, bar: float) -> None:
    assert figures["heads"][pattern]["score"] > bar


def test_its_first_layer_has_a_head_that_is_nearly_broad(figures: dict[str, Any]) -> None:
    # A head is called broad above 0.9; the second version has 0.897 (training/NOTES.md).
    assert figures["heads"]["first_layer_broad"] > 0.89


def test_the_card_holds_the_ten_blanks() -> None:
    card = (FOLDER / "MODEL_CARD.md").read_text("utf-8")
    assert len(BLANKS) == len(AFTER_THE) == 10
    assert all(blank in card for blank in BLANKS)


def test_the_card_says_what_is_odd_in_its_residual_stream(figures: dict[str, Any]) -> None:
    said = residual_stream(figures["residual"])
    assert said in (FOLDER / "MODEL_CARD.md").read_text("utf-8")
    assert "Layer 3 is nearly silent for words" in said
    assert "Layers 1, 2 and 4 add more than 10 times" in said


def test_the_sentences_are_many_and_of_many_sources() -> None:
    assert len(sentences()) == len(set(sentences())) == 200
