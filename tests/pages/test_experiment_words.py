"""How much a page of an experiment says before one opens a fold, and that each verdict is explained beside itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from lab.course.pages import EXPERIMENTS
from lab.evidence.reasons import IN_SHORT, LABELS
from lab.evidence.verdicts import Verdict
from tests.pages.apptest import reveal, visit, without_marks, words
from tests.pages.test_experiments import press

MOST = 270  # 250 words, and 20 for what the verdicts mean
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


@pytest.mark.parametrize("id", [each.id for each in EXPERIMENTS])
def test_a_page_says_little_before_and_after_the_prediction(id: str) -> None:
    experiment = next(each for each in EXPERIMENTS if each.id == id)
    at = visit(experiment.page.removeprefix("pages/"))
    assert at.radio and words_of(at) <= MOST
    if at.multiselect:
        at.multiselect[0].set_value([0, 1, 2]).run()
    for radio in at.radio:
        radio.set_value(0).run()
    press(at, "Commit and show")
    assert "**Verdict.**" in " ".join(unfolded(at.main)) and words_of(at) <= MOST


def test_each_verdict_is_explained_beside_it() -> None:
    assert set(IN_SHORT) == set(Verdict) == set(LABELS)
    for experiment in EXPERIMENTS:
        at = reveal(visit(experiment.page.removeprefix("pages/")))
        said = words(at)
        told = said.partition("**Verdict.**")[2].partition("\n\n")[0]
        given = [each for each, label in LABELS.items() if f"**{label}**" in said.lower()]
        assert given and all(IN_SHORT[each] in said for each in given if f"**{LABELS[each]}**" in told.lower())
