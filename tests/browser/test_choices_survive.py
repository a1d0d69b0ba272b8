"""What a learner has chosen survives every way from page to page: menu, strip, links, Back, Forward, a reload."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from playwright.sync_api import Page, expect

from benchmarks.server import Lab
from lab.course.pages import MENUS, Lesson, number, page_of
from lab.course.pages import Page as LabPage
from tests.browser.harness import go_to, wait_idle
from tests.sentences import CAT
from tests.thorough import at_night, some

# A value for each parameter that several pages know, none of them a default.
CHOSEN = {"text": CAT, "layer": "2", "head": "3", "token": "5", "sinks": "Kept", "version": "Raw", "off": "Mean"}
LINK = f"/Self-attention?{urlencode(CHOSEN)}"
START, *_ = MENUS
PAGES = tuple((menu, page) for menu, pages in MENUS.items() for page in pages)
LISTS = {"layer": "Layer", "head": "Head"}


def address(page: Page) -> dict[str, str]:
    """What the browser's address names."""
    return {name: values[0] for name, values in parse_qs(urlsplit(page.url).query).items()}


def title(page: LabPage) -> str:
    """A page's name in its menu."""
    return f"{number(page)} · {page.title}" if isinstance(page, Lesson) else page.title


def is_as_chosen(page: Page, at: LabPage) -> None:
    """Fail unless lists, figures and address have what was chosen, as far as this page knows it."""
    wait_idle(page)
    sidebar = page.get_by_test_id("stSidebar")
    for name, label in LISTS.items():
        box = sidebar.get_by_role("combobox", name=label, exact=True)
        if box.count():
            expect(box).to_have_value(CHOSEN[name])
            expect(page).to_have_url(re.compile(rf"[?&]{name}={CHOSEN[name]}(&|$)"))
    named, knows = address(page), {"text", *at.parameters}
    wrong = {name: named[name] for name in knows & CHOSEN.keys() & named.keys() if named[name] != CHOSEN[name]}
    assert not wrong, at.id
    if sidebar.get_by_label("Text", exact=True).count():
        expect(sidebar.get_by_label("Text", exact=True).first).to_have_value(CAT)


@at_night
def test_through_all_pages_by_the_menu_and_all_the_way_back_and_on_again(lab: Lab, page: Page) -> None:
    page.goto(lab.url + LINK)
    is_as_chosen(page, page_of("self-attention"))
    way = [page_of("self-attention")]
    for menu, each in PAGES:
        if each.id != way[-1].id:
            go_to(page, *([each.title] if menu == START else [menu, title(each)]))
            is_as_chosen(page, each)
            way.append(each)
    assert len(way) == len(PAGES) + 1
    for each in reversed(way[:-1]):
        page.go_back()
        is_as_chosen(page, each)
    for each in way[1:4]:
        page.go_forward()
        is_as_chosen(page, each)
    page.reload()
    is_as_chosen(page, way[3])


WAYS: dict[str, Callable[[Page], None]] = {
    "the link to the next lesson": lambda page: page.get_by_role("link", name="Multi-head attention").last.click(),
    "the strip": lambda page: (
        page.get_by_role("button", name=re.compile("Feed-forward"))
        .or_(page.get_by_role("link", name=re.compile("Feed-forward")))
        .first.click()
    ),
}
GOES_TO = {"the link to the next lesson": "multi-head-attention", "the strip": "feed-forward"}


@pytest.mark.parametrize("way", some([*WAYS], 1))
def test_by_link_and_strip_and_back(lab: Lab, page: Page, way: str) -> None:
    page.goto(lab.url + LINK)
    is_as_chosen(page, page_of("self-attention"))
    WAYS[way](page)
    is_as_chosen(page, page_of(GOES_TO[way]))
    page.go_back()
    is_as_chosen(page, page_of("self-attention"))


def test_what_is_chosen_on_a_later_page_is_there_on_the_one_before(lab: Lab, page: Page) -> None:
    page.goto(lab.url + LINK)
    is_as_chosen(page, page_of("self-attention"))
    go_to(page, "Lessons", title(page_of("multi-head-attention")))
    is_as_chosen(page, page_of("multi-head-attention"))
    page.get_by_test_id("stSidebar").get_by_role("combobox", name="Layer", exact=True).click()
    page.get_by_role("option", name="4", exact=True).click()
    wait_idle(page)
    page.go_back()
    wait_idle(page)
    while "Self-attention" not in page.url:
        page.go_back()
        wait_idle(page)
    shown = page.get_by_test_id("stSidebar").get_by_role("combobox", name="Layer", exact=True).input_value()
    assert address(page)["layer"] == shown and shown in ("2", "4")
