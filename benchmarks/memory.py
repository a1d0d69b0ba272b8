"""What the lab takes of a small server's memory: the first page, all lessons, all benches, the comparison.

Community Cloud promises 690 MB. The first six lessons keep that promise, all eleven do not: the parser of lesson 6
takes 70 MB, and a model with random weights, which some lessons draw beside the trained one, 100 MB for a moment. So
the bound that fails is what they were brought down to, and a tenth more. The comparison with Hugging Face, which few
ask for, is not bound.

The server imports no package that only tests need: NLTK imports scikit-learn and SciPy where it finds them, which is
82 MB that no server has.

What counts is the peak so far: the resident memory of the server and of all that it started, summed every twentieth of
a second, and the server's own high-water mark, which misses no moment. A page of memory that two processes share counts
twice and a mapped file counts, so the figure is never too small.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.learners import take_steps
from benchmarks.results import table
from benchmarks.server import Lab, running_lab, usage
from benchmarks.visitor import Answer, Visitor, visiting
from lab.course.pages import BENCHES, LESSONS, Bench, Lesson

PROMISED, BOUND = 690.0, 880.0  # megabytes
EVERY = 0.05  # seconds
OF_TESTS = ("sklearn", "scipy")  # of requirements-dev.txt


@dataclass
class Peak:
    """The most that a server and all that it started have taken so far, in megabytes (10⁶ bytes)."""

    pid: int
    megabytes: float = 0.0

    def look(self) -> float:
        """Look once more; returns the peak."""
        self.megabytes = max(self.megabytes, usage(self.pid).megabytes, high_water(self.pid))
        return self.megabytes


@dataclass(frozen=True)
class Stage:
    """What a visitor has done by now, the peak until then, and what is held now. What few ask for is not ``bound``."""

    done: str
    peak: float
    now: float
    bound: bool = True

    @property
    def failed(self) -> bool:
        return self.bound and self.peak > BOUND

    def __str__(self) -> str:
        return f"{self.done:<46} {self.peak:>6.0f} {self.now:>6.0f}{'  BROKEN' if self.failed else ''}"


def high_water(pid: int) -> float:
    """The most that one process has ever had resident, as Linux counts it, in megabytes."""
    status = Path(f"/proc/{pid}/status").read_text("utf-8", "replace")
    return next(int(line.split()[1]) * 1024 / 1e6 for line in status.splitlines() if line.startswith("VmHWM"))


@contextmanager
def watched(pid: int) -> Iterator[Peak]:
    """Look at the memory every :data:`EVERY` seconds for as long as the block runs."""
    peak, over = Peak(pid), threading.Event()

    def look() -> None:
        while not over.wait(EVERY):
            peak.look()

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield peak
    finally:
        over.set()
        watcher.join()


async def _every_step(visitor: Visitor, pages: Sequence[Lesson | Bench]) -> list[Answer]:
    answers = []
    for page in pages:
        answers.append(await visitor.open(page.slug))
        answers += await take_steps(visitor)
    return answers


async def _stages(lab: Lab, peak: Peak) -> list[Stage]:
    """A visitor's way, on the sentence and with the model that everybody begins with. Raises where a page fails."""
    found: list[Stage] = []

    def reached(done: str, answers: Sequence[Answer], bound: bool = True) -> None:
        wrong = [error for answer in answers for error in answer.errors]
        if wrong:
            raise RuntimeError(f"{done}: {wrong[0]}")
        found.append(Stage(done, peak.look(), usage(lab.process.pid).megabytes, bound))
        print(found[-1], flush=True)

    async with visiting(lab.url) as visitor:
        reached("nobody has come", [])
        reached("the first page", [await visitor.open("")])
        for number, lesson in enumerate(LESSONS, 1):
            reached(f"every step of lesson {number}, {lesson.title}", await _every_step(visitor, [lesson]))
        reached("every step of the benches", await _every_step(visitor, BENCHES))
        answers = [await visitor.open(LESSONS[2].slug, step=next(s.name for s in LESSONS[2].steps if s.id == "map"))]
        badge = next(label for label in visitor.popovers if "Compare with Hugging Face" in label)
        reached("the comparison with Hugging Face, asked for", [*answers, await visitor.unfold(badge)], bound=False)
        assert any("steps match Hugging Face" in label for label in visitor.popovers), visitor.popovers
    return found


def _like_a_server(folder: Path) -> Mapping[str, str]:
    """Return the environment in which Python finds none of :data:`OF_TESTS`; ``folder`` gets the file that hides them.

    Python imports a module of this name by itself, and takes a module that is None for one that is not there.
    """
    hidden = f"import sys\nsys.modules.update(dict.fromkeys({OF_TESTS}))\n"
    (folder / "sitecustomize.py").write_text(hidden, "utf-8")
    return {"PYTHONPATH": os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))}


def run() -> tuple[list[tuple[str, str]], bool]:
    """Print every stage and return them as a section of RESULTS.md. Failed if a peak is above the bound."""
    print(f"\nMemory of a new server and all that it starts, promised {PROMISED:.0f} MB, bound {BOUND:.0f} MB\n")
    print(f"{'after':<46} {'peak':>6} {'now':>6}\n{'':<46} {'MB':>6} {'MB':>6}")
    with (
        TemporaryDirectory() as folder,
        running_lab(environment=_like_a_server(Path(folder))) as lab,
        watched(lab.process.pid) as peak,
    ):
        found = asyncio.run(_stages(lab, peak))
    rows = [
        ("promised", f"{PROMISED:.0f}", ""),
        ("bound", f"{BOUND:.0f}", ""),
        *((each.done, f"{each.peak:.0f}", f"{each.now:.0f}") for each in found),
    ]
    return [
        ("Memory of a server", table(("after", "peak so far, MB", "then, MB"), rows)),
    ], any(each.failed for each in found)
