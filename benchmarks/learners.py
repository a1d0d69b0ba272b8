"""Learners at work on a real server: what each of them does next."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Awaitable, Callable, Sequence

from websockets.exceptions import WebSocketException

from benchmarks.server import Lab
from benchmarks.visitor import Answer, Visitor, visiting
from lab.course.pages import LESSONS, Bench, Lesson

# What somebody does next: the visitor, their chance, and how many things they have done before.
Act = Callable[[Visitor, random.Random, int], Awaitable[Answer]]

THINK = 2.0  # seconds
REVEAL = "Show me"  # the button beside a question that shows the figure without an answer
SHARED = "The cat sat on the mat because it was tired."
# Each is one token of lab-minilm and of lab-bert.
_WORDS = (
    "the", "a", "and", "of", "to", "in", "was", "he", "she", "it", "his", "her", "with", "for", "on", "that", "they",
    "had", "from", "by", "all", "not", "be", "have", "this", "were", "one", "who", "been", "their", "there", "out",
    "when", "up", "into", "him", "them", "more", "then", "said", "no", "time", "some", "little", "could", "before",
    "man", "great", "over", "such", "only", "two", "down", "old", "good", "other", "new", "long", "way", "after",
    "made", "day", "house", "water", "hand",
)  # fmt: skip


def sentence(number: int, words: int = 30) -> str:
    """The ``number``-th text: 30 words are 32 tokens with [CLS] and [SEP]."""
    return " ".join(random.Random(number).choices(_WORDS, k=words))


async def tour(visitor: Visitor, pages: Sequence[Lesson | Bench] = LESSONS, **link: str) -> list[Answer]:
    """Open each page, and take each of its steps."""
    answers = []
    for page in pages:
        answers.append(await visitor.open(page.slug, **link))
        answers += await take_steps(visitor)
    return answers


async def take_steps(visitor: Visitor) -> list[Answer]:
    """Each step of the page that is open, and what it shows behind its question."""
    answers = []
    for step in visitor.options("step"):
        answers.append(await visitor.choose("step", step))
        while REVEAL in visitor.buttons:
            answers.append(await visitor.press(REVEAL))
    return answers


def looking(text: str) -> Act:
    """Look around as people do: open a lesson on this text, skip the question, change layer or head, go on."""

    async def act(visitor: Visitor, chance: random.Random, turn: int) -> Answer:
        if turn == 0:
            return await visitor.open(chance.choice(LESSONS).slug, text=text)
        if REVEAL in visitor.buttons:
            return await visitor.press(REVEAL)
        steps = visitor.options("step")
        wishes = [name for name in ("layer", "layer", "head", "head") if visitor.options(name)]
        match chance.choice([*wishes, *(["step"] * bool(steps)), "page"]):
            case "page":
                return await visitor.open(chance.choice(LESSONS).slug)
            case "step":
                at = steps.index(visitor.query["step"]) if visitor.query.get("step") in steps else 0
                return await visitor.choose("step", steps[(at + 1) % len(steps)])
            case name:
                return await visitor.choose(name, chance.choice(visitor.options(name)))

    return act


def teaching(number: int) -> Act:
    """Teach a task of one's own in lesson 11, as the ``number``-th learner.

    Paste sixteen labelled sentences, label four by clicks, type two more, train the last layer, and look.
    """

    async def act(visitor: Visitor, _: random.Random, turn: int) -> Answer:
        match (turn + number) % 9 if turn else 0:  # not all do the same at the same moment
            case 0:
                return await visitor.open("A_task_of_your_own", step="Teach it", taught="Your own")
            case 1 | 6 as when:
                visitor.fill("_taught_typed", "\n".join(labelled(number, turn, 16 if when == 1 else 2)))
                return await visitor.press("Add")
            case 2 | 3 | 4 | 5 as place:
                click = [f"{number}.{turn}", ("first", "second")[turn % 2], place]
                return await visitor.choose("_taught_list", json.dumps({"act": click}))
            case 7:
                return await visitor.choose("step", "Change the model")
            case _:
                train = next((label for label in visitor.buttons if label.startswith("Train the last layer")), None)
                return await (visitor.look_again() if train is None else visitor.press(train))

    return act


async def choose_number(visitor: Visitor, chance: random.Random, turn: int) -> Answer:
    """Choose from the list of benchmarks/bare_app.py."""
    if turn == 0:
        return await visitor.open("")
    return await visitor.choose("number", chance.choice(visitor.options("number")))


def labelled(number: int, turn: int, count: int) -> list[str]:
    """``count`` sentences of a learner, with the two labels in turn."""
    return [f"{sentence(10_000 * turn + 100 * number + i, 8)}\t{('yes', 'no')[i % 2]}" for i in range(count)]


async def learner(lab: Lab, number: int, seconds: float, act: Act) -> list[Answer]:
    """Act and think in turn until the time is over or the connection is lost."""
    chance, end = random.Random(number), time.monotonic() + seconds
    try:
        async with visiting(lab.url) as visitor:
            await asyncio.sleep(chance.uniform(0, THINK))
            answers = [await act(visitor, chance, 0)]
            while time.monotonic() + THINK < end and not answers[-1].lost:
                await asyncio.sleep(THINK)
                answers.append(await act(visitor, chance, len(answers)))
            return answers
    except (OSError, WebSocketException) as error:  # no connection at all
        return [Answer(0.0, 0.0, (f"{type(error).__name__}: {error}",), lost=True)]
