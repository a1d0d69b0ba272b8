"""Training while somebody watches: it draws, Stop stops it, and leaving the page does, too."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from benchmarks.server import Lab
from tests.browser.harness import BADGE, go_to, wait_idle
from tests.thorough import at_night

STEP = "/Self-attention?mode=Toy&toy_weights=Trained+live&step=Train+a+toy&toy_task=Does+it+occur+again%3F"
STEP += "&toy_layers=2&toy_length=32&toy_seed="  # a long training: the click must come before its end
PATIENCE_MS = 120_000


def _start(page: Page, url: str) -> None:
    page.goto(url)
    expect(page.get_by_role("button", name=BADGE)).to_be_visible(timeout=PATIENCE_MS)
    page.get_by_role("button", name="Show me").click()
    wait_idle(page)
    page.get_by_test_id("stMain").get_by_role("button", name="Train").click()
    expect(page.get_by_text(re.compile(r"^Step [1-9]\d* of 800"))).to_be_visible(timeout=PATIENCE_MS)


def test_stop_keeps_what_was_learned(lab: Lab, page: Page) -> None:
    _start(page, lab.url + STEP + "11")
    page.get_by_test_id("stMain").get_by_role("button", name="Stop").click()
    expect(page.get_by_text("Training stopped at step")).to_be_visible(timeout=PATIENCE_MS)
    wait_idle(page)
    expect(page.get_by_role("button", name="Train from the beginning")).to_be_visible()


@at_night
def test_leaving_the_page_stops_the_training(lab: Lab, page: Page) -> None:
    _start(page, lab.url + STEP + "12")
    go_to(page, "Inside BERT")
    go_to(page, "Lessons", "Self-attention")
    expect(page.get_by_text("Training stopped at step")).to_be_visible(timeout=PATIENCE_MS)
