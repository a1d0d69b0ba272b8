"""Compute parts on a Dask cluster. Only this module imports Dask, which ``requirements-cluster.txt`` installs."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager

from distributed import Client, KilledWorker, as_completed, rpc
from distributed.comm import CommClosedError

from lab.evidence.scale.parquet_parts import TreebankPart, measured
from lab.evidence.scale.workers import Workers, WorkersLost

# Seconds to wait for a scheduler's answer, and for its first worker.
ANSWERS, WITHOUT_WORKERS = 10, 60


def cluster(address: str) -> Workers:
    """Return the workers of the scheduler at ``address``. If a worker dies, another worker computes its parts."""
    return lambda parts: _on_cluster(address, parts)


def _on_cluster(address: str, parts: Iterable[TreebankPart]) -> Iterator[tuple[TreebankPart, bytes]]:
    with _client(address) as client:
        futures = {client.submit(measured, part, key=f"{part.file}-{hash_of(part)}"): part for part in parts}
        try:
            for future, content in as_completed(futures, loop=client.loop, with_results=True):
                yield futures.pop(future), content
                future.release()
        except KilledWorker as error:
            raise WorkersLost(
                "Each worker that took the same part died, perhaps because it ran out of memory."
            ) from error
        except (ModuleNotFoundError, RuntimeError) as error:
            # The scheduler, too, deserializes the tasks; if it cannot, its error contains only this message.
            if isinstance(error, RuntimeError) and "deserialization of the task graph" not in str(error):
                raise
            raise WorkersLost("Scheduler and workers must import the lab: start them in its folder.") from error
        except (CancelledError, CommClosedError) as error:
            raise WorkersLost(f"The scheduler at {address} is gone.") from error


def hash_of(part: TreebankPart) -> str:
    """Short hash of a part for the name of its task, so that two commands with the same part share one task."""
    return "-".join(value.decode()[:16] for value in part.made_of.values())


async def _identity(address: str) -> None:
    async with rpc(address) as scheduler:
        await scheduler.identity()


@contextmanager
def _client(address: str) -> Iterator[Client]:
    try:
        # Client() itself waits forever for a scheduler that accepts the connection but never answers.
        asyncio.run(asyncio.wait_for(_identity(address), ANSWERS))
        client = Client(address, timeout=ANSWERS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise WorkersLost(f"No scheduler answers at {address} within {ANSWERS} s ({type(error).__name__}).") from error
    with client:
        try:
            client.wait_for_workers(1, timeout=WITHOUT_WORKERS)
        except TimeoutError as error:
            raise WorkersLost(
                f"The scheduler at {address} has no worker. In the lab's folder: python -m dask worker {address} "
                "--nthreads 1"
            ) from error
        yield client
