"""A class in a room on two servers, one of which is killed in the middle of a vote; and what the load test tells."""

from __future__ import annotations

import asyncio
import os
import random
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import room
from benchmarks.room import Found, Votes
from benchmarks.server import Lab, running_lab
from benchmarks.visitor import Answer, Visitor, visiting
from lab.rooms.database import open_database
from lab.rooms.rooms import Rooms
from lab.rooms.states import Phase
from tests.load.test_load import run
from tests.thorough import at_night

PEOPLE = 8


def test_what_was_acknowledged_is_in_the_result_after_a_server_is_killed(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'rooms.db'}"
    rooms = Rooms(open_database(url))
    code, key = rooms.create()
    environment = {"LAB_ROOMS": url}
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()

    async def vote_and_kill() -> Votes:
        votes = Votes()
        async with AsyncExitStack() as stack:
            learners: list[Visitor] = []
            for number in range(PEOPLE):
                server = (killed, kept)[number % 2]
                learners.append(await stack.enter_async_context(visiting(server.url)))
                assert await room.sit(learners[-1], code) == []
            rooms.ask(code, key, room.question())
            voting = [
                asyncio.create_task(room.vote(each, 1, random.Random(number), votes))
                for number, each in enumerate(learners)
            ]
            while votes.told < 2:
                await asyncio.sleep(0.05)
            killed.process.kill()
            await asyncio.gather(*voting)
        return votes

    with (
        running_lab(folder=tmp_path / "a", environment=environment) as killed,
        running_lab(folder=tmp_path / "b", environment=environment) as kept,
    ):
        votes = run(vote_and_kill())
    rooms.step(code, key, Phase.OPEN, Phase.CLOSED)
    told = rooms.taught(code, key).question
    assert told is not None
    (found,) = told.rounds
    assert PEOPLE // 2 <= votes.told <= found.count <= PEOPLE
    assert votes.told < PEOPLE, "the server died too late to take anybody with it"


def test_every_bound_of_a_room_is_judged() -> None:
    votes = Votes(100, [0.1] * 100, 1.0, [2.0] * 100)
    good = Found("SQLite", 20.0, (votes, votes), (100, 100), 0, 0, [Answer(0.1, 0.0, 1.0, ())], ())
    assert good.broken == ()
    assert replace(good, counted=(99, 100)).broken == ("1 votes lost",)
    assert replace(good, late=1, twice=1).broken == ("1 votes twice", "1 votes late")
    assert len(replace(good, joined=60.0, errors=("no",)).broken) == 2
    slow = Votes(100, [2.0] * 100, 4.0, [3.5] * 100)
    assert len(replace(good, rounds=(votes, slow)).broken) == 3
    assert replace(good, rounds=(votes, slow), bare=1.5, pause=0.5).broken == ()
    assert len(replace(good, rounds=(votes, slow), bare=0.9, pause=0.9).broken) == 1


@at_night
def test_a_small_class_plays_both_rounds(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole of ``make load ARGS=room`` on one server, with six people."""
    counts, seconds = {"LEARNERS": 6, "OTHERS": 1, "LATE": 2}, {"OTHERS_STAY": 4.0, "JOINING": 6.0, "VOTING": 1.0}
    for name, value in (counts | seconds).items():
        monkeypatch.setattr(room, name, value)
    found = run(room.play("SQLite", [lab], os.environ["LAB_ROOMS"]))
    assert (found.counted, found.lost, found.twice, found.late, found.errors) == ((6, 6), 0, 0, 0, ())
    assert found.others and "SQLite" in found.row()
