"""The masked-language-model lesson as a visitor meets it: hide, predict, reveal, walk on, come back by link."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

import lab as library
from benchmarks.server import Lab
from lab.models.catalogue import DEFAULT_MODEL
from tests.browser.harness import PHONE, wait_idle
from tests.thorough import at_night

TEXT = "The+cat+sat+on+the+mat+because+it+was+tired."
MASKED = ("Hide words", "From vector to word", "Layer by layer")


def open_page(lab: Lab, page: Page, query: str = f"text={TEXT}") -> None:
    page.goto(f"{lab.url}/Masked_language_model?{query}")
    wait_idle(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("Masked-language model")


def word(page: Page, number: int) -> Locator:
    """A token in the sentence, by its number from 1."""
    return page.locator(".token").nth(number - 1)


def reads(page: Page) -> str:
    """What the sentence shows, a blank for each hidden word."""
    blank = "tokens => tokens.map(e => e.classList.contains('hidden') ? '_' : e.querySelector('.word').textContent)"
    return " ".join(page.locator(".token").evaluate_all(blank))


def skip_the_prediction(page: Page) -> None:
    skip = page.get_by_role("button", name="Show me")
    if skip.count():
        skip.click()
        wait_idle(page)


def test_words_are_hidden_by_click_and_a_reload_shows_the_same(lab: Lab, page: Page) -> None:
    open_page(lab, page)
    word(page, 7).click()
    wait_idle(page)
    assert "masked=7.11" in page.url
    assert "place=7" in page.url
    assert "[CLS] the cat sat on the _ because it was _ . [SEP]" in reads(page)
    page.reload()
    wait_idle(page)
    assert "[CLS] the cat sat on the _ because it was _ . [SEP]" in reads(page)
    assert "masked=7.11" in page.url
    word(page, 11).click()  # asks about it
    wait_idle(page)
    assert "masked=7.11" in page.url and "place=11" in page.url
    word(page, 11).click()  # shows it
    wait_idle(page)
    assert "masked=7" in page.url
    assert "masked=7.11" not in page.url
    word(page, 7).click()
    wait_idle(page)
    assert "masked=none" in page.url
    expect(page.get_by_text("Hide a word to ask the model about it.")).to_be_visible()
    open_page(lab, page, "text=%3Cscript%3Ealert(1)%3C%2Fscript%3E+%24x%24&masked=3")
    assert "< _ >" in reads(page)
    assert page.locator("main script").count() == 0


@at_night
@pytest.mark.parametrize("view", [PHONE], indirect=True, ids=str)
def test_the_lesson_walks_from_step_to_step_and_fits_the_screen(lab: Lab, page: Page) -> None:
    """On a wider one test_teaching.py walks through every lesson."""
    open_page(lab, page, f"text={TEXT}&masked=3")
    for step in MASKED:
        expect(page.get_by_role("radio", name=step)).to_be_checked()
        skip_the_prediction(page)
        overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert overflow <= 0, step
        page.get_by_role("button", name="Next:").click()
        wait_idle(page)


@at_night
def test_one_logit_moves_and_every_probability_with_it(lab: Lab, page: Page) -> None:
    open_page(lab, page, f"text={TEXT}&masked=7&step=From+vector+to+word")
    skip_the_prediction(page)
    model = library.load_model(DEFAULT_MODEL)
    logits = library.trace(model, TEXT.replace("+", " ").replace("mat", "[MASK]")).logits(6)[0].double()
    order = logits.argsort(descending=True)
    for place, moved in ((0, 0.0), (0, -3.0), (1, 2.5)):
        page.locator(".line button.label").nth(place).click()
        wait_idle(page)
        page.locator("input[type=range]").evaluate(
            "(slider, to) => { slider.value = to; slider.dispatchEvent(new Event('input')) }", str(moved)
        )
        now = logits.clone()
        now[order[place]] += moved
        right = [f"{100 * float(share):.1f} %" for share in now.softmax(0)[order[:5]]]
        assert page.locator(".line .number").all_text_contents()[:5] == right
    assert "_candidate" not in page.url


@at_night
def test_a_long_likelihood_shows_its_progress_and_stops(lab: Lab, page: Page) -> None:
    open_page(lab, page, f"text={'+'.join([TEXT] * 16)}&step=Likelihood")
    page.get_by_role("button", name="Score 176 tokens").click(timeout=60_000)
    expect(page.get_by_role("progressbar")).to_have_attribute("aria-valuenow", re.compile(r"^[1-9]"), timeout=60_000)
    page.get_by_test_id("stMain").get_by_role("button", name="Stop").click()
    wait_idle(page)
    skip_the_prediction(page)
    expect(page.get_by_text(re.compile(r"So far, the lab has scored the first [1-9]\d* of 176"))).to_be_visible()
    wait_idle(page)
    page.get_by_role("button", name=re.compile(r"Go on: \d+ of 176")).click()
    expect(page.get_by_test_id("stMain").get_by_role("button", name="Stop")).to_be_visible()
    expect(page.get_by_text("So far, ")).to_have_count(0, timeout=120_000)
    wait_idle(page)
    page.get_by_text("The sum, written out").click()
    expect(page.get_by_text("Mean of 176 tokens, nats")).to_be_visible()


@pytest.mark.parametrize("view", [PHONE], indirect=True, ids=str)
def test_on_a_telephone_the_map_of_exchanged_vectors_fits(lab: Lab, page: Page) -> None:
    open_page(lab, page, "step=When+France+decides")
    skip_the_prediction(page)
    cells = page.locator(".st-key-figure-exchanged svg path[aria-label*='france']")
    assert cells.count() >= 7
    assert cells.evaluate_all("nodes => Math.max(...nodes.map(node => node.getBoundingClientRect().right))") <= 390
