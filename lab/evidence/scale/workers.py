"""Who computes the parts: this process, several of them, or a cluster (:mod:`lab.evidence.scale.cluster`)."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool

from lab.evidence.scale.parts import TreebankPart, measured

# Gives each part with the content of its file, in whatever order they are done.
Workers = Callable[[Iterable[TreebankPart]], Iterator[tuple[TreebankPart, bytes]]]


class WorkersLost(RuntimeError):
    """Nobody is left to compute; the message says what to do."""


def processes(count: int) -> Workers:
    """``count`` processes of this machine; one is this process itself."""
    return _here if count == 1 else lambda parts: _in_processes(count, parts)


def _here(parts: Iterable[TreebankPart]) -> Iterator[tuple[TreebankPart, bytes]]:
    for part in parts:
        yield part, measured(part)


def _in_processes(count: int, parts: Iterable[TreebankPart]) -> Iterator[tuple[TreebankPart, bytes]]:
    # Spawned, not forked: a fork of a process in which PyTorch has threads may hang.
    with ProcessPoolExecutor(count, multiprocessing.get_context("spawn")) as pool:
        try:
            futures = {pool.submit(measured, part): part for part in parts}
            for future in as_completed(futures):
                yield futures.pop(future), future.result()
        except BrokenProcessPool as error:
            raise WorkersLost("A process was killed, perhaps for want of memory: try fewer --processes.") from error
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
