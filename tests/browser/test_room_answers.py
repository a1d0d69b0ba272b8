"""An answer on a telephone and by keyboard; and the summary on paper."""

from __future__ import annotations

import json
import re
from contextlib import ExitStack
from itertools import pairwise

from playwright.sync_api import Browser, Page, expect

from benchmarks.server import Lab
from lab.questions.question import Option, Question
from lab.rooms.codes import LENGTH, new_secret
from lab.rooms.database import open_database
from lab.rooms.rooms import Rooms
from lab.rooms.states import Phase
from tests.browser.accessibility import violations
from tests.browser.harness import PHONE, View, visit, wait_idle
from tests.browser.test_room import SOON, STREAMLITS, database, press
from tests.thorough import at_night

__all__ = ["database"]  # a fixture


def ready(lab: Lab, browser: Browser, stack: ExitStack, rooms: Rooms) -> tuple[Page, str, str]:
    """A teacher with a room of their own: the page, the room's code and key."""
    teacher = stack.enter_context(visit(browser, View("dark", 1280))).page
    teacher.goto(f"{lab.url}/Room")
    press(teacher, "Open a room")
    code = teacher.get_by_test_id("stCode").inner_text().strip()[-LENGTH:]
    kept = json.loads(teacher.evaluate("JSON.stringify(Object.values(localStorage))"))
    key = next(found[1] for each in kept if (found := re.search(r'"key":"([\w-]{22})"', each)))
    assert rooms.taught(code, key).state.people == 0
    return teacher, code, key


def question() -> Question:
    options = tuple(Option(text, f"Why {text}.", text == "b") for text in "abc")
    return Question("which", "Which?", options, lesson="self-attention", about="Asked about a test")


@at_night
def test_an_answer_is_given_on_a_telephone_by_keyboard(lab: Lab, browser: Browser, database: str) -> None:
    with ExitStack() as stack:
        rooms = Rooms(open_database(database))
        _, code, key = ready(lab, browser, stack, rooms)
        visitor = stack.enter_context(visit(browser, PHONE))
        page = visitor.page
        page.goto(f"{lab.url}/Room?room={code}")
        expect(page.get_by_text("You are in.")).to_be_visible(timeout=60_000)
        rooms.ask(code, key, question())
        expect(page.get_by_text("How sure are you?")).to_be_visible(timeout=SOON)
        wait_idle(page)
        page.get_by_role("radiogroup", name="Your answer").get_by_role("radio").first.focus()
        page.keyboard.press("Space")
        page.keyboard.press("ArrowDown")
        page.get_by_role("radio", name="Sure", exact=True).click()
        found = [str(one) for one in violations(page) if one.grave and one.rule not in STREAMLITS]
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE.width
        page.get_by_role("button", name="Send").press("Enter")
        expect(page.get_by_text("Your answer is in")).to_be_visible(timeout=SOON)
        mine = rooms.taught(code, key).question
        assert mine is not None and mine.rounds[0].right == 1.0
        assert not visitor.all_complaints()
    assert not found, "\n".join(found)


@at_night
def test_the_summary_is_printed_in_one_light_column(lab: Lab, browser: Browser, database: str) -> None:
    with ExitStack() as stack:
        rooms = Rooms(open_database(database))
        teacher, code, key = ready(lab, browser, stack, rooms)
        people = [rooms.join(code, new_secret()) for _ in range(5)]
        for number in range(1, 7):
            rooms.ask(code, key, question())
            for who in people:
                rooms.vote(code, who, number, 1, 0, 3)
            for now, then in pairwise((Phase.OPEN, Phase.CLOSED, Phase.REVEALED, Phase.LOBBY)):
                rooms.step(code, key, now, then)
        expect(teacher.get_by_text("5 people in the room")).to_be_visible(timeout=SOON)
        wait_idle(teacher)
        with teacher.context.expect_page() as opened:
            teacher.get_by_role("link", name="Summary to print").click()
        paper = opened.value
        expect(paper.get_by_text("save it as PDF")).to_be_visible(timeout=60_000)
        expect(paper.get_by_text("Round 1: 5 answers").last).to_be_attached(timeout=60_000)
        expect(paper.locator(".votes")).to_have_count(6, timeout=60_000)
        paper.emulate_media(media="print")
        for name in ("Numbers and files", "Lessons", "save it as PDF"):
            assert not any(each.is_visible() for each in paper.get_by_text(name).all()), name
        assert (
            paper.evaluate("getComputedStyle(document.querySelector('.stApp')).backgroundColor") == "rgb(255, 255, 255)"
        )
        assert paper.evaluate("document.documentElement.scrollHeight > 1.5 * innerHeight")  # all of it, not one screen
        kept = (
            "[...document.querySelectorAll('[class*=printed_round]')].map(each => getComputedStyle(each).breakInside)"
        )
        assert paper.evaluate(kept) == ["avoid"] * 6
        assert len(re.findall(rb"/Type\s*/Page\b", paper.pdf(format="A4"))) >= 2
