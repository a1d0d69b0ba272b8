"""A class at work: a real server, visitors over WebSockets on the real lessons, bounds on how long they wait.

    python -m benchmarks.load                  # make load: all scenarios but room, about five quiet minutes
    python -m benchmarks.load --soak 600       # the last scenario for ten minutes
    python -m benchmarks.load --servers 2      # the visitors shared out among two servers, as behind a balancer
    python -m benchmarks.load classroom own    # only these
    python -m benchmarks.load room             # a class in a room, on both databases: see benchmarks/room.py

Learners look around as people do: skip the prediction, change layer or head, go to the next step, now
and then to the next lesson, and think for two seconds each time. The teacher has taken every step of every
lesson on the class's sentence before. Waiting is wall time, so visitors, server and whatever else this machine
does share its cores; the processor time the server took for a rerun tells a slow server from a busy
machine. One server computes on about one core (Python's interpreter lock), so n reruns a second
need n times that to stay below one. ``told s`` is when 95 of 100 had been told that their page runs:
from then on a browser shows it, however long the answer takes. A slow machine may take three times as long as a bare
Streamlit page with as many people takes in the same run (``bare s``), where that is more than the bound. Ends with
status 1 when a bound is broken.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

import numpy as np

from benchmarks import room
from benchmarks.bare import TIMES, bare
from benchmarks.learners import PAGES, SHARED, Scenario, learner, percentiles, sentence, take_steps, tour
from benchmarks.server import Lab, Usage, running_lab, usage
from benchmarks.visitor import Answer, visiting

MEGABYTES = 1200.0
GROWTH = 1.1
SENTENCES, WARM = 150, 75  # texts of the soak at least, and after how many of them the caches are full
SOAKING = 30  # visitors of the soak


SCENARIOS = (
    Scenario("classroom", 50, 0.5),
    Scenario("lecture", 100, 2.0),
    Scenario("own", 30, 1.0, own=True),
    Scenario("task", 30, 1.0, teaches=True),
    # Too many: they wait, but nobody sees an error.
    Scenario("overload", 200, None),
)


@dataclass(frozen=True)
class Result:
    """What came of a scenario, and what it took."""

    name: str
    users: int
    answers: Sequence[Answer]
    cpu_seconds: float
    wall_seconds: float
    megabytes: float  # of the largest server
    bare: float  # p95 of a bare Streamlit page with as many people; 0 if it was not measured
    broken: tuple[str, ...]

    def row(self) -> str:
        """One line of the table."""
        p50, p95, p100 = percentiles(self.answers)
        told = float(np.percentile([answer.running_after for answer in self.answers] or [0.0], 95))
        n, errors = len(self.answers), sum(bool(answer.errors) for answer in self.answers)
        verdict = "  ".join(f"BROKEN: {each}" for each in self.broken)
        return (
            f"{self.name:<10} {self.users:>5} {n:>7} {n / self.wall_seconds:>6.1f} {errors:>6} {p50:>7.2f} {p95:>7.2f} "
            f"{p100:>7.2f} {told:>7.2f} {1e3 * self.cpu_seconds / max(n, 1):>7.0f} {self.megabytes:>7.0f} "
            f"{self.bare:>7.2f}  {verdict}"
        ).rstrip()


HEADER = (
    f"{'scenario':<10} {'users':>5} {'reruns':>7} {'per s':>6} {'errors':>6} {'p50 s':>7} {'p95 s':>7} {'max s':>7} "
    f"{'told s':>7} {'CPU ms':>7} {'RSS MB':>7} {'bare s':>7}"
)


async def play(labs: Sequence[Lab], scenario: Scenario, bare_p95: float = 0.0) -> Result:
    """Let the scenario's users loose on the servers, in turn; ``bare_p95`` is as in :func:`judged`."""
    before, start = cpu_seconds(labs), time.monotonic()
    learners = [learner(lab, scenario, n) for n, lab in zip(range(scenario.users), itertools.cycle(labs), strict=False)]
    answers = [answer for each in await asyncio.gather(*learners) for answer in each]
    wall = time.monotonic() - start
    used = [usage(lab.process.pid) for lab in labs]
    return judged(scenario, answers, cpu_seconds(labs) - before, wall, used, bare_p95)


