"""Learners at work on a real server: what they do next, and how long they wait."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from websockets.exceptions import WebSocketException

from benchmarks.server import Lab
from benchmarks.visitor import Answer, Visitor, visiting
from lab.course.pages import LESSONS

THINK = 2.0  # seconds
REVEAL = "Show me"  # the button beside a question that shows the figure without an answer
PAGES = tuple(lesson.slug for lesson in LESSONS)
_TASK = "A_task_of_your_own"
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


@dataclass(frozen=True)
class Scenario:
    """``users`` at once for ``seconds``; 95 of 100 of their reruns must take less than ``bound`` seconds."""

    name: str
    users: int
    bound: float | None
    seconds: float = 30.0
    own: bool = False  # each with a sentence of 32 tokens of their own
    teaches: bool = False  # each teaches a task of their own in lesson 11, and trains the last layer


def percentiles(answers: Sequence[Answer]) -> tuple[float, float, float]:
    """Median, 95th percentile and maximum of the seconds waited."""
    waited = [answer.seconds for answer in answers] or [0.0]
    return float(np.median(waited)), float(np.percentile(waited, 95)), max(waited)


async def tour(lab: Lab, text: str) -> list[Answer]:
    """Open every lesson once, one after the other, and take each of its steps."""
    answers = []
    async with visiting(lab.url) as visitor:
        for page in PAGES:
            answers.append(await visitor.open(page, text=text))
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


async def look_around(visitor: Visitor, chance: random.Random) -> Answer:
    """One thing that a learner does next."""
    if REVEAL in visitor.buttons:
        return await visitor.press(REVEAL)
    steps = visitor.options("step")
    wishes = [name for name in ("layer", "layer", "head", "head") if visitor.options(name)]
    match chance.choice([*wishes, *(["step"] * bool(steps)), "page"]):
        case "page":
            return await visitor.open(chance.choice(PAGES))
        case "step":
            at = steps.index(visitor.query["step"]) if visitor.query.get("step") in steps else 0
            return await visitor.choose("step", steps[(at + 1) % len(steps)])
        case name:
            return await visitor.choose(name, chance.choice(visitor.options(name)))


async def teach(visitor: Visitor, number: int, turn: int) -> Answer:
    """One thing that a learner does who teaches a task of their own; the ``turn`` counts what was done before.

    Pastes sixteen labelled sentences, labels four by clicks, types two more, trains the last layer, and looks.
    """
    match (turn + number) % 9 if turn else 0:  # not all do the same at the same moment
        case 0:
            return await visitor.open(_TASK, step="Teach it", taught="Your own")
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


def labelled(number: int, turn: int, count: int) -> list[str]:
    """``count`` sentences of a learner, with the two labels in turn."""
    return [f"{sentence(10_000 * turn + 100 * number + i, 8)}\t{('yes', 'no')[i % 2]}" for i in range(count)]


async def learner(lab: Lab, scenario: Scenario, number: int) -> list[Answer]:
    """Look around until the scenario is over or the connection is lost."""
    chance = random.Random(number)
    text = sentence(number) if scenario.own else SHARED
    end = time.monotonic() + scenario.seconds
    try:
        async with visiting(lab.url) as visitor:
            await asyncio.sleep(chance.uniform(0, THINK))
            answers = [await visitor.open(chance.choice(PAGES), text=text)]
            while time.monotonic() + THINK < end and not answers[-1].lost:
                await asyncio.sleep(THINK)
                does = teach(visitor, number, len(answers) - 1) if scenario.teaches else look_around(visitor, chance)
                answers.append(await does)
            return answers
    except (OSError, WebSocketException) as error:  # no connection at all
        return [Answer(0.0, 0.0, 0.0, (f"{type(error).__name__}: {error}",), lost=True)]
