"""The sentence is the control: by pointer, by keyboard, on a telephone; what it says is the trace's.

All but two tests have the component without a server (``stage.py``).
"""

from __future__ import annotations

import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Locator, Page, expect

from benchmarks.server import Lab
from lab.course.pages import step_name
from lab.figures.sentence_arcs import DRAWN, sentence
from lab.ui.parameters import DEFAULT_TEXT
from tests.browser.harness import PHONE, View, wait_idle
from tests.browser.stage import Stage, run
from tests.thorough import at_night

AT = {"step": step_name("self-attention", "break-it"), "text": DEFAULT_TEXT, "layer": 5, "head": 11, "token": 9}
STUCK = 56  # pixels


def open_sentence(stage: Stage, query: int = 8, key: int | None = None, text: str = DEFAULT_TEXT) -> Page:
    """Token 9 of the course's sentence looks, in head 11 of layer 5; places count from 0."""
    return stage.show(sentence(run(text), query, key, of=(4, 10)))


def words(page: Page) -> Locator:
    return page.locator(".token")


def said(page: Page) -> str:
    return page.locator(".spoken").text_content() or ""


def test_a_pointer_previews_and_a_click_chooses(stage: Stage) -> None:
    page = open_sentence(stage)
    weights = run(DEFAULT_TEXT).layer(4).attention[10].numpy()
    assert f"brother {weights[8, 4]:.2f}" in said(page)
    expect(words(page).nth(4)).to_have_class(re.compile(r"\bto\b"))
    page.mouse.move(2, 2)  # the first report of a pointer is no movement: it may have rested there
    words(page).nth(9).hover()
    expect(words(page).nth(9)).to_have_class(re.compile(r"\bfrom\b"))
    assert said(page).startswith("wanted looks at")
    assert stage.reported() == [], "a preview asks the lab"
    for place, number in enumerate(page.locator(".share").all_text_contents()):
        assert number == ("<.01" if 0 < weights[9, place] < 0.005 else f"{weights[9, place]:.2f}")
    words(page).nth(9).click()
    assert stage.hears()[1:] == [9, -1]
    expect(words(page).nth(9)).to_have_attribute("aria-pressed", "true")


def test_shift_or_a_second_click_chooses_the_other_token(stage: Stage) -> None:
    page = open_sentence(stage, key=4)
    words(page).nth(1).click(modifiers=["Shift"])
    assert stage.hears()[1:] == [8, 1]
    expect(words(page).nth(8)).to_have_class(re.compile(r"\bfrom\b"))  # though the pointer rests on the other one
    words(page).nth(8).click()
    expect(page.locator(".hint")).to_contain_text("Now click")
    words(page).nth(6).click()
    assert stage.hears()[1:] == [8, 6]
    words(page).nth(2).dblclick()  # faster than Python
    assert stage.hears()[1:] == [2, -1]
    stage.give(sentence(run(DEFAULT_TEXT), 2, 4, of=(4, 10)))
    expect(page.locator(".hint")).to_contain_text("Now click")


def test_arrow_keys_preview_and_enter_chooses(stage: Stage) -> None:
    page = open_sentence(stage)
    words(page).nth(8).focus()
    page.keyboard.press("ArrowRight")
    expect(words(page).nth(9)).to_be_focused()
    assert said(page).startswith("wanted looks at")
    page.keyboard.press("Home")
    expect(words(page).first).to_be_focused()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert stage.hears()[1:] == [1, -1]
    stage.give(sentence(run(DEFAULT_TEXT), 1, of=(4, 10)))
    expect(words(page).nth(1)).to_be_focused()


def test_stuck_at_the_top_it_is_one_row_that_can_still_be_clicked(lab: Lab, page: Page) -> None:
    page.set_viewport_size({"width": 1280, "height": 420})  # low, so that the step scrolls
    page.goto(f"{lab.url}/Self-attention?{urlencode(AT)}")
    wait_idle(page)
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
@pytest.mark.parametrize("token", [1, 2, 9, 12])
def test_on_a_telephone_it_begins_with_the_first_word_as_far_as_the_chosen_one_is_seen(
    stage: Stage, token: int
) -> None:
    page = open_sentence(stage, token - 1)
    box, first, chosen = (
        each.bounding_box() for each in (page.locator(".scroll"), words(page).first, words(page).nth(token - 1))
    )
    assert box and first and chosen
    assert page.locator(".scroll").evaluate("e => e.scrollWidth > e.clientWidth")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE.width
    assert box["x"] <= chosen["x"] and chosen["x"] + chosen["width"] <= box["x"] + box["width"] + 1
    room = chosen["x"] + chosen["width"] - first["x"] + 40 <= box["width"]
    assert (first["x"] >= box["x"]) or not room


@pytest.mark.parametrize("view", [PHONE], indirect=True, ids=str)
@pytest.mark.parametrize("token", [2, 12, 30])
def test_on_a_telephone_a_row_from_right_to_left_shows_the_chosen_word(stage: Stage, token: int) -> None:
    page = open_sentence(stage, token - 1, text="مرحبا بالعالم الجميل اليوم مرحبا بالعالم")
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


def test_a_long_text_is_a_window_and_hostile_tokens_are_text(stage: Stage) -> None:
    hostile = "<img src=x onerror=alert(1)> \u202e word "
    page = open_sentence(stage, 199, text=hostile * 20)
    expect(words(page)).to_have_count(DRAWN)
    expect(page.locator(".rest")).to_have_count(2)
    assert page.locator("img[src='x']").count() == 0
    assert "\u202e" not in "".join(page.locator(".word").all_text_contents())
