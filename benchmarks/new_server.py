"""A server that nobody has visited: how long its first visitor waits, and what its memory peaks at, lesson by lesson.

The visitor has no browser; what a browser adds is in ``python -m tests.browser.timings``.

Community Cloud promises 690 MB. The first five lessons keep that promise, all eleven do not: the parser of lesson 6
takes 70 MB, and a model with random weights, which some lessons draw beside the trained one, 100 MB for a moment. So
the bound that fails is what they take, and a little more. The comparison with Hugging Face, which few ask for, is not
bound.

What counts is the peak so far: the resident memory of the server and of all that it started, summed every twentieth of
a second, and the server's own high-water mark, which misses no moment. A page of memory that two processes share counts
twice and a mapped file counts, so the figure is never too small.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable

from benchmarks.learners import SHARED, tour
from benchmarks.results import table
from benchmarks.runner import Stage, staged
from benchmarks.visitor import Answer, Visitor, visiting
from lab.course.pages import BENCHES, LESSONS

PROMISED, BOUND = 690.0, 920.0  # megabytes
LESSON = LESSONS[2]
MAP = next(step.name for step in LESSON.steps if step.id == "map")  # a step with all controls and the badge


async def _one(answer: Awaitable[Answer]) -> list[Answer]:
    return [await answer]


async def first_visit(stage: Stage) -> None:
    """The first page, the first analysis, and what is quick from then on."""
    async with visiting(stage.door(0).url) as visitor:
        for name, doing in (
            ("the course map, first page of the server", visitor.open("")),
            ("self-attention: first analysis of the server", visitor.open(LESSON.slug, step=MAP)),
            ("another sentence", visitor.open(LESSON.slug, text=SHARED)),
            ("another layer of it", visitor.choose("layer", "2")),
            ("that layer again", visitor.choose("layer", "2")),
        ):
            await stage.play(name, [_one(doing)])


async def lesson_by_lesson(stage: Stage) -> None:
    """A visitor's way, on the sentence and with the model that everybody begins with."""
    watching = asyncio.create_task(stage.watch())
    async with visiting(stage.door(0).url) as visitor:
        await stage.play("nobody has come", [], {"peak MB": BOUND})
        await stage.play("the first page", [_one(visitor.open(""))], {"peak MB": BOUND})
        for number, lesson in enumerate(LESSONS, 1):
            await stage.play(
                f"every step of lesson {number}, {lesson.title}", [tour(visitor, [lesson])], {"peak MB": BOUND}
            )
        await stage.play("every step of the benches", [tour(visitor, BENCHES)], {"peak MB": BOUND})
        await stage.play("the comparison with Hugging Face, asked for", [_compare(visitor)])
    watching.cancel()


async def _compare(visitor: Visitor) -> list[Answer]:
    opened = await visitor.open(LESSON.slug, step=MAP)
    badge = next(label for label in visitor.popovers if "Compare with Hugging Face" in label)
    unfolded = await visitor.unfold(badge)
    assert any("steps match Hugging Face" in label for label in visitor.popovers), visitor.popovers
    return [opened, unfolded]


def start() -> tuple[list[tuple[str, str]], bool]:
    """Print the times and return them as a section of RESULTS.md; slowness fails nothing here."""
    begin = time.perf_counter()
    with staged() as stage:
        answers = time.perf_counter() - begin
        asyncio.run(first_visit(stage))
    lines = [("the server answers", f"{answers:.2f} s"), *((row.name, f"{row['max s']:.2f} s") for row in stage.rows)]
    lines.append(("resident memory then", f"{stage.rows[-1]['MB']:.0f} MB"))
    return [("A server that nobody has visited", table(("what", "figure"), lines))], False


def memory() -> tuple[list[tuple[str, str]], bool]:
    """Print every stage and return them as a section of RESULTS.md. Failed if a peak is above the bound."""
    with staged() as stage:
        asyncio.run(lesson_by_lesson(stage))
    rows = [("promised", f"{PROMISED:.0f}", ""), ("bound", f"{BOUND:.0f}", "")]
    rows += [(row.name, f"{row['peak MB']:.0f}", f"{row['MB']:.0f}") for row in stage.rows]
    broken = any(row.broken for row in stage.rows)
    return [("Memory of a server", table(("after", "peak so far, MB", "then, MB"), rows))], broken
