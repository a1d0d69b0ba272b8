"""A teacher, learners and the wall, in browsers of their own, from the lobby to the reveal and back."""

from __future__ import annotations

import json
import os
import re
import signal
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Page, WebSocket, expect
from sqlalchemy import select

from benchmarks.server import HOME, Lab, free_port, running_lab
from lab.questions.question import Question
from lab.rooms.codes import LENGTH
from lab.rooms.database import open_database, reading
from lab.rooms.questions import read
from lab.rooms.schema import ANSWERS, QUESTIONS, ROOMS
from tests.browser.accessibility import violations
from tests.browser.harness import PHONE, Returning, View, Visitor, wait_idle
from tests.thorough import THOROUGH, at_night

WALL = View("light", 1024, 768)
# Each seat has another view, and so another browser that has been here before (harness.Returning).
TEACHER, LEARNERS = View(), (PHONE, View("light", 390), View("dark", 1280))
# On a telephone Streamlit's own menu in the sidebar, on every page, is a list with headings in it.
STREAMLITS = ("list", "listitem")
# Pages look again every two seconds; a loaded machine takes its time.
SOON = 25_000


@dataclass
class Seat:
    """Somebody's page, and all that the server has sent to it."""

    visitor: Visitor
    sent: list[bytes] = field(default_factory=list)

    @property
    def page(self) -> Page:
        return self.visitor.page

    def listen(self) -> None:
        def take(frame: str | bytes) -> None:
            self.sent.append(frame if isinstance(frame, bytes) else frame.encode())

        def hear(socket: WebSocket) -> None:
            socket.on("framereceived", take)

        self.page.on("websocket", hear)


@dataclass
class Class:
    """Everybody in a room."""

    code: str
    teacher: Seat
    wall: Seat
    learners: tuple[Seat, ...]

    @property
    def everybody(self) -> tuple[Seat, ...]:
        return (self.teacher, self.wall, *self.learners)


@pytest.fixture
def database() -> str:
    """Where the server of the session keeps its rooms: each test has one of its own there."""
    return os.environ["LAB_ROOMS"]


def posed(database: str, code: str) -> Question:
    """The first question of a room, as the database has it, answer and all."""
    engine = open_database(database)
    with reading(engine) as connection:
        asked = select(QUESTIONS.c.posed).select_from(QUESTIONS.join(ROOMS)).where(ROOMS.c.code == code)
        found = read(connection.execute(asked).scalars().one())
    engine.dispose()
    return found


def answered(database: str, code: str) -> list[tuple[int, int]]:
    """Round and option of every answer in a room."""
    engine = open_database(database)
    with reading(engine) as connection:
        given = select(ANSWERS.c.round, ANSWERS.c.value).select_from(ANSWERS.join(QUESTIONS).join(ROOMS))
        found = connection.execute(given.where(ROOMS.c.code == code)).all()
    engine.dispose()
    return sorted((each.round, int(each.value)) for each in found)


def press(page: Page, name: str) -> None:
    wait_idle(page)
    page.get_by_role("button", name=name, exact=True).click()
    wait_idle(page)


def vote(page: Page, option: int, sure: str = "Sure") -> None:
    page.get_by_role("radio").nth(option).wait_for(timeout=SOON)
    wait_idle(page)
    page.get_by_test_id("stRadio").locator("label").nth(option + 1).click()
    page.get_by_role("radio", name=sure, exact=True).click()
    wait_idle(page)  # a server that has just come back may be slow to hear of both
    page.get_by_role("button", name=re.compile("^Send")).click()
    expect(page.get_by_text(re.compile(f"Your answer is in: {chr(ord('A') + option)}.*{sure.lower()}"))).to_be_visible()


def lobby(school: Lab, returning: Returning, rooms: ExitStack, views: tuple[View, ...] = LEARNERS) -> Class:
    """A teacher opens a room, the wall shows it, learners follow its link."""
    teacher, wall, *learners = (Seat(rooms.enter_context(returning.visit(view))) for view in (TEACHER, WALL, *views))
    for each in (teacher, wall, *learners):
        each.listen()
    teacher.page.goto(f"{school.url}/Room")
    press(teacher.page, "Open a room")
    link = teacher.page.get_by_test_id("stCode").inner_text().strip()
    assert re.fullmatch(rf"{re.escape(school.url)}/Room\?room=[2-9A-Z]{{6}}", link), link
    wall.page.goto(f"{link}&projector=1&teach=1")
    for each in learners:
        each.page.goto(link)
        expect(each.page.get_by_text("You are in.")).to_be_visible(timeout=60_000)
    return Class(link[-LENGTH:], teacher, wall, tuple(learners))


def ask(room: Class) -> None:
    """The teacher asks the first check of lesson 3."""
    page = room.teacher.page
    wait_idle(page)
    page.get_by_role("combobox", name="Lesson").click()
    page.get_by_role("option", name="3 · Self-attention").click()
    press(page, "Go to the lesson")
    page.get_by_role("radio", name="Check", exact=True).click()
    wait_idle(page)
    page.get_by_role("button", name="Ask the class").first.click()
    expect(page.get_by_text("Round 1 is open")).to_be_visible(timeout=60_000)


