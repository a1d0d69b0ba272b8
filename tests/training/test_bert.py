"""The shipped BERTs hold to their bars, on text they never saw (``python -m training.evaluation.bert``).

A few hundred windows are drawn, the same ones every time. A bar has to be held by the lower end of the 95 % interval
that so many cases leave, so the small sample makes no test easier to pass.
"""

from __future__ import annotations

import json
from math import sqrt

import pytest
import torch
from tokenizers import Tokenizer
from transformers import BertForPreTraining

from lab.models.loading import EMBEDDED, load_model
from tests.thorough import at_night
from training.card import BASE_GRAMMAR, grammar
from training.card_parts import residual_stream
from training.corpus import TokenCorpus
from training.evaluation import folder_bytes, weights_hash
from training.evaluation.bert import AFTER_THE, BLANKS, masked_score, next_sentence_accuracy, shipped
from training.evaluation.grammar import RELATIONS, table
from training.evaluation.heads import head_patterns, sentences
from training.evaluation.residual import residual
from training.evaluation.whole_words import MODELS, RECORD

Shipped = tuple[BertForPreTraining, TokenCorpus, Tokenizer]
ROWS, PAIRS = 400, 200
# Bytes of the folder, the lens with it; top 1, top 5 and next sentences at least.
BARS = {"lab-bert": (20_000_000, 0.34, 0.53, 0.75), "lab-minilm": (49_000_000, 0.45, 0.65, 0.88)}
CARDS = {model_id: (EMBEDDED / model_id / "MODEL_CARD.md").read_text("utf-8") for model_id in BARS}


@pytest.fixture(scope="module", params=BARS)
def model_id(request: pytest.FixtureRequest) -> str:
    torch.set_num_threads(1)
    return str(request.param)


@pytest.fixture(scope="module")
def model(model_id: str) -> Shipped:
    return shipped(model_id)


def at_least(share: float, cases: int) -> float:
    """The lower end of the 95 % interval of a share (normal approximation)."""
    return share - 1.96 * sqrt(share * (1 - share) / cases)


def test_it_fits(model_id: str) -> None:
    assert folder_bytes(EMBEDDED / model_id) <= BARS[model_id][0]
    assert (EMBEDDED / model_id / "model.safetensors").stat().st_size <= 46_000_000


@at_night
def test_it_fills_masks(model_id: str, model: Shipped) -> None:
    found = masked_score(*model, None, ROWS)
    assert found.positions > 2500
    assert at_least(found.top_1, found.positions) >= BARS[model_id][1]
    assert at_least(found.top_5, found.positions) >= BARS[model_id][2]


@at_night
def test_it_tells_next_sentences_from_random_ones(model_id: str, model: Shipped) -> None:
    assert at_least(next_sentence_accuracy(*model, PAIRS), PAIRS) >= BARS[model_id][3]


def test_the_small_one_s_heads_are_there_to_be_found() -> None:
    found = head_patterns("lab-bert", 50)
    for pattern, bar in (("previous_token", 0.5), ("next_token", 0.5), ("delimiter", 0.6)):
        assert found[pattern]["score"] > bar, pattern
    # A head is called broad above 0.9; the second version has 0.897 (training/NOTES.md).
    assert found["first_layer_broad"] > 0.89


@at_night
def test_the_encoder_kept_its_grammar() -> None:
    """Better than the encoder before in the mean of the seven relations, and in each above the best fixed distance."""
    base = json.loads(BASE_GRAMMAR.read_text("utf-8"))["found"]
    found = table(load_model("lab-minilm"))
    assert found["mean"]["best"] >= max(base["mean"]["best"], 0.64)
    assert all(found[relation]["best"] > found[relation]["offset"] + 0.1 for relation in RELATIONS)
    assert grammar(found, base) in CARDS["lab-minilm"]


def test_whole_words_are_found_more_often_by_the_encoder_also_in_text_from_elsewhere() -> None:
    """Issue 13: better by four points in both. The other text is not here; its record names the file it was."""
    record = json.loads(RECORD.read_text("utf-8"))
    for key in ("top_1", "top_5"):
        assert record["found"]["lab-minilm"][key] >= record["found"]["lab-bert"][key] + 0.04
    assert record["weights"] == {each: weights_hash(each) for each in MODELS}


def test_the_card_holds_the_blanks(model_id: str) -> None:
    assert len(BLANKS) == 12 and len(AFTER_THE) == 10
    assert all(blank in CARDS[model_id] for blank in BLANKS)


@at_night
def test_the_card_says_what_is_odd_in_its_residual_stream(model_id: str) -> None:
    assert residual_stream(residual(model_id)) in CARDS[model_id]


def test_what_is_odd_in_the_small_one_is_told() -> None:
    assert "Layer 3 is nearly silent for words" in CARDS["lab-bert"]
    assert "Layers 1, 2 and 4 add more than 10 times" in CARDS["lab-bert"]


def test_the_sentences_are_many_and_of_many_sources() -> None:
    assert len(sentences()) == len(set(sentences())) == 200
