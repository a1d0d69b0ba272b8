"""A stranger who wants to spoil a vote: many connections at once, each a person of its own as soon as it is let in.

    python -m benchmarks.attack                  # 300 connections for a minute; SECURITY.md has the result
    python -m benchmarks.attack 50 --seconds 10

Tells how many people came into the room and how many votes were counted. A connection costs nothing, so what holds is
the door (lab/rooms/door.py), and that one connection is one person.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from websockets.exceptions import WebSocketException

from benchmarks import room
from benchmarks.server import Lab, running_lab
from benchmarks.visitor import visiting
from lab.rooms.database import open_database
from lab.rooms.rooms import Rooms
from lab.rooms.seen import State


async def spoil(lab: Lab, code: str, connections: int, seconds: float) -> None:
    """Vote from so many connections, and come again on a new one after each vote.

    The time begins with the first person who is let in.
    """
    end = [float("inf")]

    async def come(number: int) -> None:
        chance = random.Random(number)
        while time.monotonic() < end[0]:
            with suppress(OSError, WebSocketException):
                async with visiting(lab.url) as visitor:
                    await room.sit(visitor, code)
                    while room.named(visitor, 1, "option") is None and time.monotonic() < end[0]:
                        await asyncio.sleep(chance.uniform(0.5, 1.5))
                        if (await visitor.look_again()).lost:
                            break
                    if room.named(visitor, 1, "option") is not None:
                        end[0] = min(end[0], time.monotonic() + seconds)
                        await room.vote(visitor, 1, chance, room.Votes(), within=0.0)

    await asyncio.gather(*(come(number) for number in range(connections)))


def attack(connections: int, seconds: float) -> State:
    """Where a room with a question stands after the attack, on a server and a SQLite file of its own."""
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder) / 'rooms.db'}"
        rooms = Rooms(open_database(url))
        code, key = rooms.create()
        rooms.ask(code, key, room.question())
        with running_lab(environment={"LAB_ROOMS": url}) as lab:
            asyncio.run(spoil(lab, code, connections, seconds))
        return rooms.taught(code, key).state


def main(arguments: Sequence[str] | None = None) -> int:
    """Attack, and print what came of it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.attack", description=__doc__.partition("\n")[0])
    parser.add_argument("connections", type=int, nargs="?", default=300)
    parser.add_argument("--seconds", type=float, default=60.0)
    asked = parser.parse_args(arguments)
    state = attack(asked.connections, asked.seconds)
    print(f"{asked.connections} connections, {asked.seconds:.0f} s: {state.people} people, {state.answers} votes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
