"""The sentence is the control: by pointer, by keyboard, on a telephone; what it says is the trace's."""

from __future__ import annotations

import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Locator, Page, expect

import lab as library
from benchmarks.server import Lab
from lab.course.pages import step_name
from lab.figures.sentence_arcs import DRAWN
from lab.models.catalogue import DEFAULT_MODEL
from lab.ui.parameters import DEFAULT_TEXT
from tests.browser.harness import PHONE, View, wait_idle
from tests.thorough import at_night, some

STEP = {"step": step_name("self-attention", "break-it")}
AT = {**STEP, "text": DEFAULT_TEXT, "layer": 5, "head": 11, "token": 9}
STUCK = 56  # pixels


def open_sentence(lab: Lab, page: Page, **query: object) -> None:
    page.goto(f"{lab.url}/Self-attention?{urlencode(query)}")
    wait_idle(page)


def words(page: Page) -> Locator:
    return page.locator(".token")


def said(page: Page) -> str:
    return page.locator(".st-key-row_of_tokens_arcs .spoken").text_content() or ""


def test_a_pointer_previews_and_a_click_chooses(lab: Lab, page: Page) -> None:
    open_sentence(lab, page, **AT)
    weights = library.trace(library.load_model(DEFAULT_MODEL), DEFAULT_TEXT).layer(4).attention[10].numpy()
    assert f"brother {weights[8, 4]:.2f}" in said(page)
    expect(words(page).nth(4)).to_have_class(re.compile(r"\bto\b"))
    runs = page.evaluate("performance.getEntriesByType('resource').length")
    page.mouse.move(2, 2)  # the first report of a pointer is no movement: it may have rested there
    words(page).nth(9).hover()
    expect(words(page).nth(9)).to_have_class(re.compile(r"\bfrom\b"))
    assert said(page).startswith("wanted looks at") and "token=9" in page.url
    assert page.evaluate("performance.getEntriesByType('resource').length") == runs
    for place, number in enumerate(page.locator(".share").all_text_contents()):
        assert number == ("<.01" if 0 < weights[9, place] < 0.005 else f"{weights[9, place]:.2f}")
    words(page).nth(9).click()
    expect(page).to_have_url(re.compile(r"[?&]token=10\b"))
    expect(words(page).nth(9)).to_have_attribute("aria-pressed", "true")


@at_night
def test_shift_or_a_second_click_chooses_the_other_token(lab: Lab, page: Page) -> None:
    open_sentence(lab, page, **AT)
    words(page).nth(1).click(modifiers=["Shift"])
    expect(page).to_have_url(re.compile(r"[?&]token=9&key_token=2\b"))
    wait_idle(page)
    expect(words(page).nth(8)).to_have_class(re.compile(r"\bfrom\b"))  # though the pointer rests on the other one
    words(page).nth(8).click()
    expect(page.locator(".hint")).to_contain_text("Now click")
    words(page).nth(6).click()
    expect(page).to_have_url(re.compile(r"[?&]token=9&key_token=7\b"))
    wait_idle(page)
    words(page).nth(2).dblclick()  # faster than Python
    expect(page).to_have_url(re.compile(r"[?&]token=3\b"))
    wait_idle(page)
    expect(page.locator(".hint")).to_contain_text("Now click")


def test_arrow_keys_preview_and_enter_chooses(lab: Lab, page: Page) -> None:
    open_sentence(lab, page, **AT)
    words(page).nth(8).focus()
    page.keyboard.press("ArrowRight")
    expect(words(page).nth(9)).to_be_focused()
    assert said(page).startswith("wanted looks at")
    page.keyboard.press("Home")
    expect(words(page).first).to_be_focused()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"[?&]token=2\b"))
    wait_idle(page)
    expect(words(page).nth(1)).to_be_focused()


