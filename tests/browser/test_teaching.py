"""Before a class: at 1024 × 768 each step begins at its top, its header is low, and its question is in sight."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from playwright.sync_api import Page, expect

from benchmarks.server import Lab
from lab.course.pages import LESSONS, Lesson
from lab.course.sentences.looks import STORY_TEXT
from tests.browser.harness import View, go_to, wait_idle
from tests.browser.screenshots import addresses
from tests.thorough import at_night, some

PROJECTOR = View("light", 1024, 768)
THREE = "The cat slept. Then it woke up. She fed it."
HEADER = 160  # pixels
BOTTOMS = """selector => [...document.querySelectorAll(selector)].map(e => e.getBoundingClientRect().bottom)"""
SCROLLED = """document.querySelector('[data-testid="stMain"]').scrollTop"""
STEP = ".st-key-step [role=radio][aria-checked=true]"
pages = dict(zip([lesson.id for lesson in LESSONS], list(addresses().values())[1:], strict=False))


def to_the_end(page: Page) -> None:
    page.evaluate("""document.querySelector('[data-testid="stMain"]').scrollTo(0, 100000)""")


@pytest.mark.parametrize("view", [PROJECTOR], indirect=True, ids=str)
@pytest.mark.parametrize("lesson", some(LESSONS, 1), ids=lambda lesson: lesson.id)
def test_every_step_fits_a_projector(lab: Lab, page: Page, lesson: Lesson) -> None:
    page.goto(f"{lab.url}{pages[lesson.id]}?teach=1&{urlencode({'text': lesson.text or THREE})}")
    expect(page.locator(STEP)).to_be_visible(timeout=60_000)  # a cold server loads a model first
    wait_idle(page)
    menus, title = (page.locator(each).bounding_box() for each in ('[data-testid="stHeader"]', "h1"))
    assert menus and title and menus["y"] + menus["height"] <= title["y"] + 1, "the menus lie above the title"
    steps = page.locator(".st-key-step [role=radio]").all_inner_texts()
    asked = 0
    for number, step in enumerate(steps):
        expect(page.locator(STEP)).to_have_text(step)
        wait_idle(page)
        assert page.evaluate(SCROLLED) == 0, step
        assert page.evaluate(BOTTOMS, ".st-key-step")[0] <= HEADER, step
        buttons = page.evaluate(BOTTOMS, "[class*='st-key-_predict'] button")
        assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"), step
        assert all(0 < bottom <= PROJECTOR.height for bottom in buttons), (step, buttons)
        asked += len(buttons) + page.locator("[class*='st-key-_beside'] button").count()
        if number + 1 < len(steps):
            to_the_end(page)
            page.keyboard.press("PageDown")
    assert asked


@pytest.mark.parametrize("view", [PROJECTOR], indirect=True, ids=str)
def test_a_new_sentence_is_typed_and_page_down_goes_on(lab: Lab, page: Page) -> None:
    page.goto(f"{lab.url}/Self-attention?teach=1&step=Where+does+it+look%3F")
    wait_idle(page)
    box = page.get_by_role("textbox", name="Your sentence")
    expect(box).not_to_be_in_viewport()  # before a class, no sidebar takes room until somebody asks for it
    page.get_by_test_id("stExpandSidebarButton").click()
    expect(box).to_be_in_viewport()
    assert box.bounding_box()["y"] < PROJECTOR.height / 2  # type: ignore[index]
    page.get_by_role("button", name="Reveal").click()
    expect(page.get_by_role("button", name="Hide again")).to_be_visible()
    box.fill("Birds fly south in the cold winter.")
    box.press("Control+Enter")
    expect(page.locator(".token .word").nth(1)).to_have_text("birds")
    page.keyboard.press("PageDown")
    expect(page.locator(STEP)).to_have_text("Build a row")
    box.fill("Birds fly north.")
    page.keyboard.press("PageDown")
    expect(page.locator(STEP)).to_have_text("All rows at once")
    wait_idle(page)
    expect(page).to_have_url(re.compile(re.escape("text=Birds+fly+north.")))  # a class keeps its sentence


@at_night
@pytest.mark.parametrize("view", [PROJECTOR], indirect=True, ids=str)
def test_words_of_a_chart_grow_with_the_text(lab: Lab, page: Page) -> None:
    sizes = []
    for teach in ("0", "1"):
        page.goto(f"{lab.url}/Self-attention?step=Why+divide&teach={teach}")
        wait_idle(page)
        label = page.locator('[data-testid="stVegaLiteChart"] .role-axis-label text').first
        expect(label).to_be_visible()
        sizes.append(float(label.evaluate("e => parseFloat(getComputedStyle(e).fontSize)")))
    assert sizes[1] / sizes[0] == pytest.approx(20 / 16)


def test_a_letter_chooses_an_option(lab: Lab, page: Page) -> None:
    page.goto(f"{lab.url}/Self-attention?step=Where+does+it+look%3F")
    wait_idle(page)
    options = page.get_by_test_id("stMain").get_by_test_id("stRadioOption")
    expect(options.nth(1)).to_contain_text("B ·")
    commit = page.get_by_role("button", name="Commit and show")
    expect(commit).to_be_disabled()
    page.keyboard.press("b")  # nothing has the focus, so nothing happens
    expect(commit).to_be_disabled()
    page.get_by_test_id("stMain").get_by_role("radiogroup").last.get_by_role("radio").first.focus()
    page.keyboard.press("b")
    expect(commit).to_be_enabled()
    expect(page.get_by_test_id("stMain").get_by_role("radiogroup").last.get_by_role("radio").nth(1)).to_be_checked()
    page.get_by_role("textbox", name="Your sentence").press_sequentially(" abcd")
    wait_idle(page)
    expect(page.get_by_role("textbox", name="Your sentence")).to_have_value(f"{STORY_TEXT} abcd")


@pytest.mark.parametrize("view", [PROJECTOR], indirect=True, ids=str)
def test_page_up_undoes_page_down_within_a_lesson_and_across_in_larger_type(lab: Lab, page: Page) -> None:
    size = "getComputedStyle(document.documentElement).fontSize"
    page.goto(f"{lab.url}/Self-attention?teach=1&seed=7&step=Break+it")  # a step beside the way
    places = []
    for key in ("PageDown", "PageDown", "PageDown", "PageUp", "PageUp", "PageUp"):
        expect(page.locator(f"{STEP}, .st-key-step [data-testid=stPopover] button").first).to_be_visible(timeout=60_000)
        wait_idle(page)
        places.append(where(page))
        page.keyboard.press(key)
        page.wait_for_function("before => location.href !== before", arg=places[-1][2], timeout=60_000)
    wait_idle(page)
    places.append(where(page))
    told = [each[:2] for each in places]
    assert told[0] == told[6] and told[1] == told[5] and told[2] == told[4], told
    assert told[1] == ("/Self-attention", "Check") and told[2][0] == "/Multi-head_attention", told
    assert page.evaluate(size) == "20px"
    go_to(page, "Lessons", "Tokenization")
    assert "teach=1" in page.url and "seed=7" in page.url
    page.get_by_test_id("stExpandSidebarButton").click()
    page.get_by_role("button", name="Leave").click()
    wait_idle(page)
    assert "teach" not in page.url and "seed=7" in page.url
    assert page.evaluate(size) == "16px"


def where(page: Page) -> tuple[str, str, str]:
    """The page and the step that the address names, and the whole address."""
    address = urlsplit(page.url)
    return address.path, dict(parse_qsl(address.query)).get("step", ""), page.url
