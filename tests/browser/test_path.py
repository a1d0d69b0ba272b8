"""The learner's way: back and forward through steps and pages."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from benchmarks.server import Lab
from lab.front.page import QUESTION
from tests.browser.harness import BADGE, PHONE, View, go_to, wait_idle
from tests.thorough import at_night

# The last step's button leads to another page instead.
NEXT_STEP = re.compile("^Next: (?!lesson |the course|The story)")


def test_back_goes_by_step_then_by_page_each_once(lab: Lab, page: Page) -> None:
    """Also where the next page lacks a control of the last one, and whether a button or a step's name was clicked."""
    page.goto(lab.url + "/Self-attention?layer=2&text=Birds+fly+south.&step=Where+does+it+look%3F")
    at_page(page, "Self-attention", "Where does it look?")
    page.get_by_role("button", name=NEXT_STEP).click()
    at_page(page, "Self-attention", "Build a row")
    page.locator(".st-key-step").get_by_text("Why divide", exact=True).click()
    at_page(page, "Self-attention", "Why divide")
    go_to(page, "Lessons", "Embeddings")
    at_page(page, "Embeddings", "A row of a table")
    way = [
        ("Self-attention", "Where does it look?"),
        ("Self-attention", "Build a row"),
        ("Self-attention", "Why divide"),
    ]
    for title, step in reversed(way):
        page.go_back()
        at_page(page, title, step)
    for title, step in (*way[1:], ("Embeddings", "A row of a table")):
        page.go_forward()
        at_page(page, title, step)


@at_night
def test_back_takes_back_what_was_tried_and_so_does_a_button(lab: Lab, page: Page) -> None:
    page.goto(lab.url + "/Self-attention?text=Birds+fly+south.&step=Where+does+it+look%3F")
    at_page(page, "Self-attention", "Where does it look?")
    page.get_by_role("button", name="Show me").click()
    wait_idle(page)
    page.get_by_role("button", name=NEXT_STEP).click()
    at_page(page, "Self-attention", "Build a row")
    page.get_by_role("button", name="Previous: Where does it look?").click()
    at_page(page, "Self-attention", "Where does it look?")
    head = chosen(page, "Head")
    # Streamlit writes the steps into the address, and would forget there what the lab chose.
    expect(page).to_have_url(re.compile(rf"layer=\d+&head={head}$"))
    for back in (page.go_back, page.get_by_role("button", name="Back to what you had").click):
        page.locator(".st-key-_try button").click()
        wait_idle(page)
        assert chosen(page, "Head") != head
        back()
        at_page(page, "Self-attention", "Where does it look?")
        expect(page.get_by_test_id("stSidebar").get_by_role("combobox", name="Head")).to_have_value(head)


@at_night
def test_back_takes_back_a_choice_that_no_widget_holds(lab: Lab, page: Page) -> None:
    """The query of a row is the page's own choice, not a widget's that Streamlit keeps in the address."""
    page.goto(lab.url + "/Self-attention?step=Build+a+row")
    wait_idle(page)
    query = page.locator('.token[aria-pressed="true"]')
    before = query.get_attribute("aria-label") or ""
    page.locator(".st-key-_try button").click()
    expect(page).to_have_url(re.compile(r"[?&]token=\d"))
    wait_idle(page)
    assert query.get_attribute("aria-label") != before
    page.go_back()
    expect(query).to_have_attribute("aria-label", before)
    expect(page).not_to_have_url(re.compile(r"[?&]token=\d"))


@at_night
def test_a_copied_address_names_the_head_on_screen_and_back_leaves_at_once(lab: Lab, page: Page) -> None:
    """Nobody has chosen one yet; another visitor opens the address with another sentence."""
    page.goto(lab.url + "/Models")
    wait_idle(page)
    before = page.evaluate("history.length")
    page.goto(lab.url + "/Self-attention?step=Where+does+it+look%3F")
    wait_idle(page)
    expect(page).to_have_url(re.compile(r"layer=\d+&head=\d+"))
    shown = [chosen(page, label) for label in ("Layer", "Head")]
    assert re.findall(r"(?:layer|head)=(\d+)", page.url) == shown
    assert page.evaluate("history.length") == before + 1
    page.goto(page.url + "&text=The+old+man+the+boat.")
    wait_idle(page)
    assert [chosen(page, label) for label in ("Layer", "Head")] == shown
    page.go_back()
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text("Models")


