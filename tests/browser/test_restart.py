"""A server that is killed, and one that nobody has visited yet: the learner finds the page again."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Browser, Page, expect

from benchmarks.server import HOME, Lab, free_port, running_lab
from lab.course.pages import BENCHES, LESSONS, step_name
from lab.front.page import QUESTION
from tests.browser.harness import BADGE, View, go_to, unfold, visit, wait_idle
from tests.thorough import at_night

TITLES = {lesson.page: lesson.title for lesson in LESSONS} | {bench.page: bench.title for bench in BENCHES}
TITLES |= {"pages/20_Models.py": "Models", "pages/21_Glossary.py": "Glossary"}
TEXT, PAIR = "Birds fly south.", "It is cold."
STATE = "text=Birds+fly+south.&pair=It+is+cold.&model=lab-gpt2&layer=2&head=4"
PATIENCE_MS = 90_000
CONNECTED = ("data-test-connection-state", "CONNECTED")


def address(page_file: str) -> str:
    return "/" + Path(page_file).stem.partition("_")[2]


def has_its_state(page: Page) -> None:
    """All that the link says is on the page."""
    expect(page.get_by_role("textbox", name="Your sentence")).to_have_value(TEXT, timeout=PATIENCE_MS)
    wait_idle(page)
    unfold(page)
    expect(page.get_by_role("textbox", name="Second sentence")).to_have_value(PAIR)
    for parameter in STATE.split("&"):
        assert parameter in page.url, page.url
    for name, value in (("Model", "lab-gpt2"), ("Layer", "2"), ("Head", "4")):
        box = page.get_by_test_id("stSidebar").get_by_role("combobox", name=re.compile(name))
        expect(box).to_have_value(value)


@at_night
def test_open_pages_come_back_after_a_restart(browser: Browser, tmp_path: Path) -> None:
    """Two learners, one with choices from the link and one with a choice of this visit; the server dies under them."""
    port, there = free_port(), [step_name("self-attention", step) for step in ("scale", "build-a-row")]
    with visit(browser, View()) as first, visit(browser, View()) as second:
        with running_lab(HOME, tmp_path, port) as lab:
            # Nobody has been there before: Streamlit knows neither the router nor the addresses yet.
            first.page.goto(f"{lab.url}/Self-attention?{STATE}&{urlencode({'step': there[0]})}")
            expect(first.page.get_by_role("heading", level=1)).to_have_text("Self-attention", timeout=PATIENCE_MS)
            has_its_state(first.page)
            assert first.page.locator("[role=dialog]").count() == 0
            second.page.goto(f"{lab.url}/Self-attention?{STATE}")
            wait_idle(first.page, PATIENCE_MS)
            wait_idle(second.page, PATIENCE_MS)
            second.page.locator(".st-key-step").get_by_text(there[1], exact=True).click()
            wait_idle(second.page)
            assert urlencode({"step": there[1]}) in second.page.url
            lab.process.send_signal(signal.SIGKILL)
            lab.process.wait()
        with running_lab(HOME, tmp_path, port) as lab:
            for visitor, step in zip((first, second), there, strict=True):
                # What a click does is done by the server that is there now.
                expect(visitor.page.get_by_test_id("stApp")).to_have_attribute(*CONNECTED, timeout=PATIENCE_MS)
                wait_idle(visitor.page, PATIENCE_MS)
                has_its_state(visitor.page)
                expect(visitor.page.locator(".st-key-step [aria-checked=true]")).to_have_text(step)
                # And it goes on from there.
                visitor.page.get_by_role("button", name="Next: ").click()
                wait_idle(visitor.page)
                has_its_state(visitor.page)
                assert visitor.page.get_by_test_id("stException").count() == 0
            assert "Traceback" not in lab.log


def comes_up(page: Page, server: Lab, page_file: str) -> None:
    """A first visit to a server nobody has visited: Streamlit knows neither the router nor the addresses yet."""
    page.goto(f"{server.url}{address(page_file)}?text=Birds+fly+south.")
    expect(page.get_by_role("textbox", name="Your sentence")).to_have_value(TEXT, timeout=PATIENCE_MS)
    wait_idle(page, PATIENCE_MS)
    expect(page.get_by_role("heading", level=1)).to_have_text(TITLES[page_file])
    expect(page.get_by_role("textbox", name="Your sentence")).to_have_value(TEXT)
    assert page.locator("[role=dialog]").count() == 0


# A page of each kind: lessons are in the test above, what is beside them and benches here. On a server that knows the
# addresses, test_accessibility.py visits every page. By day the first test in a browser makes the first visit to the
# session's server, and by a deep link: a page that Streamlit did not know would be no page there.
@at_night
def test_the_first_visit_to_a_server_may_be_to_any_page(fresh_server: Callable[[], Lab], page: Page) -> None:
    comes_up(page, fresh_server(), "pages/20_Models.py")


@at_night
def test_the_entry_for_community_cloud_opens_every_kind_of_page(fresh_server: Callable[..., Lab], page: Page) -> None:
    """It starts Home.py from another folder: pages, models and links are found all the same."""
    server = fresh_server(HOME.parent / "cloud" / "app.py")
    comes_up(page, server, "pages/53_Flow.py")
    page.goto(server.url)
    expect(page.get_by_role("heading", level=1)).to_have_text(QUESTION, timeout=PATIENCE_MS)
    wait_idle(page)
    go_to(page, "Lessons", "Self-attention")
    expect(page.get_by_role("heading", level=1)).to_have_text("Self-attention")
    expect(page.get_by_role("button", name=BADGE).first).to_be_visible(timeout=PATIENCE_MS)
    page.goto(f"{server.url}/Self-attention?{STATE}")
    has_its_state(page)
