"""What a rerun of a warm page costs the server, and what it sends to the browser: every page, every step.

The app runs whole, without a browser; what counts is the processor time of the thread that runs the page,
and the bytes of each message it hands to the network. Pictures go by address and are fetched apart.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count, cycle, islice, takewhile

from streamlit.logger import set_log_level
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.testing.v1 import AppTest, app_test
from streamlit.testing.v1.local_script_runner import LocalScriptRunner

import benchmarks.routed  # noqa: F401 (a server that has been visited before)
from benchmarks.learners import REVEAL
from benchmarks.results import table
from benchmarks.server import HOME
from lab.course.pages import BENCHES, LESSONS, Bench, Lesson
from lab.models.catalogue import DEFAULT_MODEL
from lab.ui import runs
from lab.ui.parameters import SENTENCE, TOY

MODELS = (DEFAULT_MODEL, "lab-gpt2")
LENGTHS = (32, 128, 512)
LIMIT_MS = {32: 150.0, 128: 500.0, 512: 500.0}
LIMIT_BYTES = 1_500_000
# A bench may show all weights of a layer at once, and does so in so many bytes a weight.
WEIGHT_BYTES = 4
ROUNDS = 3
WORDS = ["The", "cat", "sat", "on", "the", "mat", "because", "it", "was", "tired."]


@dataclass
class Meter:
    """What the last run of a script took, and the bytes of the largest message it sent."""

    seconds: float = 0.0
    largest: int = 0

    def message(self, message: ForwardMsg) -> None:
        self.largest = max(self.largest, message.ByteSize())


METER = Meter()


class MeteredRunner(LocalScriptRunner):
    """Streamlit's runner of an app under test, with a clock that other threads and processes do not move."""

    def _run_script_thread(self) -> None:
        start = time.thread_time()
        super()._run_script_thread()
        METER.seconds = time.thread_time() - start


@dataclass(frozen=True)
class Rerun:
    """One step of one page, run again.

    Attributes
    ----------
    ms
        The best time of the slower kind, the same selection or another layer and head: what a busy machine adds is not
        the page's.
    largest
        Bytes of the largest message.
    most
        Bytes that a message may have.
    """

    page: str
    model: str
    step: str
    tokens: int
    ms: float
    largest: int
    most: int

    @property
    def failed(self) -> bool:
        return self.ms > LIMIT_MS[self.tokens] or self.largest > self.most

    def __str__(self) -> str:
        where, broken = f"{self.page}, {self.model}", "  BROKEN" if self.failed else ""
        return f"{where:<42} {self.step:<32} {self.tokens:>6} {self.ms:>6.0f} {self.largest / 1000:>10.0f}{broken}"


HEADER = f"{'page':<42} {'step':<32} {'tokens':>6} {'ms':>6} {'largest kB':>10}"


def reruns() -> Iterator[Rerun]:
    """Every page and step, for the models that ship at each of LENGTHS, and for the toys as they are."""
    every: tuple[Lesson | Bench, ...] = (*LESSONS, *BENCHES)
    for page in every:
        for model in MODELS:
            for tokens in LENGTHS:
                at = opened(page, mode=SENTENCE, model=model, text=text_of(model, tokens))
                yield from _steps(at, page, model, tokens)
        if page.toy:
            yield from _steps(opened(page, mode=TOY), page, "toy", LENGTHS[0])


def text_of(model: str, tokens: int) -> str:
    """The longest text of whole words that the model reads as at most so many tokens, special ones included."""
    tokenizer = runs.model(model).tokenizer
    texts = (" ".join(islice(cycle(WORDS), n)) for n in count(1))
    *_, longest = takewhile(lambda text: len(tokenizer.encode(text).ids) <= tokens, texts)
    return longest


def opened(page: Lesson | Bench, **params: str) -> AppTest:
    """The lab at a page, the link's parameters in its address."""
    at = AppTest.from_file(str(HOME), default_timeout=300)
    for name, value in params.items():
        at.query_params[name] = value
    at.switch_page(page.page)
    return run_once(at)


def _steps(at: AppTest, page: Lesson | Bench, model: str, tokens: int) -> Iterator[Rerun]:
    steps = [control.options for control in at.segmented_control if control.key == "step"]
    for step in steps[0] if steps else [""]:
        if step:
            at.segmented_control(key="step").set_value(step)
        run_once(at)
        for skip in [button for button in at.button if button.label == REVEAL]:
            skip.click()
            run_once(at)
        yield _measure(at, page, model, step, tokens)


def _measure(at: AppTest, page: Lesson | Bench, model: str, step: str, tokens: int) -> Rerun:
    same, moved, largest = list[float](), list[float](), 0
    for number in range(ROUNDS):
        for times in (same, moved):
            if times is moved:
                _another_head(at, number + 1)
            run_once(at)
            times.append(1000 * METER.seconds)
            largest = max(largest, METER.largest)
    return Rerun(page.title, model, step, tokens, max(min(same), min(moved)), largest, _most(page, model, tokens))


def _most(page: Lesson | Bench, model: str, tokens: int) -> int:
    if isinstance(page, Lesson) or model not in MODELS:
        return LIMIT_BYTES
    return max(LIMIT_BYTES, WEIGHT_BYTES * runs.model(model).config.heads * tokens**2)


def _another_head(at: AppTest, number: int) -> None:
    """Layer and head ``number`` from 0, one not looked at so far where there are as many; if the page has them."""
    for box in [box for box in at.selectbox if box.key in ("layer", "head")]:
        box.set_value(1 + number % len(box.options))


def run_once(at: AppTest) -> AppTest:
    """Run the app once, metered. Raises RuntimeError if a page does."""
    METER.largest = 0
    at.run()
    if at.exception:
        raise RuntimeError(f"a page failed: {at.exception[0].message}")
    return at


def run() -> tuple[list[tuple[str, str]], bool]:
    """Print every rerun; the worst of each page is a section of RESULTS.md. Failed if one is above its bound."""
    set_log_level("ERROR")
    ForwardMsgQueue.on_before_enqueue_msg(METER.message)
    app_test.LocalScriptRunner = MeteredRunner  # type: ignore[misc]
    print(
        f"\nReruns of warm pages, {ROUNDS} with the same selection, {ROUNDS} with another layer and head each time.\n"
        "ms: the script’s thread, the best of the slower kind. kB: the largest message.\n"
    )
    print(HEADER)
    found = []
    for each in reruns():
        print(each, flush=True)
        found.append(each)
    return [
        ("Reruns of warm pages", f"A bench may send {WEIGHT_BYTES} bytes a weight of a layer.\n\n{_worst(found)}")
    ], any(each.failed for each in found)


def _worst(found: Sequence[Rerun]) -> str:
    """For each page and length the slowest rerun and the largest message, over its steps and models."""
    header = ["page", *(f"{n} tokens, ms" for n in LENGTHS), *(f"{n} tokens, largest message, kB" for n in LENGTHS)]
    rows = [["bound", *(f"{LIMIT_MS[n]:.0f}" for n in LENGTHS), *(f"{LIMIT_BYTES / 1000:.0f}" for _ in LENGTHS)]]
    for page in dict.fromkeys(each.page for each in found):
        of = {n: [each for each in found if (each.page, each.tokens) == (page, n)] for n in LENGTHS}
        slowest = [f"{max(each.ms for each in of[n]):.0f}" for n in LENGTHS]
        widest = [f"{max(each.largest for each in of[n]) / 1000:.0f}" for n in LENGTHS]
        rows.append([page, *slowest, *widest])
    return table(header, rows)
