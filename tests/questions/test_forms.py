"""The bins of a number, one of which has what is right, and the places that can be picked, in words."""

from __future__ import annotations

from itertools import pairwise

from lab.questions.forms import Bounds, NumberAnswer, Picks, PlaceAnswer

ASKED = NumberAnswer(0.3, 0.02, Bounds(0.0, 1.0, ""), (0.18, 0.23, 0.28, 0.32, 0.37))


def test_what_is_right_is_in_one_bin_to_its_edges() -> None:
    edge = ASKED.value + ASKED.tolerance
    assert ASKED.bin(ASKED.value - ASKED.tolerance) == ASKED.bin(0.3) == ASKED.bin(edge) == ASKED.right == 3
    assert ASKED.bin(edge + 1e-6) == 4 and ASKED.bin(0.0) == 0 and ASKED.bin(1.0) == 5
    places = [ASKED.bin(step / 1000) for step in range(1001)]
    assert all(now <= then for now, then in pairwise(places)) and set(places) == set(range(6))


def test_bins_in_words() -> None:
    assert ASKED.bins == ("under 0.180", "0.180–0.230", "0.230–0.280", "0.280–0.320", "0.320–0.370", "over 0.370")
    assert NumberAnswer(2.0, 0.1, Bounds(-9, 9, ""), (-0.5, 1.9, 2.1)).bins[:2] == (
        "under \N{MINUS SIGN}0.50",
        "\N{MINUS SIGN}0.50 to 1.90",
    )


def test_places_in_words() -> None:
    tokens, heads = PlaceAnswer(1, Picks(("a", "b"))), PlaceAnswer(7, Picks(layers=2, heads=6))
    assert [name.replace("\u2068", "").replace("\u2069", "") for name in tokens.bins] == ["“a” (1)", "“b” (2)"]
    assert (len(heads.bins), heads.bins[7]) == (12, "Layer 2, head 2")
    assert Picks(heads=6).name(5) == "Head 6"
