"""A class in a room on two servers, one of which is killed in the middle of a vote; a small class that votes twice."""

from __future__ import annotations

import asyncio
import os
import random
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from benchmarks import room
from benchmarks.room import Votes
from benchmarks.runner import Stage
from benchmarks.server import Lab, running_lab
from benchmarks.visitor import Visitor, visiting
from lab.rooms.database import open_database
from lab.rooms.rooms import Rooms
from lab.rooms.states import Phase
from tests.load.test_load import run
from tests.thorough import at_night

PEOPLE = 8


@at_night
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


@at_night
def test_a_small_class_plays_both_rounds(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole of ``make load ARGS=room`` on one server, with six people."""
    counts, seconds = {"LEARNERS": 6, "OTHERS": 1, "LATE": 2}, {"OTHERS_STAY": 4.0, "JOINING": 6.0, "VOTING": 1.0}
    for name, value in (counts | seconds).items():
        monkeypatch.setattr(room, name, value)
    stage = Stage([lab], [lab])
    run(room.play(stage, "SQLite", os.environ["LAB_ROOMS"]))
    (found,) = stage.rows
    assert (found["pages"], found["counted"], found.users, found.errors) == (12, 12, 6, ())
    assert [found[name] for name in ("outside", "lost", "twice", "late")] == [0] * 4
    assert 0 < found["joined s"] < 11 and found["click s"] < 30 and 0 < found["beside s"] < 30