def through(room: Class, database: str, look: Callable[[str], None]) -> None:
    """From the lobby to the reveal and back; ``look`` is called where there is something new to see."""
    look("lobby")
    ask(room)
    told = posed(database, room.code)
    look("open")
    for place, each in enumerate(room.learners):
        vote(each.page, (told.answer + (place > 0)) % len(told.options))
    every = len(room.learners)
    expect(room.wall.page.get_by_text(f"{every} of {every} have answered")).to_be_visible(timeout=SOON)
    look("answered")
    for step in ("Close the round", "Let them discuss", "Open round 2"):
        press(room.teacher.page, step)
        look(step)
    for each in room.learners:
        expect(each.page.get_by_text("Round 2: answer again")).to_be_visible(timeout=SOON)
        vote(each.page, told.answer)
    for each in (room.wall, *room.learners):
        nothing_told(each, told)
    press(room.teacher.page, "Reveal to the class")
    for each in (room.wall, *room.learners):
        expect(each.page.get_by_text("fewer than 5 answers").first).to_be_visible(timeout=SOON)
        assert any(told.options[told.answer].why[:40].encode() in frame for frame in each.sent)  # the search finds
    look("revealed")
    room.teacher.page.get_by_role("link", name=re.compile("^Room ")).click()
    press(room.teacher.page, "Done with this question")
    for each in room.learners:
        expect(each.page.get_by_text("Wait for the next question")).to_be_visible(timeout=SOON)
    look("the end")


# Whose page is held against the rules of accessibility by day, and when.
BY_DAY: Mapping[str, Callable[[Class], tuple[Seat, ...]]] = defaultdict(
    lambda: lambda room: (),
    answered=lambda room: (room.teacher, room.wall),
    revealed=lambda room: (room.learners[0],),
)


def nothing_told(seat: Seat, told: Question) -> None:
    """Neither an explanation nor a chart was sent to this browser."""
    everything = b"".join(seat.sent)
    assert told.prompt[:20].encode() in everything
    for option in told.options:
        assert option.why[:40].encode() not in everything, option.text
    assert b'class="votes"' not in everything and b"correct" not in everything


def test_a_class_from_the_lobby_to_the_reveal_and_back(lab: Lab, returning: Returning, database: str) -> None:
    found: list[str] = []

    def look(stage: str) -> None:
        looked_at = room.everybody if THOROUGH else BY_DAY[stage](room)
        for each in looked_at:
            wait_idle(each.page)
            grave = (one for one in violations(each.page) if one.grave and one.rule not in STREAMLITS)
            found.extend(f"{stage}: {one}" for one in grave)

    with ExitStack() as rooms:
        room = lobby(lab, returning, rooms, LEARNERS[::2])
        through(room, database, look)
        told = posed(database, room.code)
        assert [given for given in answered(database, room.code) if given[0] == 2] == [(2, told.answer)] * 2
        complaints = [text for each in room.everybody for text in each.visitor.all_complaints()]
    assert not complaints, "\n".join(complaints)
    assert not found, "\n".join(found)


@at_night
def test_a_reload_and_a_killed_server_keep_the_place_and_the_answer(returning: Returning, tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path / 'rooms.db'}"
    port, environment = free_port(), {"LAB_ROOMS": database}
    with ExitStack() as rooms:
        with running_lab(HOME, tmp_path, port, environment) as first:
            room = lobby(first, returning, rooms)
            ask(room)
            page = room.learners[0].page
            for each in room.learners:  # a browser that is still loading the question's scripts cannot go on alone
                expect(each.page.get_by_role("radio").first).to_be_visible(timeout=60_000)
                wait_idle(each.page)
            vote(page, 1)
            page.reload()
            expect(page.get_by_text("Your answer is in")).to_be_visible(timeout=60_000)
            first.process.send_signal(signal.SIGKILL)
            first.process.wait()
        with running_lab(HOME, tmp_path, port, environment):
            expect(page.get_by_text("Your answer is in")).to_be_visible(timeout=90_000)
            for each in room.learners[1:]:
                # Each browser comes back in its own time: it waits longer after each try.
                expect(each.page.get_by_role("radio").first).to_be_visible(timeout=90_000)
                vote(each.page, 0)
            vote(page, 0, "Guessing")  # another answer takes the place of the first
            teacher = room.teacher.page
            teacher.reload()
            expect(teacher.get_by_text("3 of 3 people answered").first).to_be_visible(timeout=SOON)
            press(teacher, "Close the round")
            assert answered(database, room.code) == [(1, 0)] * 3
            kept = json.loads(teacher.evaluate("JSON.stringify(Object.values(localStorage))"))
            assert any('"key":"' in each for each in kept) and "key" not in teacher.url


@at_night
def test_the_teachers_role_survives_a_reload_anywhere(lab: Lab, returning: Returning, database: str) -> None:
    with ExitStack() as rooms:
        room = lobby(lab, returning, rooms, LEARNERS[:1])
        ask(room)
        page, learner = room.teacher.page, room.learners[0].page
        for place, shown in (("Room", "Round 1 is open"), ("Self-attention", "Ask the class")):
            if place != "Room":
                page.goto(f"{lab.url}/{place}?room={room.code}&step=Check&teach=1")
                expect(page.get_by_role("button", name="Ask the class").first).to_be_visible(timeout=60_000)
            room.teacher.sent.clear()
            page.reload()
            expect(page.get_by_text(shown).first).to_be_visible(timeout=60_000)
            wait_idle(page)
            everything = b"".join(room.teacher.sent)
            assert b"The class is answering a question" not in everything and b"You are in" not in everything
            assert answered(database, room.code) == []
        learner.goto(page.url)
        expect(learner.get_by_text("The class is answering a question")).to_be_visible(timeout=60_000)
