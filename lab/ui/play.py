"""How a page with steps runs: its input, the row of steps, the one on screen, the way on, the proof."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from lab.course.sentences.looks import look_head
from lab.models.trace import Trace
from lab.ui.chosen_tokens import FirstHead, with_tokens
from lab.ui.one_head import OneHead
from lab.ui.page import LessonPage, OpenPage
from lab.ui.parameters import TOY
from lab.ui.toys.steps import TOY_STEPS, ToySteps, toy_trace

View = TypeVar("View")
# What a step draws of a view. It returns the run that the badge proves, if that is not the page's own.
Step = Callable[[View], Trace | None]
NO_STEPS: Mapping[str, Step[Any]] = {}


def chosen_run(page: OpenPage) -> Trace:
    """The sentence or the toy of the sidebar through its model."""
    if page.selection.mode != TOY:
        return page.trace()
    trace = toy_trace(page)
    page.here(trace)
    return trace


def play(
    page: LessonPage,
    trace: Trace,
    steps: Mapping[str, Step[View]],
    view: Callable[[], View | None],
    more: Mapping[str, Step[View]] = NO_STEPS,
    toys: ToySteps = TOY_STEPS,
) -> None:
    """Draw the chosen one of ``steps``, or of those that lie beside the way (``more``), of what ``view`` returns.

    ``view`` returns None where it has said why there is nothing to see. With a toy, ``toys`` stand before the steps.
    """
    toys = toys if page.selection.mode == TOY else {}
    steps, more = page.offered(steps), page.offered(more)
    names = [*toys, *steps]
    step, proven = page.step(names, list(more)), None
    if step in toys:
        toys[step](page)
    elif (seen := view()) is not None:
        proven = {**steps, **more}[step](seen)
    page.next_step(names, list(more))
    page.finish()
    page.prove(proven or trace)


def play_head(
    page: LessonPage,
    trace: Trace,
    steps: Mapping[str, Step[OneHead]],
    more: Mapping[str, Step[OneHead]] = NO_STEPS,
    first: FirstHead = look_head,
) -> None:
    """The same for steps that look at one head, one query, one key; ``first`` finds the head before anybody chose."""
    layer, head = page.head_controls(trace, first)

    def view() -> OneHead:
        query, key = with_tokens(trace, (layer, head))
        return OneHead(page, trace, trace.layer(layer), head, query, key)

    play(page, trace, steps, view, more)
