"""The built row: what is sent is the trace's, and a masked key is marked, whatever its score."""

from __future__ import annotations

import numpy as np
import pytest

import lab
from lab.charts.components.row_built import RowBuilt
from lab.lessons.self_attention.build_a_row import ROWS, row_built
from tests.charts.payloads import unpack
from tests.charts.samples import HOSTILE
from tests.sentences import STORY

VALUES = np.array([[1.0, 2.0], [3.0, -4.0]])


def built(**changes: object) -> RowBuilt:
    given = {
        "query": "a",
        "labels": ["a", "b"],
        "scores": [1.0, 2.0],
        "weights": [0.25, 0.75],
        "hidden": [False, False],
        "total": 1.0,
        "values": VALUES,
        "context": [2.5, -2.5],
    }
    return RowBuilt(**{**given, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize("model", ["lab-bert", "lab-gpt2"])
def test_what_is_sent_is_the_traces(model: str) -> None:
    traced = lab.trace(lab.load_model(model), STORY)
    header, arrays = unpack(row_built(traced, 1, 2, 5, 4).payload())
    layer, n = traced.layer(1), len(traced)
    assert header["labels"] == list(traced.labels)
    assert (arrays["values"] == layer.value[2].numpy()).all()
    np.testing.assert_allclose(arrays["weights"], layer.attention[2, 5].numpy(), atol=1e-6)
    np.testing.assert_allclose(arrays["context"], layer.context[2, 5].numpy(), atol=1e-5)
    np.testing.assert_allclose(arrays["scores"], (layer.query[2, 5] @ layer.key[2].T).numpy(), rtol=1e-4, atol=1e-4)
    assert arrays["hidden"].tolist() == [int(model == "lab-gpt2" and key > 5) for key in range(n)]
    assert header["total"] == pytest.approx(1, abs=1e-6) and header["root"] == pytest.approx(header["width"] ** 0.5)


def test_of_a_long_text_the_heaviest_keys_are_sent_and_the_sums_have_all() -> None:
    traced = lab.trace(lab.load_model("lab-bert"), "The word is here again. " * 20)
    header, arrays = unpack(row_built(traced, 0, 4, 7, 3).payload())
    weights = traced.layer(0).attention[4, 7].numpy()
    assert len(header["labels"]) == ROWS and header["rest"] == len(traced) - ROWS
    assert arrays["weights"].sum() < header["total"] == pytest.approx(1, abs=1e-6)
    assert np.sort(weights)[-ROWS + 1 :].min() <= np.sort(arrays["weights"])[-ROWS + 1 :].min()
    np.testing.assert_allclose(arrays["context"], traced.layer(0).context[4, 7].numpy(), atol=1e-5)


def test_text_is_made_harmless() -> None:
    header, _ = unpack(built(query=HOSTILE[0], labels=list(HOSTILE[:2])).payload())
    assert all("\n" not in text for text in (header["query"], *header["labels"]))


@pytest.mark.parametrize(
    "changes",
    [
        {"weights": [0.5, 1.5]},
        {"scores": [np.inf, 0.0]},
        {"values": VALUES * np.nan},
    ],
)
def test_what_cannot_be_a_row_is_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="row_built"):
        built(**changes)
