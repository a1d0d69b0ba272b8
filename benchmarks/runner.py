"""Let visitors loose on servers of one's own: start the servers, play, measure waiting and memory, judge, print.

A scenario is a function of a :class:`Stage`. It says who comes, what they do, and which bounds hold:

    async def classroom(stage: Stage) -> None:
        await stage.play("classroom", [learner(stage.door(n), n, 30.0, looking(SHARED)) for n in range(50)])

Waiting is wall time, so visitors, servers and whatever else this machine does share its cores; the processor time of a
page tells a slow server from a busy machine. One server computes on about one core (Python's interpreter lock), so n
pages a second need n times that to stay below one. ``told s`` is when 95 of 100 had been told that their page runs:
from then on a browser shows it, however long the answer takes.

A bound in seconds tells little on a machine that is slow, or that does other work. So where one is broken, as many
people choose from a bare Streamlit page in the same run; the lab may take :data:`TIMES` as long as they wait.
"""

from __future__ import annotations

import asyncio
import math
import os
import shutil
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.balancer import MISSING, PROGRAM, proxied
from benchmarks.learners import choose_number, learner
from benchmarks.server import Lab, Usage, high_water, running_lab, usage
from benchmarks.visitor import Answer

BARE_APP = Path(__file__).with_name("bare_app.py")
BARE_SECONDS, TIMES = 12.0, 3
MEGABYTES = 1200.0  # the most that a server may hold after a scenario
EVERY = 0.05  # seconds between two looks at the memory
OF_TESTS = ("sklearn", "scipy")  # of requirements-dev.txt


@dataclass(frozen=True)
class Figure:
    """What was measured, and the most that it may be.

    Whoever waits for a server has a ``pause`` between two looks, which may be 0: on a slow machine the figure may be
    :data:`TIMES` as long as a bare page takes, and the pause. Other figures have none.
    """

    name: str
    value: float
    most: float = math.inf
    pause: float | None = None

    def broken(self, bare: float = 0.0) -> bool:
        """Whether it is above its bound, where a bare page takes so many seconds."""
        slow = -math.inf if self.pause is None or not bare else TIMES * bare + self.pause
        return self.value > max(self.most, slow)

    def __str__(self) -> str:
        return f"{self.value:.2f}" if self.name.endswith(" s") else f"{self.value:.0f}"


@dataclass(frozen=True)
class Row:
    """What came of a scenario, or of a part of it: one line of the table."""

    name: str
    users: int
    figures: tuple[Figure, ...]
    errors: tuple[str, ...] = ()
    bare: float = 0.0  # p95 of a bare page, if it was measured

    def __getitem__(self, name: str) -> float:
        """The value of a figure."""
        return next(each.value for each in self.figures if each.name == name)

    @property
    def broken(self) -> tuple[str, ...]:
        """Each bound that is not kept, and up to three errors."""
        above = (f"{each.name} {each}, at most {each.most:g}" for each in self.figures if each.broken(self.bare))
        return (*above, *self.errors[:3])

    def __str__(self) -> str:
        columns = " ".join(f"{each!s:>{len(each.name) + 2}}" for each in self.figures[: len(COLUMNS)])
        more = [f"{each.name} {each}" for each in self.figures[len(COLUMNS) :]]
        bare = [f"bare page {self.bare:.2f} s"] if self.bare else []
        return "  ".join(
            [f"{self.name:<50} {self.users:>5} {columns}", *more, *bare, *map("BROKEN: {}".format, self.broken)]
        )


COLUMNS = ("pages", "per s", "errors", "p50 s", "p95 s", "max s", "told s", "CPU ms", "peak MB", "MB")
_PAUSES = {"p95 s": 0.0}
HEADER = f"{'scenario':<50} {'users':>5} " + " ".join(f"{name:>{len(name) + 2}}" for name in COLUMNS)


def p95(seconds: Sequence[float]) -> float:
    """The time in which 95 of 100 have what they wait for; infinite if nobody has."""
    return float(np.percentile(seconds, 95)) if seconds else math.inf


