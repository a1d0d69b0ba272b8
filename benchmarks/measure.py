"""How things are measured: two jobs in turn in one process, and everything an object keeps alive."""

from __future__ import annotations

import gc
import statistics
import sys
import time
import tracemalloc
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch import Tensor


@dataclass(frozen=True)
class Comparison:
    """Something of ours beside something else that gives the same, over a text of so many tokens.

    ``measure()`` returns ours / theirs, measured anew each time; ``megabytes`` is the most memory (10⁶ bytes) that
    numpy held for ours at once, where that is of interest.
    """

    work: str
    tokens: int
    target: float
    measure: Callable[[], float]
    megabytes: float | None = None


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


def peak_megabytes(job: Callable[[], object]) -> float:
    """The most that Python and numpy held at once during one call, in 10⁶ bytes, above what they held before it."""
    gc.collect()
    tracemalloc.start()
    try:
        job()
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


def _reachable(start: object, stop: object) -> list[Any]:
    """Every object ``start`` refers to, however indirectly; not into ``stop``, modules, classes and functions."""
    seen, waiting, found = {id(stop)}, [start], []
    while waiting:
        thing = waiting.pop()
        if id(thing) in seen or isinstance(thing, types.ModuleType | type | types.FunctionType):
            continue
        seen.add(id(thing))
        found.append(thing)
        waiting.extend(gc.get_referents(thing))
    return found


def _storages(things: list[Any]) -> dict[int, int]:
    tensors = [thing for thing in things if isinstance(thing, Tensor)]
    return {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in tensors}


@dataclass(frozen=True)
class Kept:
    """Bytes in tensors, and in everything else Python holds."""

    tensors: int
    objects: int

    @property
    def total(self) -> int:
        return self.tensors + self.objects


def kept_bytes(thing: object, apart_from: object) -> Kept:
    """What lives because ``thing`` does and not because ``apart_from`` does.

    A storage that several tensors view counts once, and in full.
    """
    things = _reachable(thing, apart_from)
    others = _storages(_reachable(apart_from, None))
    return Kept(
        tensors=sum(size for pointer, size in _storages(things).items() if pointer not in others),
        objects=sum(sys.getsizeof(one) for one in things if not isinstance(one, Tensor)),
    )
