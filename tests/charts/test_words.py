"""Labels, colours and the sentences that describe a chart."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.charts.base import colour
from lab.charts.base.axes import Axis, describe_bars, describe_heatmap, describe_lines, distinct, visible
from lab.figures.trace_axes import KEY, QUERY
from tests.charts.samples import a_heatmap


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("cat", "cat"),
        ("", "(empty)"),
        (" the", "␣the"),
        ("a b", "a b"),
        ("\n\t", "\\n\\t"),
        ("\u202e", "⟨202E⟩"),
        ("\u200b", "⟨200B⟩"),
        ("\x9b", "⟨009B⟩"),
        ("\ud83d", "\ufffd"),
        ("👩\u200d🔬", "👩\u200d🔬"),
        ("x" * 30, "x" * 23 + "…"),
    ],
)
def test_labels_show_what_cannot_be_seen(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(st.text(st.characters(exclude_categories=[]), max_size=40))
def test_labels_can_always_be_sent_and_reorder_nothing(text: str) -> None:
    shown = visible(text)
    shown.encode("utf-8")
    assert shown
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x00-\x1f\x7f-\x9f]", shown)


@given(st.lists(st.sampled_from(["a", "a·1", "a·2", "b", "a·1·1"]), max_size=8))
def test_distinct_names_are_distinct(labels: list[str]) -> None:
    names = distinct(labels)
    assert len(set(names)) == len(labels)
    assert all(name.startswith(label) for name, label in zip(names, labels, strict=True))


def test_a_heatmap_in_a_sentence() -> None:
    values = np.full((8, 8), 0.1, dtype=np.float32)
    values[2, 1] = 0.62
    labels = ["[CLS]", "the", "cat", *"abcd", "[SEP]"]
    told = describe_heatmap(values, (Axis(QUERY, labels), Axis(KEY, labels)), value_format=".2f")
    assert told == "Heatmap, 8 by 8. Largest 0.62: query “cat”, key “the”."


def test_negative_values_and_masks_are_told() -> None:
    alt = a_heatmap(values=np.array([[-1, 9], [2, 3]]), labels=["a", "a"], signed=True, causal=True).alt
    assert alt == (
        "Heatmap, 2 by 2. Largest 3.000: query “a·2”, key “a·2”. Smallest -1.000: query “a·1”, key “a·1”. "
        "Above the diagonal all is masked."
    )


def test_bars_and_lines_in_a_sentence() -> None:
    told = describe_bars(np.array([0.5, -1], np.float32), ["a", "2"])
    assert told == "Bar chart, 2 values. Largest 0.50: “a”. Smallest -1.00: 2."
    series = {name: np.array([2, 1], np.float32) for name in "abcde"}
    told = describe_lines(series)
    assert told.startswith("Line chart, 5 lines. “a” goes from 2.00 to 1.00 in 2 points.")
    assert told.endswith("And 2 more.")


def _luminance(colour_code: str) -> float:
    channels = np.array([int(colour_code[place : place + 2], 16) for place in (1, 3, 5)]) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def _themes(stops: list[dict[str, str]]) -> dict[str, list[float]]:
    pairs = [re.findall("#[0-9a-f]{6}", stop["expr"]) for stop in stops]
    return {
        "dark": [_luminance(dark) for dark, _ in pairs],
        "light": [_luminance(light) for _, light in pairs],
    }


def test_ramps_can_be_told_apart_in_grey() -> None:
    """From the page's colour to full strength: darker on a light page, lighter on a dark one."""
    sequential = _themes(colour.ramp(signed=False))
    assert sequential["light"] == sorted(sequential["light"], reverse=True)
    assert sequential["dark"] == sorted(sequential["dark"])
    diverging = _themes(colour.ramp(signed=True))
    for half in (diverging["light"][:5], diverging["light"][4:][::-1]):
        assert half == sorted(half)
    for half in (diverging["dark"][:5], diverging["dark"][4:][::-1]):
        assert half == sorted(half, reverse=True)


@pytest.mark.parametrize("signed", [False, True])
def test_numbers_in_cells_stand_out_on_every_colour(signed: bool) -> None:
    threshold = float(re.search(r"> ([\d.]+) \?", colour.on_cell("0")["expr"])[1])  # type: ignore[index]
    black, white = (_luminance(ink) for ink in ("#111318", "#ffffff"))
    for luminances in _themes(colour.ramp(signed)).values():
        stops = np.interp(np.linspace(0, 8, 200), range(9), luminances)
        for cell in stops:
            ink = black if cell > threshold else white
            high, low = max(cell, ink), min(cell, ink)
            assert (high + 0.05) / (low + 0.05) >= 4.0
