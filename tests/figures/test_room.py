"""What a class answered, in figures and in the summary: against intervals and gains worked by hand."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace

import pandas as pd
import pytest

from lab.charts.base.tables import to_csv
from lab.classroom.summary import frame
from lab.figures.room import heads_chart, votes_of
from lab.questions.forms import Bounds, NumberAnswer, Picks, PlaceAnswer
from lab.questions.question import Option, Question
from lab.rooms.counts import Counts
from lab.rooms.seen import Told

OPTIONS = tuple(Option(text, f"Why {text}.", text == "b") for text in "abc")
ASKED = Question("which", "Which?", OPTIONS, lesson="self-attention", about="Asked about “x”")


def rows_of(html: str) -> list[str]:
    """The rows of a result, as a reader sees them."""
    body = html.partition("<tbody>")[2]
    return [" ".join(re.sub(r"<[^>]*>", " ", row).split()) for row in body.split("</tr>") if "<th" in row]


def test_the_right_option_is_first_and_marked_only_after_the_reveal() -> None:
    found = [Counts(1, (2, 8, 0), 1, (0, 8, 0)), Counts(2, (1, 9, 0), 1, (0, 8, 0))]
    before, after = (votes_of(found, ASKED, revealed) for revealed in (False, True))
    assert [re.findall(r"\d+%", row) for row in rows_of(before)] == [["20%", "10%"], ["80%", "90%"], ["0%", "0%"]]
    assert "✓" not in before and "right" not in before
    assert [row[:5] for row in rows_of(after)] == ["✓ B ·", "A · a", "C · c"]
    assert after.count("✓") == 1 and after.count('class="right"') == 1


def test_options_are_text_on_the_wall() -> None:
    options = (Option("\\<script\\>alert\\(1\\)\\</script\\>", "x", True), Option("<b>b</b>", "y"))
    html = votes_of([Counts(1, (5, 0), 0, (0, 0))], replace(ASKED, options=options), True)
    assert "<script" not in html and "&lt;script&gt;" in html and "<b>b" not in html


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
    before, after = (rows_of(votes_of([found], asked, revealed)) for revealed in (False, True))
    assert [row.rsplit(" ", 1)[0].strip() for row in before] == list(number.bins)
    assert after[0].startswith(f"✓ {number.bins[2]}") or number.bins[2] in after[0]


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
