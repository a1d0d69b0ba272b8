"""The picture of the whole model, in a browser: it plays, it explains itself, it opens a head, its doors lead on."""

from __future__ import annotations

import re
from urllib.parse import quote

import pytest
from playwright.sync_api import Locator, Page, expect

from benchmarks.server import Lab
from lab.figures.machine_of_run import machine as machine_of
from tests.browser.accessibility import each_scheme, violations
from tests.browser.harness import PHONE, View, wait_idle
from tests.browser.stage import Stage, run
from tests.thorough import at_night

FRANCE = "The capital of France is [MASK]."
LONG = " ".join(f"word{i}" for i in range(70)) + " _."
HOSTILE = "<img src=x onerror=alert(1)> </script> \u202egnp.exe $x$ 🙂 مرحبا _"
# On a telephone Streamlit's own menu in the sidebar is a list with headings in it.
STREAMLITS = ("list", "listitem")


def open_page(lab: Lab, page: Page, sentence: str = "The capital of France is _.", answered: bool = True) -> None:
    """The first page for somebody who wants no motion."""
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"{lab.url}/?blank={quote(sentence)}", timeout=90_000)
    expect(machine(page)).to_be_visible(timeout=90_000)  # a cold server loads a model first
    wait_idle(page)
    if answered:
        page.get_by_role("button", name="Show me").click()
        wait_idle(page)


def machine(page: Page) -> Locator:
    return page.locator(".machine")


def caption(page: Page) -> Locator:
    return page.locator(".caption")


def best(page: Page) -> Locator:
    return machine(page).locator(".word li .word").first


def test_it_keeps_the_word_plays_to_it_opens_a_head_shows_the_twin_and_has_doors(lab: Lab, page: Page) -> None:
    """In this order, each part on the machine as the one before has left it."""
    open_page(lab, page, answered=False)
    expect(machine(page).locator(".part.word")).to_contain_text("Guess above first")
    page.get_by_role("button", name="Show me").click()
    wait_idle(page)
    expect(best(page)).to_have_text("paris")
    page.get_by_role("button", name="Layer 2", exact=True).click()
    expect(machine(page).locator(".part.word")).to_contain_text("after layer 6")
    page.emulate_media(reduced_motion="no-preference")
    page.get_by_role("button", name="Play the machine").click()
    expect(page.get_by_role("button", name="Stop the machine")).to_be_visible()
    expect(best(page)).to_have_text("paris", timeout=15_000)
    expect(caption(page)).to_contain_text("paris")
    page.emulate_media(reduced_motion="reduce")
    head_opens(page)
    page.get_by_role("button", name="Untrained weights").click()
    expect(page.get_by_text("has learned nothing.")).to_be_visible()
    wait_idle(page)
    expect(best(page)).not_to_have_text("paris")
    page.get_by_role("button", name="Untrained weights").click()
    wait_idle(page)
    expect(best(page)).to_have_text("paris")
    machine(page).focus()
    page.keyboard.press("ArrowUp")
    expect(machine(page).locator(".part.word")).to_contain_text("Hide “is”")
    here = page.url
    machine(page).get_by_role("button", name="Feed-forward").click()
    expect(caption(page)).to_contain_text("1,536 neurons work on each token alone")
    assert page.url == here
    expect(page.locator(".doors a")).to_have_text("Lesson 8: Feed-forward and LayerNorm")
    machine(page).get_by_role("link", name="Lesson 3: Self-attention").click()
    expect(page).to_have_url(re.compile("/Self-attention"))


def head_opens(page: Page) -> None:
    """A head opens into its matrices, which the lab computes, and closes again."""
    machine(page).get_by_role("button", name=re.compile("^Head 5 of layer 6")).click()
    matrices = page.locator(".matrices")
    expect(matrices.locator("figcaption")).to_have_text(
        ["Q 9 × 32", "Kᵀ 32 × 9", "weights 9 × 9", "V 9 × 32", "context 9 × 32"]
    )
    wait_idle(page)
    weights = matrices.locator("canvas").nth(2)
    weights.scroll_into_view_if_needed()
    box = weights.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 2, box["y"] + 2)
    page.mouse.move(box["x"] + box["width"] * 4.5 / 9, box["y"] + box["height"] * 6.5 / 9)
    expect(matrices.locator(".weight")).to_have_text(re.compile(r"“▢” gives “france” 0\.\d{3} of its attention"))
    matrices.get_by_role("button", name="Close").click()
    expect(matrices).to_be_hidden()


def test_keys_choose_layer_and_token_and_a_token_that_is_no_blank_says_so(stage: Stage) -> None:
    page = stage.show(machine_of(run(FRANCE)))
    machine(page).focus()
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("button", name="Layer 5", exact=True)).to_have_attribute("aria-pressed", "true")
    expect(caption(page)).to_contain_text("Layer 5 of 6. The heads add")
    expect(caption(page)).to_contain_text("Layer 6 begins with the vectors")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowUp")
    expect(machine(page).locator(".token.watched")).to_have_text("is")
    expect(machine(page).locator(".part.word")).to_contain_text("The model can read this token.")
    machine(page).locator(".token", has_text="▢").click()
    expect(best(page)).to_have_text("paris")
    assert stage.reported() == [], "a layer or a token asks the lab"


@pytest.mark.parametrize("view", [PHONE], indirect=True, ids=str)
def test_on_a_telephone_one_part_is_open_at_a_time(stage: Stage) -> None:
    page = stage.show(machine_of(run(FRANCE)))
    for name in ("Vectors", "Feed-forward", "Word"):
        machine(page).get_by_role("button", name=name).click()
        expect(machine(page).locator(".body")).to_have_count(1)
    expect(best(page)).to_have_text("paris")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_header_of_a_lesson_opens_it_with_the_lesson_s_part_marked(lab: Lab, page: Page) -> None:
    page.goto(f"{lab.url}/Feed-forward_and_LayerNorm", timeout=90_000)
    expect(page.get_by_role("button", name="The whole machine")).to_be_visible(timeout=90_000)
    wait_idle(page)
    page.get_by_role("button", name="The whole machine").click()
    expect(page.get_by_role("dialog").locator(".part.marked")).to_have_attribute("data-id", "neurons")
    page.get_by_role("dialog").get_by_role("link", name="Lesson 2: Embeddings").click()
    expect(page).to_have_url(re.compile("/Embeddings"))


@at_night
@pytest.mark.parametrize("view", [View(), PHONE], indirect=True, ids=str)
@pytest.mark.parametrize("sentence", [HOSTILE, LONG], ids=["hostile", "long"])
def test_any_text_is_text_and_axe_finds_nothing(lab: Lab, page: Page, view: View, sentence: str) -> None:
    open_page(lab, page, sentence)
    if view.width > 700:
        assert machine(page).locator(".token").count() <= 24
    for scheme in each_scheme(page):
        found = [each for each in violations(page) if each.grave]
        assert not [str(each) for each in found if each.rule not in STREAMLITS], scheme