@dataclass
class Stage:
    """Servers, the doors through which visitors come, how long a scenario lasts, and the table so far."""

    labs: Sequence[Lab]
    doors: Sequence[Lab]
    seconds: float = 30.0
    rows: list[Row] = field(default_factory=list)
    peak: float = 0.0

    def door(self, number: int) -> Lab:
        """The door of the ``number``-th visitor."""
        return self.doors[number % len(self.doors)]

    def look(self) -> Usage:
        """Processor seconds of all servers, and the megabytes of the largest now; the peak keeps the most so far."""
        used = [usage(lab.process.pid) for lab in self.labs]
        now = max(each.megabytes for each in used)
        self.peak = max(self.peak, now, *(high_water(lab.process.pid) for lab in self.labs))
        return Usage(sum(each.cpu_seconds for each in used), now)

    async def watch(self) -> None:
        """Look at the memory again and again, until cancelled."""
        while True:
            self.look()
            await asyncio.sleep(EVERY)

    async def play(
        self,
        name: str,
        visits: Sequence[Awaitable[Sequence[Answer]]],
        most: Mapping[str, float] | None = None,
        more: Callable[[], Sequence[Figure]] = tuple,
        users: int | None = None,
    ) -> Row:
        """Let the visitors in at once, wait until all have left, judge and print.

        ``most`` has bounds by the names of columns, ``more`` gives figures of the scenario's own. A visit may be that
        of several ``users``.
        """
        before, start = self.look().cpu_seconds, time.monotonic()
        answers = [answer for each in await asyncio.gather(*visits) for answer in each]
        wall, used = time.monotonic() - start, self.look()
        values = {**waits(answers, wall, used.cpu_seconds - before), "peak MB": self.peak, "MB": used.megabytes}
        bounds = {"MB": MEGABYTES, **(most or {})}
        common = (Figure(each, values[each], bounds.get(each, math.inf), _PAUSES.get(each)) for each in COLUMNS)
        figures = (*common, *more())
        users, bare = len(visits) if users is None else users, 0.0
        if any(each.broken() and each.pause is not None for each in figures):
            bare = await bare_p95(users)
        errors = dict.fromkeys(error for answer in answers for error in answer.errors)
        nobody = ("nobody got an answer",) if visits and not answers else ()
        self.rows.append(Row(name, users, figures, (*errors, *nobody), bare))
        print(self.rows[-1], flush=True)
        return self.rows[-1]


def waits(answers: Sequence[Answer], wall: float, cpu: float) -> dict[str, float]:
    """How long visitors waited, and what their pages took of the processor, by the names of columns."""
    waited, n = [answer.seconds for answer in answers] or [0.0], len(answers)
    return {
        "pages": n,
        "per s": n / wall,
        "errors": sum(bool(answer.errors) for answer in answers),
        "p50 s": float(np.median(waited)),
        "p95 s": p95(waited),
        "max s": max(waited),
        "told s": p95([answer.running_after for answer in answers] or [0.0]),
        "CPU ms": 1e3 * cpu / max(n, 1),
    }


async def bare_p95(users: int, seconds: float = BARE_SECONDS) -> float:
    """How long ``users`` people wait who choose from a list, on a page that has nothing else; 0 if none gets to it."""
    with running_lab(BARE_APP) as lab:
        found = await asyncio.gather(*(learner(lab, number, seconds, choose_number) for number in range(users)))
    return p95([answer.seconds for answers in found for answer in answers[1:]] or [0.0])


@contextmanager
def staged(servers: int = 1, environment: Mapping[str, str] | None = None, seconds: float = 30.0) -> Iterator[Stage]:
    """New servers for the block; more than one behind HAProxy, or visited in turn where there is none."""
    with ExitStack() as held:
        hidden = like_a_server(Path(held.enter_context(TemporaryDirectory())))
        labs = [held.enter_context(running_lab(environment={**hidden, **(environment or {})})) for _ in range(servers)]
        doors = labs
        if servers > 1 and shutil.which(PROGRAM):
            doors = [held.enter_context(proxied(labs))]
        elif servers > 1:
            print(f"{MISSING} The visitors go to the servers in turn.", flush=True)
        print(HEADER, flush=True)
        yield Stage(labs, doors, seconds)


def like_a_server(folder: Path) -> Mapping[str, str]:
    """Return the environment in which Python finds none of :data:`OF_TESTS`; ``folder`` gets the file that hides them.

    NLTK imports scikit-learn and SciPy where it finds them, which is 82 MB that no server has. Python imports a module
    of this name by itself, and takes a module that is None for one that is not there.
    """
    hidden = f"import sys\nsys.modules.update(dict.fromkeys({OF_TESTS}))\n"
    (folder / "sitecustomize.py").write_text(hidden, "utf-8")
    return {"PYTHONPATH": os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))}