def judged(
    scenario: Scenario,
    answers: Sequence[Answer],
    cpu: float,
    wall: float,
    used: Sequence[Usage],
    bare_p95: float = 0.0,
) -> Result:
    """The result, with each bound that it breaks; ``bare_p95`` is how long a bare page took with as many people."""
    largest = max(each.megabytes for each in used)
    p95 = percentiles(answers)[1]
    broken = list(dict.fromkeys(error for answer in answers for error in answer.errors))[:3]
    if not answers:
        broken.append("nobody got an answer")
    if scenario.bound is not None and p95 >= (bound := max(scenario.bound, TIMES * bare_p95)):
        broken.append(f"p95 {p95:.2f} s, not below {bound:.3g} s")
    if largest >= MEGABYTES:
        broken.append(f"{largest:.0f} MB, not below {MEGABYTES:.0f} MB")
    return Result(scenario.name, scenario.users, answers, cpu, wall, largest, bare_p95, tuple(broken))


async def soak(lab: Lab, seconds: float, sentences: int = SENTENCES, warm: int = WARM) -> Result:
    """Walk through all steps of the lessons with ever new sentences, without a pause.

    Memory must not grow from the middle to the end, once the caches are full.
    """
    before, start = cpu_seconds([lab]), time.monotonic()
    numbers, answers, level = itertools.count(1000), list[Answer](), list[float]()
    read = 0

    async def reader(first: int) -> None:
        async with visiting(lab.url) as visitor:
            pages = itertools.cycle(PAGES[first % len(PAGES) :] + PAGES[: first % len(PAGES)])
            nonlocal read
            while read < sentences or time.monotonic() < start + seconds:
                answers.append(await visitor.open(next(pages), text=sentence(next(numbers), 12)))
                answers.extend(await take_steps(visitor))
                read += 1
                if not level and read >= warm and time.monotonic() >= start + seconds / 2:
                    level.append(usage(lab.process.pid).megabytes)
                if answers[-1].lost:
                    return

    await asyncio.gather(*(reader(first) for first in range(SOAKING)))
    now = usage(lab.process.pid)
    found = judged(Scenario("soak", SOAKING, None), answers, now.cpu_seconds - before, time.monotonic() - start, [now])
    if level and now.megabytes <= GROWTH * level[0]:
        return found
    grown = f"{now.megabytes:.0f} MB after {read} sentences, {level} MB in the middle"
    return replace(found, broken=(*found.broken, grown))


def cpu_seconds(labs: Sequence[Lab]) -> float:
    """Processor time of all servers so far."""
    return sum(usage(lab.process.pid).cpu_seconds for lab in labs)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the scenarios and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load", description=__doc__.partition("\n")[0])
    names = [scenario.name for scenario in SCENARIOS]
    parser.add_argument("scenario", nargs="*", help=f"{', '.join(names)}, soak or room; all but room if none is named")
    parser.add_argument("--soak", type=float, default=0.0, metavar="SECONDS", help="go on with the soak for so long")
    parser.add_argument("--seconds", type=float, default=30.0, help="length of each other scenario (30)")
    parser.add_argument("--servers", type=int, default=1, help="servers that share the visitors (1)")
    asked = parser.parse_args(arguments)
    wanted = asked.scenario or [*names, "soak"]
    if unknown := set(wanted) - {*names, "soak", "room"}:
        parser.error(f"there is no scenario {', '.join(sorted(unknown))}; there are {', '.join(names)}, soak and room")
    broken = "room" in wanted and any(found.broken for found in room.measure())
    if set(wanted) - {"room"}:
        with ExitStack() as servers:
            labs = [servers.enter_context(running_lab()) for _ in range(asked.servers)]
            bare_p95 = {each.name: bare(each.users) for each in SCENARIOS if each.name in wanted and each.bound}
            broken |= asyncio.run(_all(labs, wanted, asked.seconds, asked.soak, bare_p95))
    return int(broken)


async def _all(
    labs: Sequence[Lab], wanted: Sequence[str], seconds: float, soaking: float, bare_p95: Mapping[str, float]
) -> bool:
    print(HEADER, flush=True)
    results = []
    for lab in labs:
        await tour(lab, SHARED)
    for scenario in SCENARIOS:
        if scenario.name in wanted:
            results.append(await play(labs, replace(scenario, seconds=seconds), bare_p95.get(scenario.name, 0.0)))
            print(results[-1].row(), flush=True)
    if "soak" in wanted:
        results.append(await soak(labs[0], soaking))
        print(results[-1].row(), flush=True)
    return any(result.broken for result in results)


if __name__ == "__main__":
    sys.exit(main())
