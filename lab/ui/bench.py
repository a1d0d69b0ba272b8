"""Run a bench: its input, the row of its steps, the view on screen, the proof."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from lab.models.trace import Trace
from lab.ui.page import BenchPage, open_bench
from lab.ui.play import chosen_run

View = TypeVar("View")


@dataclass(frozen=True, kw_only=True)
class BenchParts(Generic[View]):
    """What the steps of a bench share.

    Attributes
    ----------
    look
        Draws the controls that the steps share, and makes the view of a step from the page, the run of the page, and
        the step's id ("" if the bench has no steps).
    opened
        Changes the page before the sentence is run.
    """

    look: Callable[[BenchPage, Trace, str], View]
    opened: Callable[[BenchPage], BenchPage] = lambda page: page


@dataclass(frozen=True)
class Proven:
    """What the badge of a bench proves, if it is more than the run of the page.

    Attributes
    ----------
    runs, names
        The runs, and their names in the badges.
    then
        Draws what is known only after the comparison with Hugging Face.
    """

    runs: tuple[Trace, ...]
    names: tuple[str, ...] = ()
    then: Callable[[], None] = lambda: None


def play(id: str, parts: BenchParts[Any], step: Callable[[str], Callable[[Any], Proven | None]]) -> None:
    """Run the page of the bench ``id``; ``step`` finds the function that draws a step by the step's id."""
    page = parts.opened(open_bench(id))
    trace = chosen_run(page)
    chosen = page.choose() if page.bench.steps else ""
    proven = step(chosen)(parts.look(page, trace, chosen)) or Proven((trace,))
    page.finish()
    page.prove(*proven.runs, names=proven.names)
    proven.then()
