"""A learner on the page of the models reads a card."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from benchmarks.server import Lab
from tests.browser.harness import PHONE, wait_idle
from tests.thorough import at_night


@at_night
@pytest.mark.parametrize("view", [PHONE], indirect=True, ids=str)
def test_a_card_with_its_picture_fits_the_page(lab: Lab, page: Page) -> None:
    page.goto(lab.url + "/Models?card=lab-bert")
    wait_idle(page)
    expect(page.get_by_role("heading", level=2, name="lab-bert")).to_be_visible(timeout=30_000)
    page.get_by_text("How it was made").click()
    picture = page.get_by_role("img", name="Loss over training tokens")
    expect(picture).to_be_visible(timeout=30_000)
    assert picture.evaluate("img => img.complete && img.naturalWidth > 0")
    wide = "() => { const m = document.querySelector('[data-testid=stMain]'); return m.scrollWidth - m.clientWidth; }"
    assert page.evaluate(wide) <= 0, "the page can be pushed sideways"
