"""The frame of a page: the strip at the top, Streamlit's bars of buttons, rows of words, the way of writing."""

from __future__ import annotations

import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Locator, Page, expect

from benchmarks.server import Lab
from tests.browser.harness import PHONE, View, wait_idle
from tests.thorough import at_night

HEADS = 12  # of each layer of the model that a visit begins with
LONG = " ".join(["the cat sat on the mat and"] * 8) + " slept."  # 60 tokens and more


def open_page(lab: Lab, page: Page, name: str, **query: object) -> None:
    page.goto(f"{lab.url}/{name}?{urlencode(query)}")
    wait_idle(page)


def box(element: Locator) -> dict[str, float]:
    found = element.bounding_box()
    assert found is not None
    return {"x": found["x"], "y": found["y"], "width": found["width"], "height": found["height"]}


def test_the_strip_says_how_often_a_layer_repeats_and_its_arrows_stand_beside_the_names(lab: Lab, page: Page) -> None:
    for name, query in (("Grammar", {}), ("Self-attention", {"text": " "})):
        open_page(lab, page, name, **query)
        times = page.locator(".times")
        expect(times).to_have_text("× 6")
        names = box(page.locator(".stop .names").last)
        middle = box(times)["y"] + box(times)["height"] / 2
        assert abs(middle - names["y"] - names["height"] / 2) < 2
        arrow = page.locator(".stop").last.evaluate("e => getComputedStyle(e, '::before').top")
        assert arrow == page.locator(".times").evaluate("e => getComputedStyle(e).top")


def test_a_table_has_its_buttons_inside_and_a_chart_has_none_above_it(lab: Lab, page: Page) -> None:
    open_page(lab, page, "Tokenization", step="Tokens")
    page.get_by_role("button", name="Show me").click()
    page.get_by_text("Every token in a table").click()
    table = page.locator(".stDataFrame").first
    table.hover()
    buttons = table.get_by_test_id("stElementToolbar")
    expect(buttons).to_have_css("opacity", "1")
    expect(buttons).to_have_css("top", "2px")
    inside, whole = box(buttons), box(table)
    assert whole["y"] <= inside["y"] and inside["y"] + inside["height"] <= whole["y"] + 36  # the height of a row
    assert inside["x"] + inside["width"] <= whole["x"] + whole["width"]
    open_page(lab, page, "Embeddings", step="A row of a table")
    page.locator(".stVegaLiteChart").first.hover()
    assert not [each for each in page.get_by_test_id("stElementToolbar").all() if each.is_visible()]


@pytest.mark.parametrize(
    ("view", "query"),
    [(PHONE, {"text": LONG}), pytest.param(View("light", 1366), {}, marks=at_night)],
    indirect=["view"],
    ids=str,
)
def test_a_row_without_arcs_shows_all_its_words(lab: Lab, page: Page, query: dict[str, str]) -> None:
    open_page(lab, page, "Inter-sentence_attention", step="Matrix", **query)
    words = page.locator(".token")
    assert words.count() >= 28
    whole = box(page.locator(".scroll"))
    for word in (words.first, words.nth(words.count() // 2), words.last):
        at = box(word)
        assert at["x"] >= whole["x"] - 1 and at["x"] + at["width"] <= whole["x"] + whole["width"] + 1
        assert float(word.evaluate("e => parseFloat(getComputedStyle(e).fontSize)")) >= 17
    assert box(words.last)["y"] > box(words.first)["y"]
    place = page.locator("[data-testid=stLayoutWrapper]:has(> .st-key-row_of_tokens)")
    expect(place).to_have_css("position", "static")  # several lines would cover too much of the page


@at_night
def test_the_radar_fills_its_place_and_no_name_covers_another_text(lab: Lab, page: Page) -> None:
    open_page(lab, page, "Head_specialization", step="Radar")
    if page.get_by_role("button", name="Show me", exact=True).count():
        page.get_by_role("button", name="Show me", exact=True).click()
        wait_idle(page)
    expect(page.get_by_text(re.compile(r"lowest .+ 0, .+ highest, 1"))).to_be_visible()
    has_room(page.locator(".js-plotly-plot"))
    page.get_by_text("All heads of the layer").click()
    wait_idle(page)
    expect(page.locator(".scatterlayer .trace.scatter")).to_have_count(HEADS)
    page.set_viewport_size({"width": PHONE.width, "height": PHONE.height})
    wait_idle(page)
    has_room(page.locator(".js-plotly-plot"))


def has_room(radar: Locator) -> None:
    whole = box(radar)
    circle = radar.locator(".polar").evaluate("""polar => Math.max(
        ...[...polar.querySelectorAll(".angular-line path, .radial-grid path, .angular-grid path")]
            .map(path => path.getBoundingClientRect().height))""")
    assert circle > 0.58 * min(whole["width"], whole["height"])
    title = box(radar.locator(".gtitle"))
    for name in radar.locator(".angularaxistick text").all():
        at = box(name)
        assert at["y"] >= title["y"] + title["height"]
        assert at["x"] >= whole["x"] and at["x"] + at["width"] <= whole["x"] + whole["width"]
        assert float(name.evaluate("e => parseFloat(getComputedStyle(e).fontSize)")) >= 14


def test_what_is_written_from_right_to_left_is_shown_so(lab: Lab, page: Page) -> None:
    open_page(lab, page, "Self-attention", step="Where does it look?", text="القطة جلست على الحصيرة")
    field = page.get_by_test_id("stSidebar").locator("textarea").first
    expect(field).to_have_css("unicode-bidi", "plaintext")
    expect(page.get_by_text(re.compile("learned from English text and knows few words"))).to_be_visible()
    open_page(lab, page, "", blank="عاصمة فرنسا هي _ الجميلة")
    gap, sentence = box(page.locator(".blank-sentence .gap")), page.locator(".blank-sentence")
    expect(sentence).to_have_css("direction", "rtl")
    assert gap["x"] > box(sentence)["x"] + box(sentence)["width"] / 2  # the sentence begins at the right edge
