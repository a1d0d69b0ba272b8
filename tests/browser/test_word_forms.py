"""The picture of a word that forms, in a browser: it plays, it is cut by click and by key, and its doors open."""

from __future__ import annotations

import re
from urllib.parse import quote

import pytest
from playwright.sync_api import Locator, Page, expect

from benchmarks.server import Lab
from lab.course.sentences.examples import FIRST
from lab.figures.forming_word import word_forms
from tests.browser.accessibility import each_scheme, violations
from tests.browser.harness import EXTREMES, PHONE, View, wait_idle
from tests.browser.stage import Stage, run
from tests.thorough import at_night

DOGS = FIRST[2].text
HOSTILE = "<img src=x onerror=alert(1)> </script> \u202egnp.exe $x$ 🙂 مرحبا _"
# On a telephone Streamlit's own menu in the sidebar is a list with headings in it.
STREAMLITS = ("list", "listitem")
ANSWER = 0.3  # seconds from a click to the words of the new run


def open_page(lab: Lab, page: Page, sentence: str = "", still: bool = False) -> None:
    """The first page; ``still``: for somebody who wants no motion, so that it need not play to its end."""
    if still:
        page.emulate_media(reduced_motion="reduce")
    page.goto(f"{lab.url}/?blank={quote(sentence or FIRST[0].text)}", timeout=90_000)
    expect(page.locator(".stage")).to_be_visible(timeout=90_000)  # a cold server loads a model first
    wait_idle(page)


def show(page: Page) -> None:
    """Let it play to its end."""
    page.get_by_role("button", name="Show me").click()
    wait_idle(page)
    expect(best(page)).to_be_visible()
    expect(page.locator(".dots i.on:last-child")).to_have_count(1)


def best(page: Page) -> Locator:
    return page.locator(".words li .word").first


def token(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=re.compile(rf"^{name}: .*Cut or heal"))


def way(page: Page, name: str) -> Locator:
    return page.locator(".ways").get_by_role("button", name=name)


# Clicks the token with this name, and tells after how many seconds the sentence below the picture is another.
_CLICK = """async name => {
    const hosts = [...document.querySelectorAll('*')].filter(each => each.shadowRoot?.querySelector('.stage'));
    const root = hosts[0]?.shadowRoot ?? document, say = root.querySelector('.say');
    const before = say.textContent, start = performance.now();
    [...root.querySelectorAll('button.token')].find(each => each.textContent.includes(name)).click();
    while (say.textContent === before) await new Promise(requestAnimationFrame);
    return (performance.now() - start) / 1000;
}"""


@pytest.mark.parametrize("view", [PHONE], indirect=True, ids=str)
def test_it_waits_plays_once_and_fills_the_blank(lab: Lab, page: Page) -> None:
    open_page(lab, page)
    gap = page.locator(".blank-sentence .gap")
    expect(gap).to_have_text("?")
    expect(page.locator(".words")).to_be_hidden()
    page.get_by_role("button", name="Show me").click()
    expect(page.get_by_role("button", name="❚❚ Stop")).to_be_visible()
    expect(gap).to_have_text("paris")
    expect(page.get_by_role("button", name="▶ Play")).to_be_visible()
    expect(page.locator(".say")).to_contain_text("receives most from “france” (48%)")
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


@at_night
def test_all_fits_a_laptop_s_screen_keys_go_through_the_layers_and_any_token_is_watched(lab: Lab, page: Page) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    open_page(lab, page)
    show(page)
    box = page.get_by_role("button", name="The idea, in").bounding_box()
    assert box is not None and box["y"] + box["height"] <= 800
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert "In layer 5, the blank receives most from “capital” (46%)" in page.locator(".spoken").inner_text()
    page.locator(".stage").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".say")).to_contain_text("In layer 5")
    page.keyboard.press(" ")
    expect(page.get_by_role("button", name="❚❚ Stop")).to_be_visible()
    page.keyboard.press(" ")
    expect(page.get_by_role("button", name="▶ Play")).to_be_visible()
    token(page, "capital").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".say")).to_contain_text("The blank does not hear “capital”.")
    page.get_by_role("button", name="Heal all").click()
    expect(page).not_to_have_url(re.compile("cut="))
    page.get_by_label("Watched token").select_option(label="5 · france")
    expect(page.locator(".say")).to_contain_text("“france” receives most from")
    expect(page).to_have_url(re.compile("watch=5"))


def test_a_click_cuts_buttons_choose_the_way_and_a_second_click_heals_each_at_once(lab: Lab, page: Page) -> None:
    """At once by the best of four, as a busy machine only adds to it: each run is a new one."""
    open_page(lab, page, DOGS, still=True)
    show(page)
    expect(best(page)).to_have_text("were")
    token(page, "dogs").click()
    expect(page.locator(".say")).to_contain_text("The blank does not hear “dogs”. Little changes")
    expect(page.locator(".say")).to_contain_text("Either way is enough")
    expect(page.locator(".link.mine.cut")).to_have_count(6)
    expect(page).to_have_url(re.compile("cut=3(&|$)"))
    expect(page.locator(".ways li")).to_have_text(["not cut.63", "directly.60", "around.46", "both ways.10"])
    way(page, "around").click()
    expect(page).to_have_url(re.compile("cut=3~(&|$)"))
    expect(page.locator(".say")).to_contain_text("No token but the blank hears “dogs”. “were” stays the best word")
    expect(page.locator(".link.mine.cut")).to_have_count(0)
    way(page, "both ways").click()
    expect(best(page)).to_have_text("was")
    expect(page.locator(".say")).to_contain_text("Either way is enough, but more is lost without")
    expect(page.locator(".blank-sentence .gap")).to_have_text("was")
    expect(way(page, "both ways")).to_have_attribute("aria-pressed", "true")
    token(page, "dogs").click()
    expect(best(page)).to_have_text("were")
    expect(page).not_to_have_url(re.compile("cut="))
    waited = [page.evaluate(_CLICK, name) for name in ("chased", "dogs", "cat", "tired")]
    assert min(waited) <= ANSWER, waited


