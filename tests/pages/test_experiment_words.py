"""How much a page of an experiment says before one opens a fold: issue 31 allows 250 words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from lab.course.pages import EXPERIMENTS
from tests.pages.apptest import visit, without_marks
from tests.pages.test_experiments import press

MOST = 250
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
