"""Head specialization in a browser: names of relations, a survey that is cancelled and goes on."""

from __future__ import annotations

import re
from itertools import combinations

import pytest
from playwright.sync_api import Page, expect

from benchmarks.server import Lab
from lab.lessons.head_specialization.relations import row_with_grammar
from lab.ui import runs
from tests.browser.harness import PHONE
from tests.browser.stage import Stage, run
from tests.browser.test_metrics_and_sentences import open_step

PAGE = "/Head_specialization"


@pytest.mark.parametrize("view", [PHONE], indirect=True, ids=str)
def test_the_names_of_relations_lie_beside_each_other(stage: Stage) -> None:
    """In a short sentence, several names have one place: "article" and "preposition" of "behind the old barn"."""
    runs.load_tagger()
    page = stage.show(row_with_grammar(run("My aunt keeps bees behind the old barn."), 1, None, (0, 0)))
    names = page.locator(".below .name")
    expect(names.first).to_be_attached()
    boxes = [box for box in (name.bounding_box() for name in names.all()) if box is not None]
    assert len(boxes) >= 5
    for one, other in combinations(boxes, 2):
        across = min(one["x"] + one["width"], other["x"] + other["width"]) - max(one["x"], other["x"])
        down = min(one["y"] + one["height"], other["y"] + other["height"]) - max(one["y"], other["y"])
        assert across <= 1 or down <= 10, (one, other)  # a box of 25 pixels has room around its letters


def test_a_survey_is_cancelled_and_goes_on(lab: Lab, page: Page) -> None:
    open_step(lab, page, f"{PAGE}?step=Many+sentences")
    page.get_by_role("button", name="Read 200 sentences").click()
    # A survey that is cancelled before its first sentence has nothing to go on with.
    expect(page.get_by_role("progressbar")).to_have_attribute("aria-valuenow", re.compile(r"^[1-9]"), timeout=60_000)
    page.get_by_test_id("stMain").get_by_role("button", name="Stop").click()
    more = page.get_by_role("button", name=re.compile(r"Go on: \d+ of 200 sentences are read"))
    expect(more).to_be_visible()
    more.click()
    expect(page.get_by_role("combobox", name="Show")).to_be_visible(timeout=60_000)
    expect(more).to_be_hidden(timeout=60_000)
