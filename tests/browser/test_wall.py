"""The wall of a room: readable from the last row, in every phase, at the sizes of a projector and of a large screen."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Page, expect

import lab as engine
from benchmarks.server import Lab
from lab.figures.attention import attention_map, weights_from
from lab.questions.question import Option, Question
from lab.rooms.codes import new_secret
from lab.rooms.database import open_database
from lab.rooms.rooms import Rooms
from lab.rooms.states import Phase
from lab.ui.room.picture import picture
from tests.browser.harness import Returning, View, wait_idle
from tests.sentences import STORY
from tests.thorough import some

WALLS = (View("light", 1024, 768), View("dark", 1920, 1080))
OPTIONS = (
    Option("A different share: “brother” looks in its own way", "Each token has its own row.", True),
    Option("The same share, 0.50: attention is mutual", "Attention has a direction."),
    Option("The rest, 0.50: together, the two shares make 1", "The shares of one token make 1."),
)
# The visible texts of the page that are smaller than a thirtieth of the screen, and what lies below the screen's edge.
SMALL = """() => {
  const least = window.innerHeight / 30, found = [];
  const walker = document.createTreeWalker(document.querySelector('[data-testid="stMain"]'), NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode, parent = node.parentElement;
    if (!node.textContent.trim() || ["STYLE", "SCRIPT"].includes(parent.tagName) || !parent.checkVisibility()) continue;
    const size = parseFloat(getComputedStyle(parent).fontSize);
    if (size < least) found.push(`${size}: ${node.textContent.trim().slice(0, 40)}`);
  }
  return found;
}"""
FILLED = """selector => {
  const of = document.querySelector(selector).getBoundingClientRect();
  return [of.height / window.innerHeight, of.bottom / window.innerHeight];
}"""


@contextmanager
def a_room() -> Iterator[tuple[Rooms, str, str]]:
    """A room in the database of the session's server."""
    database = open_database(os.environ["LAB_ROOMS"])
    rooms = Rooms(database)
    code, key = rooms.create()
    yield rooms, code, key
    rooms.delete(code, key)
    database.dispose()


def asked() -> Question:
    """A question whose picture is the weights of the story's head."""
    trace = engine.trace(engine.load_model("lab-minilm"), STORY)
    figure = weights_from(trace, 4, 10, trace.labels.index("he"))
    prompt = "“he” gives “brother” 0.50 of its attention. What does “brother” give “he”?"
    return Question("looks-back", prompt, OPTIONS, lesson="self-attention", picture=picture(figure))


def readable(page: Page) -> None:
    wait_idle(page)
    assert page.evaluate(SMALL) == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


@pytest.mark.parametrize("view", some(WALLS, 1), ids=str)
def test_the_wall_is_readable_from_the_last_row_in_every_phase(lab: Lab, returning: Returning, view: View) -> None:
    with a_room() as (rooms, code, key), returning.visit(view) as visitor:
        page = visitor.page
        page.goto(f"{lab.url}/Room?room={code}&projector=1")
        expect(page.get_by_text(re.compile("Nobody is in"))).to_be_visible(timeout=60_000)
        readable(page)
        assert page.evaluate(FILLED, ".wall-qr")[0] >= 0.45, "code and QR code fill the lobby"
        people = [rooms.join(code, new_secret()) for _ in range(8)]
        rooms.ask(code, key, asked())
        rooms.set_clock(code, key, 90)
        expect(page.get_by_text(re.compile(r"0 of 8 have answered, \d:\d\d left"))).to_be_visible(timeout=25_000)
        readable(page)
        assert page.evaluate(FILLED, ".wall-qr")[0] <= 0.2, "the code is small in a corner"
        assert page.evaluate(FILLED, ".wall-count")[1] <= 1 and page.evaluate(FILLED, ".wall-options")[1] <= 1
        width = page.evaluate("document.querySelector('.room-picture').getBoundingClientRect().width - 16")
        height = page.evaluate("document.querySelector('.room-picture').getBoundingClientRect().height - 16")
        assert page.locator(".room-picture").get_attribute("alt") and width > 0
        words = 12 * 1.9 * min(width / natural(page)[0], height / natural(page)[1])
        assert words >= 0.9 * view.height / 30, "the picture's words"
        for place, who in enumerate(people):
            rooms.vote(code, who, 1, 1, place % 3, 2)
        for now, then in ((Phase.OPEN, Phase.CLOSED), (Phase.CLOSED, Phase.DISCUSS), (Phase.DISCUSS, Phase.OPEN_AGAIN)):
            rooms.step(code, key, now, then)
        expect(page.get_by_text("Round 2: after the discussion")).to_be_visible(timeout=25_000)
        readable(page)
        for who in people:
            rooms.vote(code, who, 1, 2, 0, 3)
        rooms.step(code, key, Phase.OPEN_AGAIN, Phase.REVEALED)
        first = page.locator(".votes tbody tr").first
        expect(first).to_contain_text("✓ A", timeout=25_000)
        readable(page)
        assert re.findall(r"\d+%", first.inner_text()) == ["38%", "100%"]
        assert page.evaluate(FILLED, ".votes")[1] <= 1


def natural(page: Page) -> tuple[float, float]:
    """The picture's own size."""
    width, height = page.evaluate(
        "(() => { const of = document.querySelector('.room-picture'); return [of.naturalWidth, of.naturalHeight]; })()"
    )
    return float(width), float(height)


def test_a_map_is_a_picture_with_readable_words() -> None:
    trace = engine.trace(engine.load_model("lab-minilm"), STORY)
    found = picture(attention_map(trace, 4, 10))
    assert found is not None and found.source.startswith("data:image/svg+xml;base64,") and found.alt
    long = engine.trace(engine.load_model("lab-minilm"), " ".join(["word"] * 400))
    assert picture(attention_map(long, 0, 0)) is None or len(picture(attention_map(long, 0, 0)).source) <= 400_000  # type: ignore[union-attr]
