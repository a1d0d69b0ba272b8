"""No step holds a core for longer than half a second in one piece, on the longest text that the model reads.

Other visitors wait as long as the longest piece, not as long as the whole work. What counts is the processor time of a
thread between taking a core and giving it back, which what else the machine does leaves as it is.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field

import pytest
from streamlit.testing.v1 import AppTest

from benchmarks.learners import REVEAL
from benchmarks.pages import opened, run_once, text_of
from lab.course.pages import BENCHES, LESSONS, Bench, Lesson
from lab.models import cores, jobs
from lab.models.catalogue import DEFAULT_MODEL
from lab.models.cores import give_way, one_core
from lab.text.tags.pipeline import pipeline
from lab.ui import runs
from lab.ui.parameters import SENTENCE
from tests.thorough import at_night

BOUND, PATIENCE = 0.5, 300.0  # seconds


@dataclass
class Longest:
    """The longest hold of a core by one thread, in seconds."""

    seconds: float = 0.0
    since: dict[int, float] = field(default_factory=dict)


class Watched(threading.BoundedSemaphore):
    """A semaphore that tells for how long a thread has held it."""

    def __init__(self, value: int, longest: Longest) -> None:
        super().__init__(value)
        self._longest = longest

    def acquire(self, blocking: bool = True, timeout: float | None = None) -> bool:
        taken = super().acquire(blocking, timeout)
        if taken:
            self._longest.since[threading.get_ident()] = time.thread_time()
        return taken

    __enter__ = acquire

    def release(self, n: int = 1) -> None:
        begun = self._longest.since.pop(threading.get_ident(), None)
        if begun is not None:
            self._longest.seconds = max(self._longest.seconds, time.thread_time() - begun)
        super().release(n)


@pytest.fixture
def longest(monkeypatch: pytest.MonkeyPatch) -> Longest:
    watched = Longest()
    for queue in ("_FOR_PAGES", "_FOR_LONG_WORK"):
        monkeypatch.setattr(cores, queue, Watched(cores.COUNT, watched))
    return watched


def test_the_longest_piece_counts_and_not_the_whole(longest: Longest) -> None:
    def work(seconds: float) -> None:
        end = time.thread_time() + seconds
        while time.thread_time() < end:
            pass

    with one_core():
        for seconds in (0.05, 0.1, 0.05):
            work(seconds)
            give_way()
    assert 0.1 <= longest.seconds < 0.15


def drawn(at: AppTest) -> None:
    """Draw the page, and again when the work that it has begun in the background is over."""
    run_once(at)
    end = time.monotonic() + PATIENCE
    while any(job.error is None for job in tuple(jobs._RUNNING.values())) and time.monotonic() < end:
        time.sleep(0.05)
        if not jobs._RUNNING:
            run_once(at)


@at_night  # a busy machine breaks its bound, which says nothing of the code
@pytest.mark.parametrize("name", ["feed-forward", "masked-language-model", "neuron-view", "flow", "embeddings"])
def test_a_step_is_done_in_short_pieces(name: str, longest: Longest) -> None:
    """Every step is the first look at a text that nobody has seen, so nothing is remembered."""
    runs.model(DEFAULT_MODEL)
    pipeline()  # read once in the life of a server, as the models are
    pages: tuple[Lesson | Bench, ...] = (*LESSONS, *BENCHES)
    page = next(page for page in pages if page.id == name)
    text = f"{name[:1]} {text_of(DEFAULT_MODEL, 510)}"
    longest.seconds, pieces = 0.0, dict[str, float]()
    at = opened(page, mode=SENTENCE, model=DEFAULT_MODEL, text=text)
    steps = [control.options for control in at.segmented_control if control.key == "step"]
    for step in ["", *(steps[0] if steps else [])]:
        if step:
            at.segmented_control(key="step").set_value(step)
        drawn(at)
        while skips := [button for button in at.button if button.label == REVEAL]:
            skips[0].click()
            drawn(at)
        pieces[step], longest.seconds = longest.seconds, 0.0
    assert max(pieces.values()) > 0 and {step: took for step, took in pieces.items() if took > BOUND} == {}
