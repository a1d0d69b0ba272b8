"""On a telephone nothing lies on something else, and nothing is cut off."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from playwright.sync_api import Locator, Page, expect

from benchmarks.server import Lab
from lab.course.pages import LESSONS
from lab.lessons.self_attention.build_a_row import row_built
from lab.ui.parameters import DEFAULT_TEXT
from tests.browser.harness import PHONE, wait_idle
from tests.browser.stage import Stage, run
from tests.thorough import at_night

pytestmark = pytest.mark.parametrize("view", [PHONE], indirect=True, ids=str)
APART = 24  # pixels, from one link's middle to the next one's (WCAG 2.5.8)


def box(at: Locator) -> dict[str, float]:
    found = at.bounding_box()
    assert found is not None
    return {"right": found["x"] + found["width"], "middle": found["y"] + found["height"] / 2}


def test_a_header_with_answered_checks_fits_and_the_lessons_on_the_first_page_can_be_told_apart(
    lab: Lab, page: Page
) -> None:
    page.goto(lab.url + "/Tokenization?step=Check")
    wait_idle(page)
    main = page.get_by_test_id("stMain")
    main.get_by_test_id("stRadio").first.locator("label").nth(2).click()
    wait_idle(page)
    assert page.get_by_text("1 of 3 checks").count()
    assert main.evaluate("main => main.scrollWidth - main.clientWidth") == 0
    page.goto(lab.url)
    wait_idle(page)
    page.get_by_text("The lessons as a list", exact=True).click()
    wait_idle(page)
    links = page.locator('.st-key-lessons [data-testid="stPageLink-NavLink"]:visible')
    middles = [box(link)["middle"] for link in links.all()]
    assert len(middles) == len(LESSONS)
    assert min(later - earlier for earlier, later in pairwise(middles)) >= APART


def test_a_row_that_is_built_fits_and_says_at_each_stage_what_it_shows(stage: Stage) -> None:
    means = ("products", "quotients", "shares", "a vector")
    page = stage.show(replace(row_built(run(DEFAULT_TEXT), 4, 10, 8, 4), means=means))
    for name, said in zip(("1 Scores", "2 ÷ √d", "3 Softmax", "4 × values"), means, strict=True):
        page.get_by_role("button", name=name).click()
        expect(page.locator(".means")).to_have_text(f"What this means. {said}")
        for part in page.locator(".rows .number, .rows canvas").all():
            if part.is_visible():
                assert box(part)["right"] <= PHONE.width, name


@at_night
@pytest.mark.parametrize("experiment", ["Grammar", "Explanation", "Copying"])
def test_every_name_of_a_legend_is_whole_and_on_its_chart(lab: Lab, page: Page, experiment: str) -> None:
    page.goto(f"{lab.url}/{experiment}")
    wait_idle(page)
    page.get_by_role("button", name="Show me", exact=True).first.click()
    wait_idle(page)
    chart = page.get_by_test_id("stVegaLiteChart").first
    names = chart.locator(".role-legend-label text").all()
    assert len(names) >= 5
    whole = chart.locator("svg").bounding_box()
    assert whole is not None
    for name in names:
        at = name.bounding_box()
        assert at is not None and not (name.text_content() or "").endswith("…")
        assert at["y"] + at["height"] <= whole["y"] + whole["height"]
        assert at["x"] + at["width"] <= whole["x"] + whole["width"]
