"""A click on a map of heads chooses what is looked at; other tests click on cells by the helpers here."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from benchmarks.server import Lab
from tests.browser.harness import BADGE, PHONE, wait_idle


def open_step(lab: Lab, page: Page, address: str) -> None:
    page.goto(lab.url + address)
    expect(page.get_by_role("button", name=BADGE)).to_be_visible(timeout=60_000)  # a cold server loads a model first
    wait_idle(page)
    skip = page.get_by_role("button", name="Show me", exact=True)
    if skip.count():
        skip.click()
        wait_idle(page)


def click_cell(page: Page, place: int) -> None:
    """The cell at ``place``, from 0; cells are drawn row after row."""
    cell = page.locator(".mark-rect.role-mark path").nth(place)
    cell.evaluate("it => it.scrollIntoView({block: 'center', behavior: 'instant'})")  # not below the page's header
    cell.click(force=True)
    wait_idle(page)


@pytest.mark.parametrize("view", [PHONE], indirect=True, ids=str)
def test_a_click_on_the_map_of_heads_chooses_one(lab: Lab, page: Page) -> None:
    open_step(lab, page, "/Attention_metrics?step=The+six+numbers")
    click_cell(page, 2 * 12 + 3)
    expect(page).to_have_url(re.compile("layer=3.*head=4|head=4.*layer=3"))
