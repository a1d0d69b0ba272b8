"""The bars that stand for the arcs of a sentence: the row of the attention, in the order of the text."""

from __future__ import annotations

import pytest

import lab
from lab.figures.attention import BARS, weights_from
from tests.sentences import STORY


@pytest.mark.parametrize("model", ["lab-minilm", "lab-gpt2"])
def test_the_bars_are_the_row(model: str) -> None:
    trace = lab.trace(lab.load_model(model), STORY)
    query = len(trace) - 2
    row = trace.layer(1).attention[2, query].tolist()
    assert weights_from(trace, 1, 2, query).table().iloc[:, 0].tolist() == pytest.approx(row, abs=1e-6)


def test_of_a_long_text_the_largest_weights_are_drawn() -> None:
    trace = lab.trace(lab.load_model("lab-minilm"), " ".join(["dog", "cat", "bird"] * 20))
    drawn = weights_from(trace, 1, 2, 5).table().iloc[:, 0].tolist()
    largest = sorted(trace.layer(1).attention[2, 5].tolist())[-BARS + 1 :]
    assert len(drawn) == BARS and sum(each >= min(largest) - 1e-6 for each in drawn) >= BARS - 1
