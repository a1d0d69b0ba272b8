"""How long people wait on this machine for a Streamlit page with nothing but a list.

A bound in seconds tells little on a machine that is slow, or that does other work. So a load test measures such a page
with as many people in the same run; the lab may take :data:`TIMES` as long.
"""

from __future__ import annotations

import asyncio
import random
import time
from pathlib import Path

from benchmarks.learners import THINK, percentiles
from benchmarks.server import Lab, running_lab
from benchmarks.visitor import Answer, visiting

APP = Path(__file__).with_name("bare_app.py")
TIMES = 3  # the lab may take this many times as long as the bare page
SECONDS = 12.0  # for which everybody chooses


def bare(users: int, seconds: float = SECONDS) -> float:
    """Return the p95, in seconds, of ``users`` people who choose from the list as often as learners click."""
    with running_lab(APP) as lab:
        return percentiles(asyncio.run(_all(lab, users, seconds)))[1]


async def _all(lab: Lab, users: int, seconds: float) -> list[Answer]:
    found = await asyncio.gather(*(_choose(lab, number, seconds) for number in range(users)))
    return [answer for answers in found for answer in answers]


async def _choose(lab: Lab, number: int, seconds: float) -> list[Answer]:
    chance, answers, end = random.Random(number), list[Answer](), time.monotonic() + seconds
    async with visiting(lab.url) as visitor:
        await visitor.open("")
        await asyncio.sleep(chance.uniform(0, THINK))
        while time.monotonic() < end:
            answers.append(await visitor.choose("number", chance.choice(visitor.options("number"))))
            await asyncio.sleep(THINK)
    return answers
