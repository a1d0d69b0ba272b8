"""A page of an experiment is one figure, one table and two folds, and explains each verdict that it gives."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from lab.course.pages import EXPERIMENTS
from lab.evidence.reasons import IN_SHORT, LABELS
from lab.evidence.verdicts import Verdict
from tests.pages.apptest import claims, reveal, visit, without_marks, words
from tests.pages.test_experiments import press

BEFORE = 270  # words, without what one has to open
AFTER = 520  # and without the table, a line for each claim
_SAID = ("title", "header", "subheader", "markdown", "caption", "info", "warning", "success", "error")


def unfolded(block: Any) -> Iterator[str]:
    """The texts of a block that nobody has to open: those in expanders and popovers are left out."""
    if block.type in ("expander", "popover"):
        return
    if block.type in _SAID:
        yield without_marks(block.value)
    elif block.type == "radio":
        yield " ".join([block.label, *block.options])
    for child in getattr(block, "children", {}).values():
        yield from unfolded(child)


def words_of(at: AppTest) -> int:
    return sum(len(re.findall(r"[^\s*·]+", text)) for text in unfolded(at.main))


def folds(at: AppTest) -> list[str]:
    return [fold.label for fold in at.main.expander if fold.label != "Papers"]


@pytest.mark.parametrize("id", [each.id for each in EXPERIMENTS])
def test_a_page_is_a_figure_a_table_and_two_folds(id: str) -> None:
    experiment = next(each for each in EXPERIMENTS if each.id == id)
    at = visit(experiment.page.removeprefix("pages/"))
    assert at.radio and words_of(at) <= BEFORE and folds(at) == ["How it is tested"]
    if at.multiselect:
        at.multiselect[0].set_value([0, 1, 2]).run()
    for radio in at.radio:
        radio.set_value(0).run()
    press(at, "Commit and show")
    assert len(claims(at)) and words_of(at) <= AFTER and len(folds(at)) == 2
    assert len(experiment.not_shown) == 3 and all(each in words(at) for each in experiment.not_shown)


def test_each_verdict_is_explained_below_the_table() -> None:
    assert set(IN_SHORT) == set(Verdict) == set(LABELS)
    for experiment in EXPERIMENTS:
        at = reveal(visit(experiment.page.removeprefix("pages/")))
        given = set(claims(at)["verdict"])
        assert given and all(IN_SHORT[each] in words(at) for each, label in LABELS.items() if label in given)
