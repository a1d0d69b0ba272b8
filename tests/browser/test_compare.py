"""The bench of comparisons in a browser: by click to another way and figure; on a telephone one below the other."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from benchmarks.server import Lab
from tests.browser.harness import BADGE, PHONE, wait_idle
from tests.thorough import at_night


@at_night
@pytest.mark.parametrize("view", [PHONE], indirect=True, ids=str)
def test_two_runs_are_compared_by_click(lab: Lab, page: Page) -> None:
    page.goto(f"{lab.url}/Compare?layer=4&head=6", timeout=90_000)
    expect(page.get_by_role("button", name=BADGE)).to_have_count(2, timeout=90_000)  # a cold server loads a model first
    wait_idle(page)
    expect(page.get_by_text("The largest difference is")).to_be_visible()
    page.get_by_role("radio", name="An intervention").click()
    wait_idle(page)
    expect(page.get_by_text("set to zero")).to_be_visible()
    page.get_by_role("button", name=re.compile("^B: ")).click()  # a ring, unless another test has asked
    expect(page.get_by_text("changed from context_concat, layer 4 on")).to_be_visible(timeout=60_000)
    wait_idle(page)
    page.keyboard.press("Escape")
    wait_idle(page)
    page.get_by_role("combobox", name="Figure").click()
    page.get_by_role("option", name="Metric of every head").click()
    wait_idle(page)
    charts = page.get_by_test_id("stVegaLiteChart")
    expect(charts).to_have_count(4)
    first, second = (charts.nth(place).bounding_box() for place in range(2))
    assert first and second and second["y"] >= first["y"] + first["height"]
    page.set_viewport_size({"width": 1280, "height": 900})
    wait_idle(page)
    first, second = (charts.nth(place).bounding_box() for place in range(2))
    assert first and second and second["x"] >= first["x"] + first["width"]
    assert "compare=An+intervention" in page.url and "figure=Metric+of+every+head" in page.url
