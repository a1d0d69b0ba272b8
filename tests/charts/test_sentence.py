"""The sentence as a control: what is sent is the trace's, and a long text is a window."""

from __future__ import annotations

import numpy as np
import pytest

import lab
from lab.charts.components.sentence_control import Relation, SentenceRow
from lab.figures.sentence_arcs import DRAWN, sentence
from tests.charts.payloads import unpack
from tests.charts.samples import HOSTILE
from tests.sentences import STORY


def row(**changes: object) -> SentenceRow:
    given = {"labels": ["a", "b"], "special": [True, False], "count": 2, "chosen": 1}
    return SentenceRow(**{**given, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize("model", ["lab-bert", "lab-gpt2"])
def test_what_is_sent_is_the_traces(model: str) -> None:
    traced = lab.trace(lab.load_model(model), STORY)
    header, arrays = unpack(sentence(traced, 5, 4, of=(1, 2)).payload())
    assert header["labels"] == list(traced.labels) and header["special"] == list(traced.encoding.special)
    assert (header["chosen"], header["other"], header["first"], header["count"]) == (5, 4, 0, len(traced))
    np.testing.assert_array_equal(arrays["weights"], traced.layer(1).attention[2].numpy())


def test_without_a_head_the_arcs_are_the_mean_over_the_layers_heads() -> None:
    traced = lab.trace(lab.load_model("lab-bert"), STORY)
    _, arrays = unpack(sentence(traced, 5, of=(1, None)).payload())
    np.testing.assert_allclose(arrays["weights"], traced.layer(1).attention.numpy().mean(0), atol=1e-6)
    np.testing.assert_allclose(arrays["weights"].sum(1), 1, atol=1e-5)


def test_a_row_without_arcs_has_no_numbers() -> None:
    header, arrays = unpack(sentence(lab.trace(lab.load_model("lab-bert"), STORY), 5).payload())
    assert not arrays and not header["arcs"]


def test_a_long_text_is_a_window_around_the_chosen_token() -> None:
    traced = lab.trace(lab.load_model("lab-bert"), "The word is here again. " * 30)
    chosen = 100
    relations = (Relation(chosen, chosen + 1, "inside"), Relation(0, chosen, "out"))
    header, arrays = unpack(sentence(traced, chosen, 0, of=(0, 1), relations=relations).payload())
    first = header["first"]
    assert len(header["labels"]) == DRAWN and header["count"] == len(traced) > 3 * DRAWN
    assert header["labels"] == list(traced.labels[first : first + DRAWN])
    assert first + header["chosen"] == chosen and header["other"] == -first
    assert header["relations"] == [[chosen - first, chosen - first + 1, "inside"]]
    right = traced.layer(0).attention[1].numpy()[first : first + DRAWN, first : first + DRAWN]
    np.testing.assert_array_equal(arrays["weights"], right)


def test_text_is_made_harmless_and_read_in_its_own_direction() -> None:
    header, _ = unpack(row(labels=list(HOSTILE[:2])).payload())
    assert all("\n" not in text for text in header["labels"])
    arabic = lab.trace(lab.load_model("lab-bert"), "السلام عليكم")
    assert unpack(sentence(arabic, 1).payload())[0]["direction"] == "rtl"


@pytest.mark.parametrize(
    "changes",
    [{"chosen": 2}, {"chosen": 0, "first": 1}, {"weights": np.ones((2, 3))}, {"weights": np.full((2, 2), 1.5)}],
)
def test_impossible_rows_are_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="sentence"):
        row(**changes)
