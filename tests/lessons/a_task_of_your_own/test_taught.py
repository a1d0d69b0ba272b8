"""A learner's own sentences: what is added, what is refused, and what the browser may bring back."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.lessons.a_task_of_your_own.taught import (
    LAB_PAIRS,
    LAB_TEXTS,
    LAB_TRUTH,
    LONGEST,
    MOST,
    SPLIT,
    VisitLabels,
    added,
    as_file,
    as_kept,
    four_more,
    from_kept,
    lab_examples,
    one_of_each_pair,
    own_examples,
    renamed,
)

EMPTY = VisitLabels()


def test_sentences_come_one_a_line_with_or_without_a_label() -> None:
    now, notes = added(EMPTY, "  I  like it. \n\nI hate it.\tno\nIt is great.\tyes\n")
    assert now.own == (("I like it.", None), ("I hate it.", False), ("It is great.", True))
    assert notes == []
    again, notes = added(now, "I like it.\tyes")
    assert again.own[0] == ("I like it.", True) and len(again.own) == 3 and notes == []


def test_labels_that_come_with_the_first_sentences_give_their_names() -> None:
    now, _ = added(EMPTY, "a b\tspam\nc d\tham")
    assert now.labels == ("spam", "ham") and now.own == (("a b", True), ("c d", False))
    now, notes = added(now, "e f\teggs")
    assert now.own[-1] == ("e f", None) and "none of your two labels" in notes[0]


def test_a_sentence_with_both_labels_is_said_and_the_later_one_counts() -> None:
    now, notes = added(EMPTY, "It is.\tyes\nIt is.\tno")
    assert now.own == (("It is.", False),)
    assert "both labels" in notes[0]


def test_too_many_and_too_long_sentences_are_left_out_and_said() -> None:
    now, notes = added(EMPTY, "\n".join(f"sentence {i}" for i in range(500)))
    assert len(now.own) == MOST and f"{500 - MOST} sentences were left out" in notes[0]
    now, notes = added(EMPTY, "x" * (LONGEST + 1))
    assert now.own == () and str(LONGEST) in notes[0]
    assert added(EMPTY, "x" * LONGEST) == (VisitLabels(own=(("x" * LONGEST, None),)), [])
    assert added(EMPTY, " \n ")[1] == ["Write a sentence first."]


def test_labels_need_two_different_names() -> None:
    assert renamed(EMPTY, "good", "bad")[0].labels == ("good", "bad")
    for first, second in (("", "bad"), ("same", "same"), (" ", " ")):
        now, notes = renamed(EMPTY, first, second)
        assert now == EMPTY and len(notes) == 1


def test_the_file_brings_everything_back() -> None:
    now, _ = added(EMPTY, "a b\tspam\nc d\tham\ne f")
    assert added(EMPTY, as_file(now))[0] == now
    assert from_kept(EMPTY, as_kept(now)) == now


def test_a_spreadsheet_runs_nothing_in_the_file_and_the_lab_reads_the_same_sentences_from_it() -> None:
    now, _ = added(EMPTY, "=1+1 is two\t@good\n+3 is more\t-bad\n' quoted\t@good\nplain\t-bad")
    cells = [cell for line in as_file(now).splitlines() for cell in line.split("\t")]
    assert not any(cell.startswith(("=", "+", "-", "@")) for cell in cells) and "plain" in cells
    assert added(EMPTY, as_file(now))[0] == now


@given(st.text(max_size=200))
def test_nothing_that_a_browser_brings_breaks_anything(text: str) -> None:
    found = from_kept(EMPTY, text)
    assert len(found.own) <= MOST
    now, _ = added(EMPTY, text)
    assert all(len(sentence) <= LONGEST and sentence.strip() for sentence, _ in now.own)
    own_examples(now)


@pytest.mark.parametrize(
    "told",
    ["[]", "{}", '{"labels": ["a"], "own": []}', '{"labels": ["a", "b"], "own": [["x", 1]]}',
     '{"labels": ["a", "b"], "own": [["x"]]}', '{"labels": 3, "own": 4}',
     "[" * 90_000, '{"own": ' * 90_000, f'{{"labels": [{"[" * 90_000}', "9" * 90_000],
    ids=lambda told: told[:40],
)  # fmt: skip
def test_what_is_not_as_the_lab_wrote_it_is_not_taken(told: str) -> None:
    assert from_kept(EMPTY, told) == EMPTY


def test_a_browser_that_keeps_too_much_brings_the_first_sentences() -> None:
    told = json.dumps({"labels": ["a", "b"], "own": [[f"s {i}", i % 2 == 0] for i in range(300)]})
    found = from_kept(EMPTY, told)
    assert len(found.own) == MOST and found.own[:2] == (("s 0", True), ("s 1", False))


def test_the_shortcuts_label_pairs_rightly() -> None:
    four = four_more(EMPTY)
    assert four.marks[:5] == (True, False, True, False, None)
    assert sum(mark is not None for mark in four_more(four).marks) == 8
    for way in range(20):
        one = one_of_each_pair(way)
        marked = [i for i, mark in enumerate(one.marks) if mark is not None]
        assert len({i // 2 for i in marked}) == len(marked) == SPLIT < len(LAB_PAIRS)
        assert all(one.marks[i] is LAB_TRUTH[i] for i in marked)
        assert sum(bool(one.marks[i]) for i in marked) == SPLIT / 2
    assert one_of_each_pair(0) == one_of_each_pair(0) != one_of_each_pair(1)
    assert lab_examples(one).groups[0] == lab_examples(one).groups[1] != lab_examples(one).groups[2]
    assert len(set(LAB_TEXTS)) == len(LAB_TEXTS)
