"""The marks of the loss curve: each is where the loss says, and its name is whole."""

from __future__ import annotations

import math
import re

import pytest

import lab
from lab.lessons.how_it_learns.surprise import curve, losses, said


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


def test_the_logarithm_of_the_probability_as_it_is_written_is_the_loss_beside_it() -> None:
    model = lab.load_model("lab-minilm")
    assert model.mask is not None
    trace = lab.trace(model, f"The fish swam in the {model.mask[0]}.")
    place = trace.token_ids.index(model.mask[1])
    for word in ("water", "sea", "car", "idea", "purple", "seven", "the", "zoo"):
        told = said(trace, place, model.tokenizer.token_to_id(word) or 0)
        (p, loss) = re.findall(r"−ln (\S+) ≈ \*\*([\d.]+)\*\*", told)[0]
        assert -math.log(float(p)) == pytest.approx(float(loss), abs=0.0101), word
