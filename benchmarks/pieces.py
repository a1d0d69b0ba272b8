"""The longest piece of work in which each step of a page holds a core, on the longest text that the model reads.

    python -m benchmarks.pieces                              # every lesson and bench, every model that ships
    python -m benchmarks.pieces --only feed-forward --models lab-gpt2

Other visitors wait as long as the longest piece, not as long as the whole work. Every run is the first of its text, so
nothing is remembered. ``core s`` is the most processor time of a thread between taking a core and giving it back, which
what else the machine does leaves as it is; ``all s`` is how long the step took; ``still s`` is how long no other thread
of the server could run (Python's interpreter lock).
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from streamlit.logger import set_log_level
from streamlit.testing.v1 import AppTest

from benchmarks.learners import REVEAL
from benchmarks.pages import opened, run_once, text_of
from lab.course.pages import BENCHES, LESSONS, Bench, Lesson
from lab.models import cores, jobs
from lab.models.catalogue import CATALOGUE, ships
from lab.text.tags.pipeline import pipeline
from lab.ui import runs
from lab.ui.parameters import SENTENCE

TOKENS, BOUND = 512, 0.5
_BEAT = 0.005
_PATIENCE = 300.0


@dataclass
class Longest:
    """A lock's longest hold by one thread, and the longest time in which no other thread could run, in seconds."""

    core: float = 0.0
    still: float = 0.0
    _since: dict[int, float] = field(default_factory=dict)

    def taken(self) -> None:
        self._since[threading.get_ident()] = time.thread_time()

    def freed(self) -> None:
        begun = self._since.pop(threading.get_ident(), None)
        if begun is not None:
            self.core = max(self.core, time.thread_time() - begun)


class Watched(threading.BoundedSemaphore):
    """A semaphore that tells when a thread takes it and frees it."""

    def __init__(self, value: int, longest: Longest) -> None:
        super().__init__(value)
        self._longest = longest

    def acquire(self, blocking: bool = True, timeout: float | None = None) -> bool:
        taken = super().acquire(blocking, timeout)
        if taken:
            self._longest.taken()
        return taken

    __enter__ = acquire

    def release(self, n: int = 1) -> None:
        self._longest.freed()
        super().release(n)


@contextmanager
def watched() -> Iterator[Longest]:
    """Watch the cores, and the interpreter's lock, for the block."""
    longest, over, before = Longest(), threading.Event(), (cores._FOR_PAGES, cores._FOR_LONG_WORK)

    def beat() -> None:
        begun = time.perf_counter()
        while not over.wait(_BEAT):
            now = time.perf_counter()
            longest.still, begun = max(longest.still, now - begun - _BEAT), now

    watcher = threading.Thread(target=beat, daemon=True)
    cores._FOR_PAGES, cores._FOR_LONG_WORK = Watched(cores.COUNT, longest), Watched(cores.COUNT, longest)
    watcher.start()
    try:
        yield longest
    finally:
        over.set()
        watcher.join()
        cores._FOR_PAGES, cores._FOR_LONG_WORK = before


@dataclass(frozen=True)
class Piece:
    """A step of a page with a model, its longest piece, and how long it took in all."""

    page: str
    model: str
    step: str
    core: float
    still: float
    whole: float

    @property
    def failed(self) -> bool:
        return self.core > BOUND

    def __str__(self) -> str:
        where = f"{self.page}, {self.model}"
        verdict = "  BROKEN" if self.failed else ""
        return f"{where:<48} {self.step:<22} {self.core:>6.2f} {self.still:>7.2f} {self.whole:>6.2f}{verdict}"


def pieces(pages: Sequence[Lesson | Bench], models: Sequence[str]) -> Iterator[Piece]:
    """The first look at every step of these pages, on a text that nobody has seen."""
    for page in pages:
        for model in models:
            text = text_of(model, TOKENS - 2)
            with watched() as longest:
                begun = time.perf_counter()
                at = opened(page, mode=SENTENCE, model=model, text=f"{page.id[:1]} {text}")
                wait_for_jobs(at)
                whole = time.perf_counter() - begun
            steps = [control.options for control in at.segmented_control if control.key == "step"]
            yield Piece(page.title, model, "(opened)", longest.core, longest.still, whole)
            for step in steps[0] if steps else []:
                yield _piece(at, page, model, step)


def _piece(at: AppTest, page: Lesson | Bench, model: str, step: str) -> Piece:
    with watched() as longest:
        begun = time.perf_counter()
        at.segmented_control(key="step").set_value(step)
        run_once(at)
        wait_for_jobs(at)
        while skips := [button for button in at.button if button.label == REVEAL]:
            skips[0].click()
            run_once(at)
            wait_for_jobs(at)
        whole = time.perf_counter() - begun
    return Piece(page.title, model, step, longest.core, longest.still, whole)


def wait_for_jobs(at: AppTest) -> None:
    """Draw the page again when the work that it has begun in the background is over."""
    end = time.monotonic() + _PATIENCE
    while any(job.error is None for job in tuple(jobs._RUNNING.values())) and time.monotonic() < end:
        time.sleep(0.05)
        if not jobs._RUNNING:
            run_once(at)


def main(arguments: Sequence[str] | None = None, say: Callable[[str], None] = print) -> int:
    """Measure what was asked for; returns 1 if a step holds a core for longer than :data:`BOUND`."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.pieces", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    pages: tuple[Lesson | Bench, ...] = (*LESSONS, *BENCHES)
    every = {page.id: page for page in pages}
    shipped = [entry.id for entry in CATALOGUE if ships(entry)]
    parser.add_argument("--only", nargs="+", choices=list(every), default=list(every), metavar="PAGE")
    parser.add_argument("--models", nargs="+", choices=shipped, default=shipped, metavar="MODEL")
    asked = parser.parse_args(arguments)
    set_log_level("ERROR")
    for model in asked.models:
        runs.model(model)
    pipeline()  # read once in the life of a server, as the models are
    say(f"{'page':<48} {'step':<22} {'core s':>6} {'still s':>7} {'all s':>6}")
    broken = False
    for piece in pieces([every[name] for name in asked.only], asked.models):
        say(str(piece))
        broken |= piece.failed
    return int(broken)


if __name__ == "__main__":
    sys.exit(main())