def test_stuck_at_the_top_it_is_one_row_that_can_still_be_clicked(lab: Lab, page: Page) -> None:
    page.set_viewport_size({"width": 1280, "height": 420})  # low, so that the step scrolls
    open_sentence(lab, page, **AT)
    page.get_by_test_id("stMain").evaluate("main => main.scrollBy(0, 600)")
    wait_idle(page)
    bar = page.get_by_test_id("stHeader").bounding_box()
    row = page.locator(".row").bounding_box()
    assert bar and row and abs(row["y"] - (bar["y"] + bar["height"])) < 12
    place = page.locator("[data-testid=stLayoutWrapper]:has(> .st-key-row_of_tokens_arcs)")
    whole = place.bounding_box()
    assert whole and whole["y"] + whole["height"] - (bar["y"] + bar["height"]) <= STUCK
    assert page.evaluate("e => getComputedStyle(e).backgroundColor", place.element_handle()) == "rgb(255, 255, 255)"
    words(page).nth(3).click()
    expect(page).to_have_url(re.compile(r"[?&]token=4\b"))


@pytest.mark.parametrize("view", [PHONE], indirect=True, ids=str)
def test_on_a_telephone_it_scrolls_sideways_and_shows_the_chosen_word(lab: Lab, page: Page) -> None:
    open_sentence(lab, page, **AT)
    chosen = words(page).nth(8).bounding_box()
    assert chosen and chosen["x"] >= 0 and chosen["x"] + chosen["width"] <= PHONE.width
    assert page.locator(".scroll").evaluate("e => e.scrollWidth > e.clientWidth")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE.width


@pytest.mark.parametrize("view", [PHONE], indirect=True, ids=str)
@pytest.mark.parametrize("token", some([1, 9, 2, 12], 2))
def test_on_a_telephone_it_begins_with_the_first_word_as_far_as_the_chosen_one_is_seen(
    lab: Lab, page: Page, token: int
) -> None:
    open_sentence(lab, page, **{**AT, "token": token})
    box, first, chosen = (
        each.bounding_box() for each in (page.locator(".scroll"), words(page).first, words(page).nth(token - 1))
    )
    assert box and first and chosen
    assert box["x"] <= chosen["x"] and chosen["x"] + chosen["width"] <= box["x"] + box["width"] + 1
    room = chosen["x"] + chosen["width"] - first["x"] + 40 <= box["width"]
    assert (first["x"] >= box["x"]) or not room


@at_night
@pytest.mark.parametrize("view", [PHONE], indirect=True, ids=str)
@pytest.mark.parametrize("token", [2, 12, 30])
def test_on_a_telephone_a_row_from_right_to_left_shows_the_chosen_word(lab: Lab, page: Page, token: int) -> None:
    open_sentence(lab, page, **STEP, text="مرحبا بالعالم الجميل اليوم مرحبا بالعالم", token=token)
    box, first, chosen = (
        each.bounding_box() for each in (page.locator(".scroll"), words(page).first, words(page).nth(token - 1))
    )
    assert box and first and chosen
    assert box["x"] - 1 <= chosen["x"] and chosen["x"] + chosen["width"] <= box["x"] + box["width"] + 1
    assert (first["x"] > chosen["x"]) and (token > 5 or first["x"] + first["width"] <= box["x"] + box["width"] + 1)


@at_night
@pytest.mark.parametrize("view", [View("light", 1366)], indirect=True, ids=str)
def test_three_sentences_fit_on_a_laptop(lab: Lab, page: Page) -> None:
    at = urlencode({"step": step_name("inter-sentence-attention", "behind-a-cell")})
    page.goto(f"{lab.url}/Inter-sentence_attention?{at}")
    wait_idle(page)
    if page.get_by_role("button", name="Show me", exact=True).count():
        page.get_by_role("button", name="Show me", exact=True).first.click()
        wait_idle(page)
    scroll = page.locator(".scroll").first
    assert scroll.evaluate("e => e.scrollWidth - e.clientWidth") <= 1


def test_a_long_text_is_a_window_and_hostile_tokens_are_text(lab: Lab, page: Page) -> None:
    hostile = "<img src=x onerror=alert(1)> \u202e word "
    open_sentence(lab, page, **STEP, text=hostile * 60, token=200)
    expect(words(page)).to_have_count(DRAWN)
    expect(page.locator(".rest")).to_have_count(2)
    assert page.locator("img[src='x']").count() == 0
    assert "\u202e" not in "".join(page.locator(".word").all_text_contents())
