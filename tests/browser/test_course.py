"""A learner takes the progress home and back to a missed check; a teacher turns steps by keyboard."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Page, expect

from benchmarks.server import Lab
from tests.browser.harness import go_to, wait_idle
from tests.thorough import at_night

SENTENCE = "text=The+cat+sat+on+the+mat+because+it+was+tired."
CHECK = "/Self-attention?step=Check"


def miss_one(page: Page) -> None:
    """Answer the first check until the answer is wrong: each option on a first visit of its own."""
    for option in range(2):
        first = page.get_by_test_id("stMain").get_by_test_id("stRadio").first
        expect(first).to_be_visible(timeout=30_000)
        first.get_by_role("radiogroup").locator("label").nth(option).click()
        wait_idle(page)
        if page.get_by_test_id("stMain").get_by_text(re.compile("That is not right|Right is [A-Z]")).count():
            return
        page.evaluate("localStorage.clear()")  # a reload alone would bring the answer back
        page.reload()
        wait_idle(page)
    raise AssertionError("two options of one question are right")


def test_a_missed_check_goes_home_in_a_file_and_leads_back(lab: Lab, page: Page, tmp_path: Path) -> None:
    page.goto(lab.url + CHECK)
    wait_idle(page)
    miss_one(page)
    go_to(page, "Inside BERT")
    page.get_by_text("Your progress", exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download progress").click()
    file = tmp_path / "progress.json"
    download.value.save_as(file)

    page.locator(".st-key-_start_afresh").get_by_role("button").click()
    wait_idle(page)
    page.goto(lab.url)
    wait_idle(page)
    expect(page.get_by_text("Missed at first try")).to_have_count(0)
    page.get_by_text("Your progress", exact=True).click()
    page.locator("input[type=file]").set_input_files(file)
    wait_idle(page)
    expect(page.get_by_text("checks answered 1, steps done 0")).to_be_visible()
    page.get_by_role("button", name="Back to this question in lesson 3").click()
    wait_idle(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("Self-attention")
    expect(page).to_have_url(re.compile("step=Check"))


def test_a_teacher_turns_steps_by_keyboard_in_larger_type(lab: Lab, page: Page) -> None:
    size = "getComputedStyle(document.documentElement).fontSize"
    page.goto(lab.url + "/Self-attention?teach=1&seed=7&step=Where+does+it+look%3F")
    wait_idle(page)
    expect(page.get_by_role("button", name="Reveal")).to_be_visible(timeout=30_000)
    assert page.evaluate(size) == "20px"
    for key, step in (("PageDown", "Build+a+row"), ("PageDown", "All+rows+at+once"), ("PageUp", "Build+a+row")):
        page.keyboard.press(key)
        wait_idle(page)
        assert f"step={step}" in page.url
    go_to(page, "Lessons", "Tokenization")
    assert "teach=1" in page.url and "seed=7" in page.url
    page.get_by_test_id("stExpandSidebarButton").click()
    page.get_by_role("button", name="Leave").click()
    wait_idle(page)
    assert "teach" not in page.url and "seed=7" in page.url
    assert page.evaluate(size) == "16px"


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
