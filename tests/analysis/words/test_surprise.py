"""The loss of a blank and of a sentence, against torch's cross-entropy."""

from __future__ import annotations

import math

import pytest
import torch
from torch.nn import functional

from lab.analysis.words.masking import masked_run
from lab.analysis.words.predictions import prediction_at
from lab.analysis.words.surprise import MOST, guessing, sentence_loss, surprise, untrained_run
from lab.models.loading import load_model
from lab.models.trace import trace

TEXT = "She gave her brother the book that he wanted."


@pytest.mark.parametrize("name", ["lab-minilm", "lab-bert", "lab-gpt2"])
def test_the_loss_of_a_word_is_the_cross_entropy(name: str) -> None:
    run, place = trace(load_model(name), TEXT), 3
    for token_id in (5, 1000, int(run.logits([place]).argmax())):
        theirs = functional.cross_entropy(run.logits([place]).double(), torch.tensor([token_id])).item()
        assert surprise(prediction_at(run, place, None), token_id) == pytest.approx(theirs, abs=1e-9)
    assert guessing(run.model.config.vocabulary) == math.log(run.model.config.vocabulary)


def test_a_sentence_s_loss_is_the_mean_over_words_hidden_in_turn() -> None:
    run = trace(load_model("lab-bert"), TEXT)
    found = sentence_loss(run)
    assert found is not None and found.whole
    losses = [
        surprise(prediction_at(masked_run(run, (place,)), place, None), run.token_ids[place])
        for place, special in enumerate(run.encoding.special)
        if not special
    ]
    assert -found.trained.mean == pytest.approx(sum(losses) / len(losses), abs=1e-4)
    assert -found.untrained.mean == pytest.approx(found.guessing, abs=0.6)  # random weights know nothing
    assert untrained_run(run).token_ids == run.token_ids


def test_a_long_text_s_loss_is_that_of_its_first_tokens() -> None:
    found = sentence_loss(trace(load_model("lab-bert"), " ".join([TEXT] * 4)))
    assert found is not None and not found.whole and len(found.trained.scores) == MOST
    assert sentence_loss(trace(load_model("lab-bert"), "[MASK]")) is None
