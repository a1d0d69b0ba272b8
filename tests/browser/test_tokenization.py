"""A learner on the tokenization page: predicts, walks through a word, types what should not run."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from benchmarks.server import Lab
from tests.browser.harness import PHONE, View, wait_idle
from tests.sentences import RARE
from tests.thorough import at_night

STEPS = ("Tokens", "Pieces", "Special tokens", "Check")
# Words in pieces: those of the small vocabulary; lab-minilm has most of these words whole.
HOSTILE = (
    "<script>window.hacked=1</script> <img src=x onerror='window.hacked=1'> ![a](http://evil.example/b) :red[c] $d$"
)
# Elements that only the learner's text could have made, anywhere on the page.
_MADE_BY_TEXT = "() => document.querySelectorAll(\"img[src='x'], img[src*='evil'], [onerror], .katex\").length"


def open_page(page: Page, lab: Lab, **params: str) -> None:
    page.goto(f"{lab.url}/Tokenization?{urlencode({'model': 'lab-bert', **params})}")
    wait_idle(page)


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name).click()
    wait_idle(page)


@pytest.mark.parametrize("view", [PHONE], indirect=True, ids=str)
def test_from_the_chips_to_an_answer(lab: Lab, page: Page, view: View) -> None:
    """The tokens first, then how a word is cut, and a question about another word."""
    open_page(page, lab, text=RARE)
    chips = page.locator(".tokens .token")
    expect(chips).to_have_count(17)
    expect(chips.nth(3)).to_contain_text("##ha")
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= view.width, "the page is wider than the screen"
    page.locator(".st-key-step").get_by_role("radio", name="Pieces", exact=True).click()
    wait_idle(page)
    page.get_by_test_id("stRadioOption").last.click()
    wait_idle(page)
    press(page, "Answer")
    expect(page.get_by_text("The answer is")).to_be_visible()


@at_night
def test_hostile_text_stays_text(lab: Lab, page: Page) -> None:
    for step in STEPS:
        open_page(page, lab, text=HOSTILE, pair=HOSTILE, step=step)
        if page.get_by_role("button", name="Show me").count():
            press(page, "Show me")
        assert page.evaluate(_MADE_BY_TEXT) == 0, step
        assert page.evaluate("window.hacked") is None, step
        if step in {"Tokens", "Special tokens"}:
            expect(page.locator(".tokens").first).to_contain_text("script")
