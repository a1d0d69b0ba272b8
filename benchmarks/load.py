"""A class at work: real servers, visitors over WebSockets on the real lessons, bounds on how long they wait.

    python -m benchmarks.load                  # make load: all scenarios but room, about five quiet minutes
    python -m benchmarks.load --soak 600       # the last scenario for ten minutes
    python -m benchmarks.load --servers 2      # the visitors shared out among two servers, behind HAProxy
    python -m benchmarks.load classroom own    # only these
    python -m benchmarks.load room             # a class in a room, on both databases: see benchmarks/room.py

Learners click, and think for two seconds each time. The teacher has taken every step of every lesson on the class's
sentence before. benchmarks/runner.py says what the columns are. Ends with status 1 when a bound is broken.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import math
import random
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial

from websockets.exceptions import WebSocketException

from benchmarks import room
from benchmarks.learners import REVEAL, SHARED, learner, looking, sentence, teaching, tour
from benchmarks.runner import Figure, Row, Stage, staged
from benchmarks.visitor import Answer, visiting
from lab.course.pages import LESSONS

GROWTH = 1.1
SENTENCES, WARM = 150, 75  # texts of the soak at least, and after how many of them the caches are full
STRANGERS = 3
LONG = " ".join(sentence(number) for number in range(20))  # more than 512 tokens: the lab cuts it there
LONG_STEPS = (
    ("Feed-forward_and_LayerNorm", "In the blank"),
    ("Masked_language_model", "When France decides"),
    ("Neuron_view", "Which dimensions decide"),
)


async def looks(stage: Stage, name: str, users: int, p95: float = math.inf, own: bool = False) -> None:
    """Everybody looks around in the lessons, on one sentence or each on an ``own`` one of 32 tokens."""
    acts = [looking(sentence(number) if own else SHARED) for number in range(users)]
    await stage.play(
        name, [learner(stage.door(n), n, stage.seconds, act) for n, act in enumerate(acts)], {"p95 s": p95}
    )


async def task(stage: Stage, users: int = 30, p95: float = 1.0) -> None:
    """Each teaches a task of their own in lesson 11, and trains the last layer."""
    visits = [learner(stage.door(n), n, stage.seconds, teaching(n)) for n in range(users)]
    await stage.play("task", visits, {"p95 s": p95})


async def strangers(stage: Stage, users: int = 10, p95: float = 1.0) -> None:
    """A few look around beside strangers who open steps on the longest text, again and again, without a pause."""
    end = time.monotonic() + stage.seconds

    async def stranger(number: int) -> Sequence[Answer]:
        chance = random.Random(number)
        while time.monotonic() < end:
            with suppress(OSError, WebSocketException):
                async with visiting(stage.door(number).url) as visitor:
                    page, step = chance.choice(LONG_STEPS)
                    # Another text each time, so that nothing is remembered.
                    await visitor.open(page, text=f"{sentence(chance.randrange(10**6), 3)} {LONG}", step=step)
                    while REVEAL in visitor.buttons and time.monotonic() < end:
                        await visitor.press(REVEAL)
        return ()

    honest = [learner(stage.door(n), n, stage.seconds, looking(SHARED)) for n in range(users)]
    await stage.play("strangers", [*honest, *map(stranger, range(STRANGERS))], {"p95 s": p95})


async def soak(
    stage: Stage, seconds: float = 0.0, users: int = 30, sentences: int = SENTENCES, warm: int = WARM
) -> None:
    """Everybody walks through all steps of the lessons with ever new sentences, without a pause.

    Memory must not grow from the middle to the end, once the caches are full.
    """
    start, numbers, levels = time.monotonic(), itertools.count(1000), list[float]()
    read = 0

    async def reader(first: int) -> list[Answer]:
        nonlocal read
        answers = list[Answer]()
        async with visiting(stage.door(first).url) as visitor:
            for number in itertools.count(first):
                if read >= sentences and time.monotonic() >= start + seconds:
                    break
                page = LESSONS[number % len(LESSONS)]
                answers += await tour(visitor, [page], text=sentence(next(numbers), 12))
                read += 1
                if not levels and read >= warm and time.monotonic() >= start + seconds / 2:
                    levels.append(stage.look().megabytes)
                if answers[-1].lost:
                    break
        return answers

    def growth() -> list[Figure]:
        grown = stage.look().megabytes / levels[0] if levels else math.inf
        return [Figure("sentences", read), Figure("grown %", 100 * grown - 100, 100 * GROWTH - 100)]

    await stage.play("soak", [reader(first) for first in range(users)], more=growth)


Scenario = Callable[[Stage], Awaitable[None]]
SCENARIOS: Mapping[str, Scenario] = {
    "classroom": partial(looks, name="classroom", users=50, p95=0.5),
    "lecture": partial(looks, name="lecture", users=100, p95=2.0),
    "own": partial(looks, name="own", users=30, p95=1.0, own=True),
    "task": task,
    # Too many: they wait, but nobody sees an error.
    "overload": partial(looks, name="overload", users=200),
    "strangers": strangers,
    "soak": soak,
}


async def warmed(stage: Stage, scenarios: Sequence[Scenario]) -> None:
    """Play on servers on which the teacher has taken every step of every lesson."""
    for lab in stage.labs:
        async with visiting(lab.url) as teacher:
            await tour(teacher, text=SHARED)
    for scenario in scenarios:
        await scenario(stage)


def main(arguments: Sequence[str] | None = None) -> int:
    """Play the scenarios and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load", description=__doc__.partition("\n")[0])
    parser.add_argument("scenario", nargs="*", help=f"{', '.join(SCENARIOS)} or room; all but room if none is named")
    parser.add_argument("--soak", type=float, default=0.0, metavar="SECONDS", help="go on with the soak for so long")
    parser.add_argument("--seconds", type=float, default=30.0, help="length of each other scenario (30)")
    parser.add_argument("--servers", type=int, default=1, help="servers that share the visitors (1)")
    asked = parser.parse_args(arguments)
    wanted = asked.scenario or [*SCENARIOS]
    if unknown := set(wanted) - {*SCENARIOS, "room"}:
        parser.error(f"there is no scenario {', '.join(sorted(unknown))}; there are {', '.join(SCENARIOS)} and room")
    rows = list[Row]()
    if "room" in wanted:
        with room.databases() as addresses:
            for servers, (name, url) in enumerate(addresses.items(), 1):
                with staged(servers, {"LAB_ROOMS": url}) as stage:
                    asyncio.run(warmed(stage, [partial(room.play, name=name, url=url)]))
                    rows += stage.rows
    scenarios: dict[str, Scenario] = {**SCENARIOS, "soak": partial(soak, seconds=asked.soak)}
    if others := [scenarios[name] for name in wanted if name != "room"]:
        with staged(asked.servers, seconds=asked.seconds) as stage:
            asyncio.run(warmed(stage, others))
            rows += stage.rows
    return int(any(row.broken for row in rows))


if __name__ == "__main__":
    sys.exit(main())
