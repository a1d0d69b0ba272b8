"""Anything in the text boxes, in an uploaded file, or in the link (test_fuzz_links.py): a page, never an exception.

The examples are the same at every run, so they find what a change breaks; what nobody has thought of is looked for by
``make test-all`` with four times as many, and by ``FUZZ=10 make check`` with ten times as many. A failure prints
what was sent.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from lab.course.pages import EXPERIMENTS
from tests.pages.apptest import ROOT, Offer, choosing, on_screen, steps_of, visit
from tests.pages.hostile import STRANGE, files, texts
from tests.thorough import THOROUGH

PAGES = sorted(path.name for path in (ROOT / "pages").glob("*.py"))
# Experiments, the first page, lesson 11 and the end have sentences of their own, a room has none.
_NO_TEXT = {
    "0_Course.py",
    "11_A_task_of_your_own.py",
    "12_The_end.py",
    "20_Models.py",
    "21_Glossary.py",
    "40_Room.py",
    *(Path(each.page).name for each in EXPERIMENTS),
}
WITH_TEXT = [page for page in PAGES if page not in _NO_TEXT]
# For each page.
LINKS, TEXTS, FILES = (int(os.environ.get("FUZZ", "4" if THOROUGH else "1")) * number for number in (2, 2, 20))
MEGABYTE = "".join(STRANGE) * (1_000_000 // sum(map(len, STRANGE)) + 1)

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: Path(page).stem)
every_reader = pytest.mark.parametrize("page", WITH_TEXT, ids=lambda page: Path(page).stem)


def cases(number: int) -> settings:
    """Examples that are not made smaller when one fails: each is a whole page."""
    return settings(max_examples=number, phases=[Phase.generate], suppress_health_check=list(HealthCheck))


def stands(at: AppTest) -> None:
    """The page is there, with something to read and no exception."""
    assert at.title or at.markdown


@every_reader
def test_anything_in_the_boxes(page: str) -> None:
    at = visit(page, layer="2", head="3")
    steps = steps_of(at)

    @cases(TEXTS)
    @given(texts, st.just("") | texts, st.integers(0, 1000))
    def holds(text: str, pair: str, at_step: int) -> None:
        at.session_state["text"], at.session_state["pair"] = text, pair
        if steps:
            at.session_state["step"] = on_screen(steps[at_step % len(steps)])
        stands(at.run())
        for button in at.button:
            if button.label == "Show me":
                stands(button.click().run())
                break

    holds()


@every_reader
def test_a_megabyte_in_the_box(page: str, offer: Offer) -> None:
    """A browser stops at 4,000 characters; who speaks to the server without one does not."""
    at = visit(page, model=offer("bert"))
    if "text" not in [area.key for area in at.text_area]:  # the first step brings its own words
        at.session_state["step"] = on_screen(steps_of(at)[1])
        at.run()
    at.text_area(key="text").set_value(MEGABYTE)
    stands(at.text_input(key="pair").set_value(MEGABYTE).run())


def test_any_file_as_progress() -> None:
    at = visit()

    @cases(FILES)
    @given(files)
    def holds(content: bytes) -> None:
        with choosing(content):
            stands(at.run())
        assert len(at.error) + len(at.success) == 1, "it is taken, or there is a sentence that says why not"

    holds()
