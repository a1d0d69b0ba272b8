"""What the head view sends: the trace's weights to four decimals in two bytes each, and a colour for each head."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from lab.charts.components import head_view
from lab.charts.components.head_view import STEPS, HeadView
from tests.charts.payloads import unpack
from tests.charts.samples import HOSTILE, traced_beside_hugging_face
from tests.checkpoints import Family
from tests.conftest import TinyCheckpoint
from tests.sentences import CAT


def attention(heads: int, n: int) -> NDArray[np.float32]:
    weights = np.random.default_rng(n).random((heads, n, n)) ** 8
    return (weights / weights.sum(-1, keepdims=True)).astype(np.float32)


def sent(weights: NDArray[Any], **options: Any) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    n = weights.shape[-1]
    labels = [f"t{i}" for i in range(n)]
    return unpack(HeadView(weights, labels, [False] * n, "m", 1, **options).payload())


@pytest.mark.parametrize("family", ["bert", "gpt2", "roberta"])
def test_the_weights_are_hugging_face_s(family: Family, tiny_checkpoint: TinyCheckpoint) -> None:
    trace, found = traced_beside_hugging_face(tiny_checkpoint(family), CAT)
    assert len(found) == trace.model.config.layers
    for layer, expected in enumerate(found):
        _, arrays = sent(np.asarray(trace.layer(layer).attention))
        assert np.abs(arrays["weights"] / STEPS - expected).max() <= 0.5 / STEPS + 1e-6


def test_the_digits_on_screen_are_python_s() -> None:
    weights = np.concatenate([attention(4, 40).ravel(), np.array([0, 1, 1 / 32, 3 / 32, 0.00005, 0.12345], np.float32)])
    square = np.zeros((1, 81, 81), np.float32)
    square.ravel()[: len(weights)] = weights[: square.size]
    square[0, 0, :6] = weights[-6:]
    _, arrays = sent(square)
    assert [f"{w:.4f}" for w in square.ravel().tolist()] == [
        f"{w / STEPS:.4f}" for w in arrays["weights"].ravel().tolist()
    ]


@pytest.mark.parametrize(("heads", "n"), [(8, 7), (8, 128), (16, 512)])
def test_at_most_four_bytes_a_weight(heads: int, n: int) -> None:
    view = HeadView(attention(heads, n), ["token"] * n, [False] * n, "m", 0)
    bytes_per_weight = len(view.payload()) / (heads * n * n)  # labels and all; BertViz 1.4 writes 44.5
    assert n < 40 or 2 <= bytes_per_weight < 2.1
    assert bytes_per_weight <= 4 or n < 10


def test_what_stands_beside_the_weights() -> None:
    header, arrays = sent(attention(3, 5), second=2, causal=True, start=(0, 2))
    assert (header["model"], header["layer"], header["second"], header["causal"]) == ("m", 1, 2, True)
    assert header["start"] == [0, 2]
    assert header["labels"] == ["t0", "t1", "t2", "t3", "t4"]
    assert len(header["colours"]["light"]) == len(header["colours"]["dark"]) == 3
    assert arrays["special"].tolist() == [0] * 5
    assert sent(attention(3, 5))[0]["second"] is None


def test_the_words_and_the_table_are_those_of_what_is_drawn_at_first() -> None:
    weights = attention(3, 5)
    view = HeadView(weights, list("abcde"), [True, False, False, False, True], "m", 1, start=(2,), hide=True)
    inner = weights[2, 1:4, 1:4]
    assert view.table()["weight"].tolist() == sorted(inner.ravel().tolist(), reverse=True)
    assert set(view.table()["head"]) == {3} and set(view.table()["from"]) | set(view.table()["to"]) == set("bcd")
    query, key = np.unravel_index(int(inner.argmax()), inner.shape)
    assert view.alt == (
        f"Head view of layer 2 of m: lines between 3 tokens, head 3. The heaviest line, {inner.max():.2f}, leads from "
        f"“{'bcd'[query]}” to “{'bcd'[key]}” in head 3."
    )
    nothing = HeadView(weights[:, :1, :1], ["a"], [True], "m", 0, hide=True)
    assert nothing.alt == "Head view of layer 1 of m: lines between 0 tokens, 3 of 3 heads."


def test_hostile_labels_travel_as_visible_text() -> None:
    n = len(HOSTILE)
    view = HeadView(attention(1, n), HOSTILE, [False] * n, "\u202e<b>", 0)
    header, _ = unpack(view.payload())
    assert "\u202e" not in "".join(header["labels"]) + header["model"]
    assert "⟨202E⟩override" in header["labels"]
    assert all(label and "\n" not in label and "\0" not in label for label in header["labels"])


@pytest.mark.parametrize("wrong", [1.1, -0.1, np.nan])
def test_what_is_no_share_is_refused(wrong: float) -> None:
    view = HeadView(np.full((2, 3, 3), wrong), list("abc"), [False] * 3, "m", 0)
    with pytest.raises(ValueError, match="between 0 and 1"):
        view.payload()


def linear(colour: str) -> NDArray[np.float64]:
    channels = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def oklab(colour: str) -> NDArray[np.float64]:
    """Björn Ottosson 2020, A perceptual color space for image processing."""
    to_lms = [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
    to_lab = [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
    return np.array(to_lab) @ np.cbrt(np.array(to_lms) @ linear(colour))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_sixteen_heads_have_sixteen_colours(scheme: str) -> None:
    theme = tomllib.loads(Path(".streamlit/config.toml").read_text("utf-8"))["theme"][scheme]
    colours = head_view.head_colours(16)[scheme]
    assert list(colours[:8]) == theme["chartCategoricalColors"]
    places = np.array([oklab(colour) for colour in colours])
    apart = np.linalg.norm(places[:, None] - places[None], axis=-1)[~np.eye(16, dtype=bool)]
    assert apart.min() >= 0.13
    luminance = np.array([0.2126, 0.7152, 0.0722])
    paper = linear(theme["backgroundColor"]) @ luminance
    for colour in colours:
        low, high = sorted([paper, linear(colour) @ luminance])
        assert (high + 0.05) / (low + 0.05) >= 3


def test_more_heads_than_colours_begin_again() -> None:
    assert list(head_view.head_colours(20)["light"][16:]) == list(head_view.LIGHT[:4])
