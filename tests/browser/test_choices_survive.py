"""What a learner has chosen survives every way: benches keep all of it, and each lesson keeps the sentence at hand."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlencode, urlsplit

from playwright.sync_api import Page, expect

from benchmarks.server import Lab
from lab.course.pages import BENCHES, LESSONS, Lesson, number, page_of
from lab.course.pages import Page as LabPage
from tests.browser.harness import go_to, wait_idle
from tests.sentences import CAT
from tests.thorough import at_night

# A value for each parameter that several pages know, none of them a default.
CHOSEN = {"text": CAT, "layer": "2", "head": "3", "token": "5"}
LINK = f"/Self-attention?{urlencode({**CHOSEN, 'step': 'Where does it look?'})}"
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


@at_night
def test_through_all_benches_by_the_menu_and_all_the_way_back_and_on_again(lab: Lab, page: Page) -> None:
    page.goto(lab.url + LINK)
    is_as_chosen(page, page_of("self-attention"))
    for bench in BENCHES:
        go_to(page, "Benches", title(bench))
        is_as_chosen(page, bench)
    for bench in reversed(BENCHES[:-1]):
        page.go_back()
        is_as_chosen(page, bench)
    for bench in BENCHES[1:4]:
        page.go_forward()
        is_as_chosen(page, bench)
    page.reload()
    is_as_chosen(page, BENCHES[3])


def test_a_bench_keeps_what_was_chosen_another_lesson_has_its_own_head_and_back_has_the_chosen_one(
    lab: Lab, page: Page
) -> None:
    page.goto(lab.url + LINK)
    is_as_chosen(page, page_of("self-attention"))
    bench = page_of("neuron-view")
    go_to(page, "Benches", title(bench))
    is_as_chosen(page, bench)
    page.go_back()
    is_as_chosen(page, page_of("self-attention"))
    go_to(page, "Lessons", title(page_of("multi-head-attention")))
    wait_idle(page)
    box = page.get_by_test_id("stSidebar").get_by_role("combobox", name="Layer", exact=True)
    expect(box).to_have_value("6")
    page.go_back()
    is_as_chosen(page, page_of("self-attention"))


@at_night
def test_every_lesson_begins_as_the_course_does_and_has_the_sentence_at_one_click(lab: Lab, page: Page) -> None:
    page.goto(lab.url + LINK)
    is_as_chosen(page, page_of("self-attention"))
    for lesson in LESSONS:
        go_to(page, "Lessons", title(lesson))
        wait_idle(page)
        assert address(page).get("text") != CAT and address(page).get("layer") != CHOSEN["layer"], lesson.id
        yours = page.get_by_role("radio", name="Yours")
        if yours.count():
            yours.click()
            wait_idle(page)
            assert address(page)["text"] == CAT, lesson.id
