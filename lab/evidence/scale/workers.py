"""Compute parts in this process, in several processes, or on a cluster (:mod:`lab.evidence.scale.cluster`)."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool

from lab.evidence.scale.parquet_parts import TreebankPart, measured

# A function that computes parts and yields each one with the content of its file, in the order of completion.
Workers = Callable[[Iterable[TreebankPart]], Iterator[tuple[TreebankPart, bytes]]]


class WorkersLost(RuntimeError):
    """Raised if no worker is left to compute the parts; the message says what to do."""


def processes(count: int) -> Workers:
    """Return workers in ``count`` processes of this machine; if ``count`` is 1, work runs in this process."""
    return _here if count == 1 else lambda parts: _in_processes(count, parts)


def _here(parts: Iterable[TreebankPart]) -> Iterator[tuple[TreebankPart, bytes]]:
    for part in parts:
        yield part, measured(part)


def _in_processes(count: int, parts: Iterable[TreebankPart]) -> Iterator[tuple[TreebankPart, bytes]]:
    # Spawn, because a fork of a process with PyTorch threads may never finish.
    with ProcessPoolExecutor(count, multiprocessing.get_context("spawn")) as pool:
        try:
            futures = {pool.submit(measured, part): part for part in parts}
            for future in as_completed(futures):
                yield futures.pop(future), future.result()
        except BrokenProcessPool as error:
            raise WorkersLost(
                "A process was killed, perhaps because it ran out of memory: try fewer --processes."
            ) from error
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
