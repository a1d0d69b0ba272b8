"""A learner takes the progress home and back to a missed check; a teacher turns steps by keyboard."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from benchmarks.server import Lab
from tests.browser.harness import go_to, wait_idle
from tests.thorough import at_night

SENTENCE = "text=The+cat+sat+on+the+mat+because+it+was+tired."
CHECK = "/Self-attention?step=Check"


@at_night
def test_the_first_page_keeps_a_sentence_through_a_reload(lab: Lab, page: Page) -> None:
    page.goto(lab.url + "/Self-attention")
    wait_idle(page)
    go_to(page, "Inside BERT")
    expect(page).not_to_have_url(re.compile("text="))  # nobody typed: each lesson begins with its own
    page.goto(f"{lab.url}/Tokenization?{SENTENCE}")
    wait_idle(page)
    go_to(page, "Inside BERT")
    expect(page).to_have_url(re.compile(re.escape(SENTENCE)))
    page.reload()
    wait_idle(page)
    page.get_by_role("button", name=re.compile("Go on with lesson")).click()
    wait_idle(page)
    expect(page).to_have_url(re.compile(re.escape(SENTENCE)))
