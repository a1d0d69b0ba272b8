"""What a class answered, in figures and in the summary: against intervals and gains worked by hand."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace

import pandas as pd
import pytest

from lab.charts.base.chart_table import to_csv
from lab.classroom.printed import frame
from lab.figures.room import votes_of
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


def test_the_summary_has_both_shares_the_gain_and_the_commonest_error() -> None:
    """Smith et al. 2009: 52 % → 68 %; the gain of the discussion is (.68 − .52) / .48 = 1/3."""
    rounds = (
        Counts(1, (40, 52, 8), 1, (9, 30, 1)),
        Counts(2, (20, 68, 12), 1, (0, 0, 0)),
    )
    line = frame([Told(1, ASKED, rounds)]).iloc[0]
    assert [line[f"right {turn}"] for turn in (1, 2)] == [0.52, 0.68]
    assert [line[f"sure and wrong {turn}"] for turn in (1, 2)] == [10, 0]
    assert line["normalised gain"] == pytest.approx(1 / 3)
    assert (line["right"], line["commonest wrong option"]) == ("B", "A")


def test_nothing_is_told_of_fewer_than_five_answers() -> None:
    line = frame([Told(1, ASKED, (Counts(1, (1, 3, 0), 1, (1, 0, 0)),))]).iloc[0]
    kept = [name for name in line.index if name.startswith(("answers", "right 1", "sure", "normalised"))]
    assert all(pd.isna(line[name]) for name in kept), line
    assert line["commonest wrong option"] == ""


def test_the_file_has_counts_by_option_and_whole_numbers() -> None:
    rounds = (Counts(1, (4, 5, 0), 1, (0, 3, 0)), Counts(2, (1, 6, 2), 1, (0, 0, 0)))
    asked = [Told(1, ASKED, rounds), Told(2, ASKED, rounds[:1])]
    first, second = csv.DictReader(io.StringIO(to_csv(frame(asked)).decode("utf-8-sig")))
    assert (first["counts 1"], first["counts 2"]) == ("A a: 4; B b: 5; C c: 0", "A a: 1; B b: 6; C c: 2")
    assert [first[f"answers {turn}"] for turn in (1, 2)] == ["9", "9"] and first["sure and wrong 1"] == "0"
    assert (second["answers 2"], second["counts 2"]) == ("", "")
