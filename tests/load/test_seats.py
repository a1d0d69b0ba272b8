"""A stranger with connections of their own and no browser: one connection is one person, whatever it sends."""

from __future__ import annotations

import asyncio
import json
import math
import os
import random
import secrets
import time
from contextlib import AsyncExitStack

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg

from benchmarks import room
from benchmarks.server import Lab
from benchmarks.visitor import Visitor, visiting
from lab.rooms.codes import new_seat
from lab.rooms.database import open_database
from lab.rooms.rooms import Rooms
from lab.rooms.states import AT_ONCE, EVERY
from tests.load.test_load import run
from tests.thorough import at_night


@pytest.fixture
def school(lab: Lab) -> tuple[Lab, Rooms]:
    return lab, Rooms(open_database(os.environ["LAB_ROOMS"]))


async def vote(visitor: Visitor, option: int) -> None:
    """Choose and send, if the page lets this visit."""
    if name := room.named(visitor, 1, "option"):
        button = next(label for label in visitor.buttons if label.startswith("Send"))
        await room.answered(visitor, 1, visitor.options(name)[option], button)


def test_one_connection_is_one_person_with_one_vote_whatever_seats_it_sends(school: tuple[Lab, Rooms]) -> None:
    lab, rooms = school
    code, key = rooms.create()
    elsewhere, _ = rooms.create()
    foreign = rooms.join(elsewhere, "somebody")
    rooms.ask(code, key, room.question())
    forged: list[object] = [f"{secrets.randbits(128):032x}" for _ in range(2)]
    forged += [f"{secrets.token_hex(16)}.{secrets.token_hex(16)}" for _ in range(2)]
    forged += [foreign, new_seat("somebody", ""), new_seat("somebody", code), "", ".", "\ud800.é", 7, None, [foreign]]

    async def attack() -> None:
        async with visiting(lab.url) as visitor:
            await visitor.open("Room", room=code)
            for number, seat in enumerate(forged):
                by = room.given(visitor)["by"]
                await visitor.choose("seat", json.dumps({"seat": [code, seat, "", by]}))
                await visitor.choose("seat", json.dumps({"seat": [code, seat, ""]}))
                await vote(visitor, number % 4)
            assert any("Your answer is in" in said for said in visitor.words)

    run(attack())
    state = rooms.taught(code, key).state
    assert (state.people, state.answers) == (1, 1)


@at_night
def test_a_connection_that_empties_streamlits_memory_is_still_the_same_person(school: tuple[Lab, Rooms]) -> None:
    """Streamlit lets any visitor clear all caches and the visit's own state by one message."""
    lab, rooms = school
    code, key = rooms.create()
    rooms.ask(code, key, room.question())

    async def attack() -> None:
        async with visiting(lab.url) as visitor:
            for number in range(5):
                assert await room.sit(visitor, code) == []
                await vote(visitor, number % 4)
                await visitor.socket.send(BackMsg(clear_cache=True).SerializeToString())

    run(attack())
    state = rooms.taught(code, key).state
    assert (state.people, state.answers) == (1, 1)


@at_night
def test_a_seat_that_is_kept_is_the_same_person_on_another_connection(school: tuple[Lab, Rooms]) -> None:
    lab, rooms = school
    code, key = rooms.create()
    rooms.ask(code, key, room.question())

    async def come_twice() -> None:
        async with visiting(lab.url) as first:
            assert await room.sit(first, code) == []
            kept = room.given(first)["seat"]
            await vote(first, 0)
        async with visiting(lab.url) as second:
            await second.open("Room", room=code)
            await room.tell(second, code, kept)
            assert any("Your answer is in" in said for said in second.words)
            await vote(second, 1)

    run(come_twice())
    state = rooms.taught(code, key).state
    assert (state.people, state.answers) == (1, 1)


@at_night
def test_a_crowd_waits_at_the_door_and_is_told_so(school: tuple[Lab, Rooms]) -> None:
    lab, rooms = school
    code, key = rooms.create()

    async def come() -> None:
        async with AsyncExitStack() as stack:
            visitors = [await stack.enter_async_context(visiting(lab.url)) for _ in range(6)]
            for each in visitors:
                await each.open("Room", room=code)
            for _ in range(AT_ONCE):
                rooms.join(code, secrets.token_hex(8))
            await asyncio.gather(*(room.tell(each, code) for each in visitors))
            assert any("come in at this moment" in said for each in visitors for said in each.words)
            assert all(await asyncio.gather(*(room.until(each, "You are in", 20) for each in visitors)))

    run(come())
    assert rooms.taught(code, key).state.people == AT_ONCE + 6


@at_night
def test_many_connections_cast_no_more_votes_than_the_door_lets_people_in(school: tuple[Lab, Rooms]) -> None:
    """A stranger votes from many connections, and comes again on a new one after each vote."""
    lab, rooms = school
    code, key = rooms.create()
    rooms.ask(code, key, room.question())
    seconds, end = 5.0, [math.inf]

    async def come(number: int) -> None:
        chance = random.Random(number)
        while time.monotonic() < end[0]:
            async with visiting(lab.url) as visitor:
                await room.sit(visitor, code)
                while room.named(visitor, 1, "option") is None and time.monotonic() < end[0]:
                    await asyncio.sleep(chance.uniform(0.5, 1.5))
                    await visitor.look_again()
                if room.named(visitor, 1, "option") is not None:
                    end[0] = min(end[0], time.monotonic() + seconds)
                    await vote(visitor, number % 4)

    async def attack() -> None:
        await asyncio.gather(*map(come, range(AT_ONCE + 20)))

    run(attack())
    state = rooms.taught(code, key).state
    assert 0 < state.answers <= state.people
    # The last ones came in while the clock ran out.
    assert state.people <= AT_ONCE + (seconds + 5) / EVERY + 1


@at_night
@pytest.mark.parametrize("page", ["Self-attention", "Room"])
def test_nothing_is_shown_before_the_browser_has_told_who_it_is(school: tuple[Lab, Rooms], page: str) -> None:
    """While a question is open, a teacher who reloads gets no waiting page, not even for a moment."""
    lab, rooms = school
    code, key = rooms.create()
    rooms.ask(code, key, room.question())

    async def reload() -> None:
        async with visiting(lab.url) as teacher:
            await teacher.open(page, room=code)
            assert "One moment" in str(teacher.words) and not {*teacher.widgets} & {"step", "_room_lesson"}
            assert "The class is answering" not in str(teacher.words) and "Which one?" not in str(teacher.words)
            await room.tell(teacher, code, "", key)
            assert "The class is answering" not in str(teacher.words)
            assert key not in str(teacher.words), "the wall may show this page"
            assert "step" in teacher.widgets if page != "Room" else "Round 1 is open" in str(teacher.words)
        async with visiting(lab.url) as learner:
            await learner.open(page, room=code)
            await room.tell(learner, code)
            assert ("The class is answering" in str(learner.words)) == (page != "Room")

    run(reload())
    assert rooms.taught(code, key).state.people == (page == "Room")
