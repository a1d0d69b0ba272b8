"""The marks of the loss curve: each is where the loss says, and its name is whole."""

from __future__ import annotations

import math

import pytest

import lab
from lab.lessons.how_it_learns.surprise import curve, losses


@pytest.mark.parametrize("name", ["lab-minilm", "lab-bert"])
def test_each_mark_has_its_whole_name_and_its_place(name: str) -> None:
    model = lab.load_model(name)
    mask = model.mask
    assert mask is not None
    trace = lab.trace(model, f"The fish swam in the {mask[0]}.")
    place, word = trace.token_ids.index(mask[1]), model.tokenizer.token_to_id("water")
    assert word is not None
    found, told = losses(trace, place, word), curve(trace, place, word).alt
    assert "…" not in told
    own, guess = found["this model"], math.log(model.config.vocabulary)
    assert f"this model at probability of the right word {math.exp(-own):.6g}: {own:.2f}" in told
    assert abs(found["random weights"] - guess) < 1 and "random weights at" in told and "a guess at" not in told
