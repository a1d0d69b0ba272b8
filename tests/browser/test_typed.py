"""A paste longer than a field reads is kept up to the limit, in the field and in the address, and this is said."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from benchmarks.server import Lab
from lab.ui.parameters import BLANK_TEXT, MAX_CHARACTERS
from tests.browser.harness import wait_idle
from tests.thorough import at_night


def test_a_long_paste_into_the_first_page(lab: Lab, page: Page) -> None:
    page.goto(lab.url + "/?blank=A+_.")
    wait_idle(page)
    field = page.get_by_role("textbox", name=re.compile("blank"))
    field.fill("A long text with a _ " * 30)
    field.press("Enter")
    expect(page.get_by_text(f"reads the first {BLANK_TEXT.longest}")).to_be_visible()
    wait_idle(page)
    assert len(field.input_value()) == BLANK_TEXT.longest


@at_night
def test_a_long_paste_into_the_sentence_of_a_lesson(lab: Lab, page: Page) -> None:
    page.goto(lab.url + "/Self-attention")
    wait_idle(page)
    field = page.get_by_role("textbox", name="Your sentence")
    field.fill("word " * 1000)
    field.press("Control+Enter")
    expect(page.get_by_text(f"reads the first {MAX_CHARACTERS:,}")).to_be_visible(timeout=30_000)
    assert len(field.input_value()) == MAX_CHARACTERS
    wait_idle(page)
    page.reload()
    wait_idle(page)
    assert len(field.input_value()) == MAX_CHARACTERS
