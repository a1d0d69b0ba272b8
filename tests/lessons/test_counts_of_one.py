"""A count of one thing is in the singular, in texts so short that there is only one: a token, a place, a pair."""

from __future__ import annotations

import re

import pandas as pd
import pytest

from lab.benches.neuron_view.three_patterns import left_out
from lab.charts.kept.file import _rows
from lab.course.words import number_of
from lab.figures.room import Votes, votes
from lab.lessons.a_task_of_your_own.taught import MOST, VisitLabels, added
from tests.pages.apptest import html_of, visit, words

# A word in the plural right after a lone 1, as in "1 rows", "1 of 1 times", "the 1 other tokens", "each of 1 copies".
ONE_OF_MANY = re.compile(
    r"(?<![\d.,])\*{0,2}1\*{0,2} (?:other )?"
    r"(?:answer|copie|copy|head|pair|person|place|question|row|sentence|step|time|token|word)s\b"
)


@pytest.mark.parametrize(
    ("count", "said"), [(0, "0 rows"), (1, "1 row"), (2, "2 rows"), (1_200, "1,200 rows"), (11, "11 rows")]
)
def test_one_thing_is_in_the_singular(count: int, said: str) -> None:
    assert number_of(count, "row") == said


def test_the_pattern_finds_what_it_looks_for() -> None:
    for wrong in (
        "1 rows",
        "right 1 of 1 times",
        "At **1** of 1 places",
        "1 of the 1 other tokens",
        "each of 1 copies",
    ):
        assert ONE_OF_MANY.search(wrong), wrong
    for fine in ("1 row", "right 1 of 2 times", "11 rows", "0.1 heads", "1 of 12 heads", "2,1 tokens"):
        assert not ONE_OF_MANY.search(fine), fine


@pytest.mark.parametrize("model", ["lab-minilm", "lab-gpt2"])
@pytest.mark.parametrize(
    ("page", "step"),
    [
        ("9_Masked_language_model.py", "likelihood"),
        ("6_Head_specialization.py", "grammar"),
        ("3_Self-attention.py", "map"),
        ("50_Head_view.py", ""),
    ],
)
@pytest.mark.parametrize("text", ["Hi", "We ran", "x"])
def test_a_text_of_one_word_is_counted_rightly(page: str, step: str, model: str, text: str) -> None:
    at = visit(page, model=model, text=text, **({"step": step} if step else {}))
    said = f"{words(at)} {html_of(at)} {[each.value for each in at.info]} {[each.label for each in at.button]}"
    assert [said[max(0, each.start() - 40) : each.end()] for each in ONE_OF_MANY.finditer(said)] == []


def test_what_was_left_out_or_counted_once_has_a_verb_in_the_singular() -> None:
    assert left_out(0) == "" and "1 head that attends" in left_out(1) and left_out(1).endswith("is left out.")
    assert "3 heads that attend " in left_out(3) and left_out(3).endswith("are left out.")
    assert _rows(pd.DataFrame({"a": [1]})) == "1 row"
    assert "1 answer<" in votes(["a", "b"], [Votes("Round 1", (1, 0))])
    full = VisitLabels(own=tuple((f"s {place}", None) for place in range(MOST)))
    assert "1 sentence was" in added(full, "one more")[1][0] and "2 sentences were" in added(full, "one\ntwo")[1][0]
