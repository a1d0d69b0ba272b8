"""A learner on the self-attention page: clicks a cell, changes the sentence, shares the link."""

from __future__ import annotations

import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Locator, Page, expect

from benchmarks.server import Lab
from tests.browser.harness import BADGE, PHONE, go_to, wait_idle
from tests.browser.test_metrics_and_sentences import click_cell, open_step
from tests.thorough import at_night


def sentence(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Your sentence")


@pytest.mark.parametrize("view", [PHONE], indirect=True, ids=str)
def test_a_click_on_a_cell_chooses_the_pair_and_goes_into_the_link(lab: Lab, page: Page) -> None:
    open_step(lab, page, "/Self-attention?layer=2&head=3&text=The+cat+sat.&step=Where+does+it+look%3F")
    click_cell(page, 3 * 6 + 1)  # row 4 of [CLS] the cat sat . [SEP], column 2
    expect(page.get_by_text(re.compile(" gives .* the weight "))).to_contain_text("sat")
    assert "token=4" in page.url
    page.reload()
    wait_idle(page)
    assert "token=4" in page.url
    assert "layer=2" in page.url


@at_night
def test_a_sentence_of_one_s_own_survives_a_walk_and_hostile_text_stays_text(lab: Lab, page: Page) -> None:
    hostile = "<img src=x onerror=alert(1)> $x$ :red[no]"
    page.goto(f"{lab.url}/Self-attention?layer=3&head=4&{urlencode({'text': hostile})}")
    wait_idle(page)
    assert page.locator("img[src='x']").count() == 0
    go_to(page, "Lessons", "Tokenization")
    page.get_by_text("Yours", exact=True).click()  # each lesson begins with the course's
    wait_idle(page)
    expect(sentence(page)).to_have_value(hostile)
    assert page.locator("img[src='x']").count() == 0
    page.get_by_role("link", name="Lesson 3: Self-attention").click()  # by the strip
    wait_idle(page)
    page.get_by_role("button", name="Next: Where does it look?").click()
    wait_idle(page)
    page.get_by_text("Yours", exact=True).click()
    wait_idle(page)
    expect(sentence(page)).to_have_value(hostile)
    sentence(page).fill("<script>window.hacked=1</script> \u202eabc")
    sentence(page).press("Control+Enter")
    wait_idle(page)
    assert page.evaluate("window.hacked") is None


def test_who_took_another_head_along_is_led_back_to_the_course_s_and_a_badge_stays_open(lab: Lab, page: Page) -> None:
    """In a browser, layer and head are bound to the address then, from which nothing can be taken away."""
    open_step(lab, page, "/Self-attention?step=Where+does+it+look%3F")
    page.get_by_role("button", name="Head 6").click()
    wait_idle(page)
    page.get_by_role("button", name="Next: Build a row").click()
    wait_idle(page)
    page.get_by_role("button", name="Look where the course does").click()
    wait_idle(page)
    assert page.get_by_test_id("stException").count() == 0
    expect(page.get_by_role("button", name="Look where the course does")).to_have_count(0)
    assert "head=6" not in page.url
    sentence(page).fill("Nobody has asked about this.")
    sentence(page).press("Control+Enter")
    wait_idle(page)
    badge = page.get_by_role("button", name=BADGE).filter(has_text="radio_button_unchecked")
    badge.click()
    expect(page.get_by_role("button", name="steps match Hugging Face")).to_be_visible()
    expect(page.get_by_role("dialog").get_by_text("steps were compared number by number")).to_be_visible()
    expect(badge).to_have_count(0)
