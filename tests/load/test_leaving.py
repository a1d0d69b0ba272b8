"""Visitors start what takes long, and leave: their work ends, and the server has nothing more to do."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack

import pytest

from benchmarks.server import Lab, running_lab, usage
from benchmarks.visitor import Visitor, visiting
from tests.load.test_load import run
from tests.thorough import at_night

PAGES = ("Copying", "Grammar", "Needed_heads", "Patching")
MODELS = ("lab-minilm", "lab-bert", "lab-gpt2")
VISITORS = 20
AGAIN = "Measure it again here"
SOON = 15.0  # seconds after which nothing may be computed any more


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    """A server that nobody has visited: what others have read or measured there would be done at once."""
    with running_lab() as running:
        yield running


def is_at_rest(lab: Lab) -> bool:
    """Whether the server computes next to nothing for three seconds."""
    before = usage(lab.process.pid).cpu_seconds
    time.sleep(3)
    return usage(lab.process.pid).cpu_seconds - before < 0.5


def comes_to_rest(lab: Lab) -> bool:
    """Whether it rests soon."""
    end = time.monotonic() + SOON
    while not is_at_rest(lab):
        if time.monotonic() > end:
            return False
    return True


async def at_the_experiment(stack: AsyncExitStack, lab: Lab, page: str, model: str) -> Visitor:
    visitor = await stack.enter_async_context(visiting(lab.url))
    assert not (await visitor.open(page, model=model)).errors
    if "Show me" in visitor.buttons:
        assert not (await visitor.press("Show me")).errors
    return visitor


@at_night
def test_experiments_stop_when_all_have_left(lab: Lab) -> None:
    async def start_and_leave() -> None:
        async with AsyncExitStack() as stack:
            begun = 0
            for number in range(VISITORS):
                page, model = PAGES[number % len(PAGES)], MODELS[number % len(MODELS)]
                visitor = await at_the_experiment(stack, lab, page, model)
                for label in (AGAIN, "Run the experiment"):
                    if label in visitor.buttons:
                        assert not (await visitor.press(label)).errors
                        begun += "Stop" in visitor.buttons
            assert begun >= 10
            assert not await asyncio.to_thread(is_at_rest, lab), "they compute as long as somebody is there"

    assert comes_to_rest(lab), "a test before has left something"
    run(start_and_leave())
    assert comes_to_rest(lab)


@at_night
@pytest.mark.parametrize(
    ("page", "settings", "label"),
    [
        (
            "Self-attention",
            {"mode": "Toy", "step": "Train a toy", "toy_weights": "Trained live", "toy_layers": "2"},
            "Train",
        ),
        ("Head_specialization", {"step": "Many sentences", "model": "lab-gpt2"}, "Read 200 sentences"),
    ],
    ids=["a toy", "a survey"],
)
def test_what_a_page_computes_stops_when_it_is_left(lab: Lab, page: str, settings: dict[str, str], label: str) -> None:
    async def start_and_leave() -> list[str]:
        async with visiting(lab.url) as visitor:
            assert not (await visitor.open(page, **settings)).errors
            assert label in visitor.buttons, list(visitor.buttons)
            working = asyncio.create_task(visitor.press(label))
            await asyncio.sleep(2)
            # A toy is trained in the page's own run, sentences are read beside it.
            assert not working.done() or "Stop" in visitor.buttons, "it should last longer than this"
            working.cancel()
        return list(visitor.buttons)

    run(start_and_leave())
    assert comes_to_rest(lab)
