"""What a class answered, in figures and in the summary: against intervals and gains worked by hand."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pandas as pd
import pytest

from lab.charts.base.tables import to_csv
from lab.classroom.summary import frame
from lab.figures.room import heads_chart, round_chart
from lab.questions.forms import Bounds, NumberAnswer, Picks, PlaceAnswer
from lab.questions.question import Option, Question
from lab.rooms.counts import Counts
from lab.rooms.seen import Told

OPTIONS = tuple(Option(text, f"Why {text}.", text == "b") for text in "abc")
ASKED = Question("which", "Which?", OPTIONS, lesson="self-attention", about="Asked about “x”")


def test_a_round_has_its_shares_and_their_wilson_intervals() -> None:
    """8 of 10 are 80 %, from 49.0 to 94.3 %: (2·8 + z² ± z√(z² + 4·8·0.2)) / (2(10 + z²)), Newcombe 1998, method 3."""
    z = 1.959964
    side = z * (z * z + 4 * 8 * 0.2) ** 0.5
    low, high = ((16 + z * z - side) / (2 * (10 + z * z)), (16 + z * z + side) / (2 * (10 + z * z)))
    assert (round(low, 3), round(high, 3)) == (0.490, 0.943)
    table = round_chart(Counts(1, (2, 8, 0), 1, (0, 8, 0)), ASKED, True).table()
    row = [value for value in table.iloc[1] if isinstance(value, float)]
    assert row == pytest.approx([0.8, low, high], abs=1e-6)
    assert [("✓" in str(label)) for label in table.index] == [False, True, False]


def test_the_summary_has_three_shares_the_gain_and_the_commonest_error() -> None:
    """Smith et al. 2009: 52 % → 68 % → 73 %; the gain of the discussion is (.68 − .52) / .48 = 1/3."""
    rounds = (
        Counts(1, (40, 52, 8), 1, (9, 30, 1)),
        Counts(2, (20, 68, 12), 1, (0, 0, 0)),
        Counts(3, (73, 27, 0), 0, (0, 4, 0)),
    )
    line = frame([Told(1, ASKED, ASKED, rounds)]).iloc[0]
    assert [line[f"right {turn}"] for turn in (1, 2, 3)] == [0.52, 0.68, 0.73]
    assert [line[f"sure and wrong {turn}"] for turn in (1, 2, 3)] == [10, 0, 4]
    assert line["normalised gain"] == pytest.approx(1 / 3)
    assert (line["right"], line["commonest wrong option"]) == ("B", "A")


def test_nothing_is_told_of_fewer_than_five_answers() -> None:
    line = frame([Told(1, ASKED, None, (Counts(1, (1, 3, 0), 1, (1, 0, 0)),))]).iloc[0]
    kept = [name for name in line.index if name.startswith(("answers", "right 1", "sure", "normalised"))]
    assert all(pd.isna(line[name]) for name in kept), line
    assert line["commonest wrong option"] == ""


def test_a_number_is_shown_in_bins_and_its_right_one_marked_after_the_reveal_only() -> None:
    number = NumberAnswer(0.34, 0.02, Bounds(0.0, 1.0, ""), (0.28, 0.32, 0.36, 0.4))
    asked = replace(ASKED, number=number)
    found = Counts(1, (1, 2, 5, 1, 0), 2, (0, 0, 5, 0, 0))
    before, after = (list(round_chart(found, asked, revealed).table().index) for revealed in (False, True))
    assert before == list(number.bins) and after == [*before[:2], f"✓ {before[2]}", *before[3:]]


def test_heads_are_counted_on_their_grid() -> None:
    found = Counts(2, (0, 1, 5, 0, 0, 1), 2, (0,) * 6)
    for revealed in (False, True):
        chart = heads_chart(found, Picks(layers=2, heads=3), revealed)
        assert chart.table().to_numpy().tolist() == [[0, 1, 5], [0, 0, 1]]
    outlined = [str(heads_chart(found, Picks(layers=2, heads=3), revealed).spec) for revealed in (False, True)]
    assert outlined[0] != outlined[1]
    one_layer = heads_chart(Counts(1, (0, 5, 1), 1, (0,) * 3), Picks(heads=3), True)
    assert list(one_layer.table().index) == ["Answers"]


def test_the_summary_of_a_number_and_a_place_is_told_in_words() -> None:
    number = NumberAnswer(0.34, 0.02, Bounds(0.0, 1.0, ""), (0.28, 0.32, 0.36, 0.4))
    rounds = (Counts(1, (1, 2, 5, 1, 0), 2, (0, 0, 5, 0, 0)),)
    place = PlaceAnswer(2, Picks(layers=1, heads=5))
    first, second = frame(
        [Told(1, replace(ASKED, number=number), None, rounds), Told(2, replace(ASKED, place=place), None, rounds)]
    ).itertuples()
    assert (first.right, second.right) == (number.bins[2], "Head 3")


def test_the_file_has_counts_by_option_the_third_question_and_whole_numbers() -> None:
    third = replace(ASKED, prompt="And now?", about="Asked about “y”", options=tuple(reversed(OPTIONS)))
    rounds = (Counts(1, (4, 5, 0), 1, (0, 3, 0)), Counts(3, (1, 4, 2), 1, (0, 0, 0)))
    place = replace(ASKED, place=PlaceAnswer(1, Picks(("he", "she"))))
    asked = [Told(1, ASKED, third, rounds), Told(2, place, None, (Counts(1, (2, 6), 1, (0, 0)),))]
    first, second = csv.DictReader(io.StringIO(to_csv(frame(asked)).decode("utf-8-sig")))
    assert first["counts 1"] == "A a: 4; B b: 5; C c: 0"
    assert (first["third prompt"], first["third about"], first["third right"]) == ("And now?", "Asked about “y”", "B")
    assert first["counts 3"] == "A c: 1; B b: 4; C a: 2"
    assert [first[f"answers {turn}"] for turn in (1, 2, 3)] == ["9", "", "7"] and first["sure and wrong 1"] == "0"
    assert second["counts 1"].replace("\u2068", "").replace("\u2069", "") == "“he” (1): 2; “she” (2): 6"
    assert second["third prompt"] == ""
