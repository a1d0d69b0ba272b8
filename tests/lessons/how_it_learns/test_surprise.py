"""The loss of a long text: the mean is over the tokens that it names, in every kind of model."""

from __future__ import annotations

import re

import pytest

import lab
from lab.analysis.words.likelihood import scored, scored_places
from lab.analysis.words.surprise import MOST, sentence_loss
from lab.lessons.how_it_learns.surprise import said_of_sentence

LONG = "The rain came too late, and then it did not stop for a week. " * 3


@pytest.mark.parametrize("name", ["lab-minilm", "lab-bert", "lab-gpt2"])
@pytest.mark.parametrize("text", [LONG, f"[MASK] {LONG}"])
def test_a_mean_over_a_part_of_the_text_names_this_part(name: str, text: str) -> None:
    trace = lab.trace(lab.load_model(name), text)
    found = sentence_loss(trace)
    assert found is not None and not found.whole
    told = re.search(r"The mean of (\d+) tokens, from token (\d+) to token (\d+),", said_of_sentence(found))
    assert told is not None
    count, first, last = map(int, told.groups())
    within = [place for place in scored_places(trace.model, trace.encoding) if first - 1 <= place <= last - 1]
    assert count == MOST == len(within) and first > 1
    wanted = {each.place: each.log_probability for each in scored(trace, MOST).scores}
    assert set(within) == set(wanted)
    mean = -sum(wanted.values()) / count
    assert f"is **{mean:.2f}**" in said_of_sentence(found)


def test_a_short_text_is_measured_whole() -> None:
    found = sentence_loss(lab.trace(lab.load_model("lab-gpt2"), "The rain came."))
    assert found is not None and found.whole and "tokens" not in said_of_sentence(found)
