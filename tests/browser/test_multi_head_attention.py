"""A learner on the multi-head page: clicks a small map, then a head on the map of the whole model."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from benchmarks.server import Lab
from lab.models.catalogue import DEFAULT_MODEL
from lab.models.loading import load_model
from tests.browser.harness import BADGE, PHONE, wait_idle
from tests.thorough import at_night

HEADS = load_model(DEFAULT_MODEL).config.heads


def open_step(page: Page, url: str) -> None:
    """Come to a step and skip its prediction, if one is asked."""
    page.goto(url)
    # The badge comes last: by then the step is drawn.
    expect(page.get_by_role("button", name=BADGE)).to_be_visible(timeout=60_000)
    wait_idle(page)
    skip = page.get_by_role("button", name="Show me")
    if skip.count():
        skip.click()
        wait_idle(page)


@at_night
@pytest.mark.parametrize("view", [PHONE], indirect=True, ids=str)
def test_a_click_on_a_small_map_chooses_its_head(lab: Lab, page: Page) -> None:
    open_step(page, lab.url + "/Multi-head_attention?step=Find+the+head&layer=2&head=3&text=The+cat+sat.")
    # A frame a head comes first, then the cells, map after map: [CLS] the cat sat . [SEP], 36 cells each.
    cell = page.locator(".mark-rect.role-mark path").nth(HEADS + 6 * 36 + 3)
    cell.scroll_into_view_if_needed()
    cell.click(force=True)
    wait_idle(page)
    expect(page).to_have_url(re.compile(r"[?&]head=7\b"))


@at_night
def test_a_click_on_the_map_of_all_heads_chooses_layer_and_head(lab: Lab, page: Page) -> None:
    """By day test_metrics_and_sentences.py clicks on such a map."""
    open_step(page, lab.url + "/Multi-head_attention?step=All+heads&text=The+cat+sat.")
    cell = page.locator(".mark-rect.role-mark path").nth(2 * HEADS + 4)
    cell.scroll_into_view_if_needed()
    cell.click(force=True)
    wait_idle(page)
    assert "layer=3" in page.url
    assert "head=5" in page.url