def chosen(page: Page, label: str) -> str:
    """What a list of the sidebar shows."""
    return page.get_by_test_id("stSidebar").get_by_role("combobox", name=label).input_value()


def at_page(page: Page, title: str, step: str | None = None) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text(title)
    wait_idle(page)
    expect(page).to_have_url(re.compile(f"/{title.replace(' ', '_')}"))
    if step is not None:
        expect(page.locator(".st-key-step [aria-checked=true]")).to_have_text(step)


@pytest.mark.parametrize("view", [PHONE], indirect=True, ids=str)
def test_on_a_telephone_the_header_is_low_and_loses_nothing(lab: Lab, page: Page, view: View) -> None:
    """The way to the sidebar stands in the bar at the top and stays there; the badges are one line that scrolls."""
    page.goto(f"{lab.url}/Self-attention?step=Where+does+it+look%3F", timeout=90_000)
    expect(page.get_by_role("button", name=BADGE)).to_be_visible(timeout=90_000)
    wait_idle(page)
    box = page.locator(".st-key-page_header").bounding_box()
    assert box is not None and box["height"] <= 165  # the question is two of its lines, and the minutes one
    shown = [*page.locator(".st-key-page_header button:visible").all(), page.get_by_role("button", name=BADGE)]
    marks = [each.bounding_box() for each in shown]
    assert len(marks) >= 3
    assert all(mark and mark["x"] >= 0 and mark["x"] + mark["width"] <= view.width for mark in marks)
    bar, opener = page.get_by_test_id("stHeader"), page.get_by_role("button", name="Text, model, head")
    page.get_by_role("button", name="Objectives and words").click()
    expect(page.get_by_test_id("stPopoverBody").get_by_text("you can …")).to_be_visible()
    wait_idle(page)
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("stPopoverBody")).to_have_count(0)
    page.get_by_text("Papers").scroll_into_view_if_needed()
    inside, outside = opener.bounding_box(), bar.bounding_box()
    assert inside and outside and inside["y"] + inside["height"] <= outside["y"] + outside["height"]
    opener.click()
    expect(page.get_by_test_id("stSidebar").get_by_role("textbox", name="Your sentence")).to_be_in_viewport()


@at_night
def test_the_address_names_what_the_page_shows_and_nothing_else(lab: Lab, page: Page) -> None:
    said = "first_dimension=17&order=shuffled"
    page.goto(f"{lab.url}/Embeddings?text=Birds+fly+south.&{said}&metric=Sparsity")
    at_page(page, "Embeddings", "A row of a table")
    expect(page).to_have_url(re.compile("first_dimension=17"))
    expect(page).not_to_have_url(re.compile("metric=|order="))
    page.locator(".st-key-step").get_by_text("Why place", exact=True).click()
    at_page(page, "Embeddings", "Why place")
    go_to(page, "Lessons", "Self-attention")
    at_page(page, "Self-attention", "By hand")
    expect(page).not_to_have_url(re.compile("first_dimension=|order="))
    go_to(page, "Lessons", "Embeddings")
    at_page(page, "Embeddings", "A row of a table")
    expect(page).to_have_url(re.compile("first_dimension=17"))


def test_no_empty_sidebar_stays_beside_the_first_page(lab: Lab, page: Page) -> None:
    page.goto(lab.url)
    wait_idle(page)
    for way in ("back", "menu"):
        page.get_by_test_id("stMain").get_by_role("button", name="The whole course").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Tokenization")
        wait_idle(page)
        expect(page.get_by_test_id("stSidebar")).to_be_visible()
        if way == "menu":
            page.get_by_role("link", name="Inside BERT").first.click()
        while way == "back" and "Tokenization" in page.url:
            page.go_back()
            wait_idle(page)
        expect(page.get_by_role("heading", level=1)).to_have_text(QUESTION)
        wait_idle(page)
        expect(page.get_by_test_id("stSidebar")).to_be_hidden()
