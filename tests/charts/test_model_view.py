"""What the model view sends: two bytes a cell, the trace's weights to four decimals, and the frames' values."""

from __future__ import annotations

import numpy as np
import pytest

from lab.analysis.heads.comparing import Thumbnails, cells_a_side, thumbnails
from lab.charts.components.head_view import STEPS
from lab.charts.components.model_view import Frames, ModelView
from lab.figures.attention import attention_map
from tests.charts.payloads import unpack
from tests.charts.samples import HOSTILE, traced_beside_hugging_face
from tests.checkpoints import Family
from tests.conftest import TinyCheckpoint
from tests.sentences import CAT


def maps(layers: int, heads: int, m: int, block: int = 1) -> Thumbnails:
    return Thumbnails(np.random.default_rng(m).random((layers, heads, m, m)).astype(np.float32), block)


@pytest.mark.parametrize("family", ["bert", "gpt2"])
def test_thumbnails_and_the_opened_head_are_hugging_face_s(family: Family, tiny_checkpoint: TinyCheckpoint) -> None:
    trace, layers = traced_beside_hugging_face(tiny_checkpoint(family), CAT)
    expected = np.stack(layers)
    found = thumbnails(trace)
    view = ModelView(found, trace.tokens, "m", family == "gpt2")
    header, arrays = unpack(view.payload())
    assert arrays["maps"].shape == expected.shape
    assert np.abs(arrays["maps"] / STEPS - expected).max() <= 0.5 / STEPS + 1e-6
    assert header["causal"] == (family == "gpt2")
    for layer, head in np.ndindex(*expected.shape[:2]):
        table = attention_map(trace, layer, head).table().to_numpy()
        np.testing.assert_allclose(np.nan_to_num(table), expected[layer, head], atol=1e-6)


@pytest.mark.parametrize(("layers", "heads", "n"), [(4, 8, 128), (12, 12, 512), (24, 16, 128), (24, 16, 512)])
def test_the_message_is_bounded(layers: int, heads: int, n: int) -> None:
    block = -(-n // cells_a_side(layers * heads))
    m = -(-n // block)
    frames = Frames("f", "u", np.zeros((layers, heads)))
    payload = ModelView(maps(layers, heads, m, block), ["token"] * n, "m", frames=frames).payload()
    assert len(payload) <= 1_500_000
    assert len(payload) <= 4 * layers * heads * n * n


def test_what_stands_beside_the_weights() -> None:
    values = np.array([[0.5, np.nan]])
    view = ModelView(maps(1, 2, 3, 2), list("abcde"), "m", True, Frames("Spread", "nats", values), (0, 1), told=3)
    header, arrays = unpack(view.payload())
    assert {name: header[name] for name in ("model", "steps", "block", "causal", "opened", "told", "frames")} == {
        "model": "m",
        "steps": STEPS,
        "block": 2,
        "causal": True,
        "opened": [0, 1],
        "told": 3,
        "frames": {"name": "Spread", "unit": "nats"},
    }
    assert header["labels"] == list("abcde")
    np.testing.assert_array_equal(arrays["values"], values)
    header, arrays = unpack(ModelView(maps(1, 2, 3), list("abc"), "m").payload())
    assert header["frames"] is None
    assert set(arrays) == {"maps"}


def test_hostile_labels_travel_as_visible_text() -> None:
    header, _ = unpack(ModelView(maps(1, 1, len(HOSTILE)), HOSTILE, "\u202e<b>").payload())
    assert "\u202e" not in "".join(header["labels"]) + header["model"]
    assert "⟨202E⟩override" in header["labels"]