@at_night
def test_cls_is_offered_to_say_something_else_and_a_link_brings_it_back(lab: Lab, page: Page) -> None:
    open_page(lab, page, still=True)
    show(page)
    token(page, r"\[CLS\]").click()
    expect(page.locator(".ways li")).to_have_count(5)
    way(page, "other words").click()
    expect(page.locator(".say")).to_contain_text("“[CLS]” says what it says in “It rained all day.”")
    expect(page).to_have_url(re.compile("cut=1(!|%21)"))
    page.reload()
    page.get_by_role("button", name="Show me").click()
    expect(way(page, "other words")).to_have_attribute("aria-pressed", "true")
    way(page, "not cut").click()
    expect(page).not_to_have_url(re.compile("cut="))


@at_night
def test_a_link_has_a_panel_where_it_or_one_head_of_it_is_cut_and_that_leads_to_its_heads(lab: Lab, page: Page) -> None:
    open_page(lab, page, still=True)
    show(page)
    stage = page.locator(".stage")
    stage.focus()
    while "france" not in page.locator(".panel").inner_text():
        page.keyboard.press("ArrowDown")
    expect(page.locator(".panel")).to_contain_text(
        "Layer 6: “france” brings 48% of what arrives at the blank, by length."
    )
    page.get_by_role("button", name="Head 6-1:").click()
    expect(page).to_have_url(re.compile("cut=6-1.7.5"))
    expect(page.get_by_role("button", name="Head 6-1: cut")).to_be_visible()
    page.get_by_role("button", name="Cut this link").click()
    expect(page).to_have_url(re.compile("cut=6.7.5"))
    page.get_by_role("button", name="Heal all").click()
    expect(page).not_to_have_url(re.compile("cut="))
    page.get_by_role("button", name="Lesson 3: Self-attention").click()
    expect(page).to_have_url(re.compile("/Self-attention.*layer=6"))
    wait_idle(page)
    page.go_back()
    wait_idle(page)


@at_night
def test_headings_explain_themselves_before_they_lead_on_and_nothing_moves_where_motion_is_reduced(
    lab: Lab, page: Page
) -> None:
    for heading, name, place in (
        ("tokens: what", "Tokenization", ""),
        ("vectors: what", "Embeddings", ""),
        ("layer 5: what", "Multi-head_attention", "layer=5"),
        ("The blank after layer 6", "Masked_language_model", ""),
    ):
        open_page(lab, page, still=True)
        page.get_by_role("button", name="Show me").click()
        wait_idle(page)
        expect(best(page)).to_have_text("paris")
        expect(page.get_by_role("button", name="❚❚ Stop")).to_have_count(0)
        assert not page.locator(".moving").count()
        here = page.url
        page.get_by_role("button", name=re.compile(heading)).click()
        expect(page.locator(".panel .about")).not_to_be_empty()
        assert page.url == here, "nobody is taken away by a click on a word"
        page.locator(".panel .door").click()
        expect(page).to_have_url(re.compile(f"/{name}.*{place}"))
        wait_idle(page)


@at_night
@pytest.mark.parametrize("view", EXTREMES, indirect=True, ids=str)
def test_hostile_tokens_are_text_and_axe_finds_nothing(lab: Lab, page: Page, view: View) -> None:
    """By day test_kept_files.py looks at the picture alone."""
    open_page(lab, page, HOSTILE, still=True)
    show(page)
    assert "<" in page.locator(".labels").inner_text()
    page.locator(".stage").focus()
    page.keyboard.press("ArrowDown")
    for scheme in each_scheme(page):
        found = [each for each in violations(page) if each.grave]
        assert not [str(each) for each in found if each.rule not in STREAMLITS], scheme


@pytest.mark.parametrize(
    "query",
    [
        "",
        pytest.param("&model=lab-gpt2", marks=at_night),
        pytest.param("&mode=Toy&toy_weights=Constructed", marks=at_night),
    ],
    ids=["sentence", "gpt2", "toy"],
)
def test_the_picture_of_a_lesson_is_cut_too(lab: Lab, page: Page, query: str) -> None:
    page.goto(f"{lab.url}/Multi-head_attention?step=Through+several+layers{query}", timeout=90_000)
    expect(page.locator(".stage")).to_be_visible(timeout=90_000)
    wait_idle(page)
    page.locator(".labels button.token").first.click()
    expect(page.locator(".token.cut")).to_have_count(1)
    expect(page.locator(".say")).to_contain_text("does not hear")


def test_a_long_text_has_few_lanes_and_a_click_asks_for_a_cut(stage: Stage) -> None:
    text = run("The dogs chased the cat. " * 60)
    page = stage.show(word_forms(text, len(text) - 2))
    expect(page.locator(".stage")).to_be_visible()
    assert page.locator(".lane").count() <= 24
    page.locator(".labels button.token").first.click()
    assert stage.hears()[1] == "token"
