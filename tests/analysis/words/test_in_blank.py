"""The loss of a blank, against torch's cross-entropy."""

from __future__ import annotations

import gc
import math

import pytest
import torch
from torch.nn import functional

from lab.analysis.words.in_blank import guessing, surprise, untrained_prediction
from lab.analysis.words.predictions import prediction_at
from lab.models import twin
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


def test_random_weights_know_nothing() -> None:
    run = trace(load_model("lab-bert"), TEXT)
    every = range(1000, 3000)
    losses = [surprise(untrained_prediction(run, 3), each) for each in every]
    assert sum(losses) / len(every) == pytest.approx(guessing(run.model.config.vocabulary), abs=0.6)


def test_the_untrained_weights_go_when_their_prediction_is_there() -> None:
    """A run of them that was kept would hold a second model for as long as the first one's run is there."""
    run = trace(load_model("lab-bert"), TEXT)
    untrained_prediction(run, 2)
    gc.collect()
    assert not [key for key in twin._DRAWN if key[0] is run.model]
