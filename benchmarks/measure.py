"""How two jobs are compared: in turn, in one process."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Comparison:
    """Something of ours beside something else that gives the same, over a text of so many tokens.

    ``measure()`` returns ours / theirs, measured anew each time.
    """

    work: str
    tokens: int
    target: float
    measure: Callable[[], float]


def seconds(job: Callable[[], object]) -> float:
    """The processor time of one call: what other processes do meanwhile does not count."""
    start = time.process_time()
    job()
    return time.process_time() - start


def time_ratio(ours: Callable[[], object], theirs: Callable[[], object], rounds: int) -> float:
    """The median over ``rounds`` of time(ours) / time(theirs), taken in turn after one unmeasured call of each.

    Who goes first alternates, so that neither always finds the other's warm caches.
    """
    theirs()
    ours()
    ratios = []
    for number in range(rounds):
        if number % 2:
            ours_took = seconds(ours)
            theirs_took = seconds(theirs)
        else:
            theirs_took = seconds(theirs)
            ours_took = seconds(ours)
        ratios.append(ours_took / theirs_took)
    return statistics.median(ratios)
