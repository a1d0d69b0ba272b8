"""What a rerun of a warm page costs the server, and what it sends to the browser: every page, every step.

The app runs whole, without a browser; what counts is the processor time of the thread that runs the script,
and the bytes of each message it hands to the network. Pictures go by address and are fetched apart.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count, cycle, islice, takewhile
from pathlib import Path

from streamlit.logger import set_log_level
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.testing.v1 import AppTest, app_test
from streamlit.testing.v1.local_script_runner import LocalScriptRunner

from lab.course.benches import BENCHES, Bench
from lab.course.lessons import LESSONS, Lesson
from lab.ui import cached
from lab.ui.selection import SENTENCE, TOY

HOME = Path(__file__).parents[1] / "Home.py"
MODELS = ("lab-bert", "lab-gpt2")
LENGTHS = (32, 512)
LIMIT_MS = {32: 150.0, 512: 500.0}
LIMIT_BYTES = 1_500_000
ROUNDS = 3
WORDS = ["The", "cat", "sat", "on", "the", "mat", "because", "it", "was", "tired."]


@dataclass
class Meter:
    """What the last run of a script took, and the bytes of each message it sent."""

    seconds: float = 0.0
    sent: list[int] = field(default_factory=list)

    def message(self, message: ForwardMsg) -> None:
        self.sent.append(message.ByteSize())


METER = Meter()


class MeteredRunner(LocalScriptRunner):
    """Streamlit's runner of an app under test, with a clock that other threads and processes do not move."""

    def _run_script_thread(self) -> None:
        start = time.thread_time()
        super()._run_script_thread()
        METER.seconds = time.thread_time() - start


@dataclass(frozen=True)
class Rerun:
    """One step of one page, run again: the same selection, and another layer and head."""

    where: str
    step: str
    tokens: int
    same_ms: tuple[float, ...]
    moved_ms: tuple[float, ...]
    largest: int
    total: int

    @property
    def best(self) -> float:
        """The best time of the slower kind: what a busy machine adds is not the page's."""
        return max(min(self.same_ms), min(self.moved_ms))

    @property
    def failed(self) -> bool:
        return self.best > LIMIT_MS[self.tokens] or self.largest > LIMIT_BYTES

    def __str__(self) -> str:
        same, moved = statistics.median(self.same_ms), statistics.median(self.moved_ms)
        return (
            f"{self.where:<38} {self.step:<20} {self.tokens:>6} {same:>6.0f} {moved:>6.0f} {self.best:>6.0f} "
            f"{self.largest / 1000:>9.0f} {self.total / 1000:>9.0f}{'  BROKEN' if self.failed else ''}"
        )


HEADER = (
    f"{'page':<38} {'step':<20} {'tokens':>6} {'same':>6} {'moved':>6} {'best':>6} {'largest':>9} {'all':>9}\n"
    f"{'':<38} {'':<20} {'':>6} {'ms':>6} {'ms':>6} {'ms':>6} {'kB':>9} {'kB':>9}"
)


def reruns() -> Iterator[Rerun]:
    """Every page and step, for the models that ship at 32 and 512 tokens, and for the toys as they are."""
    every: tuple[Lesson | Bench, ...] = (*LESSONS, *BENCHES)
    for page in every:
        for model in MODELS:
            for tokens in LENGTHS:
                at = _open(page, mode=SENTENCE, model=model, text=text_of(model, tokens))
                yield from _steps(at, f"{page.title}, {model}", tokens)
        if page.toy:
            yield from _steps(_open(page, mode=TOY), f"{page.title}, toy", LENGTHS[0])


def text_of(model: str, tokens: int) -> str:
    """The longest text of whole words that the model reads as at most so many tokens, special ones included."""
    tokenizer = cached.model(model).tokenizer
    texts = (" ".join(islice(cycle(WORDS), n)) for n in count(1))
    *_, longest = takewhile(lambda text: len(tokenizer.encode(text).ids) <= tokens, texts)
    return longest


def _open(page: Lesson | Bench, **params: str) -> AppTest:
    at = AppTest.from_file(str(HOME), default_timeout=300)
    for name, value in params.items():
        at.query_params[name] = value
    at.switch_page(page.page)
    return _run(at)


def _steps(at: AppTest, where: str, tokens: int) -> Iterator[Rerun]:
    steps = [control.options for control in at.segmented_control if control.key == "step"]
    for step in steps[0] if steps else [""]:
        if step:
            at.segmented_control(key="step").set_value(step)
        _run(at)
        for skip in [button for button in at.button if button.label == "Skip"]:
            skip.click()
            _run(at)
        yield _measure(at, where, step, tokens)


def _measure(at: AppTest, where: str, step: str, tokens: int) -> Rerun:
    same: list[float] = []
    moved: list[float] = []
    messages: list[list[int]] = []
    for number in range(ROUNDS):
        for times, move in ((same, False), (moved, True)):
            if move:
                _another_head(at, number + 1)
            _run(at)
            times.append(1000 * METER.seconds)
            messages.append(list(METER.sent))
    largest, total = max(map(max, messages)), max(map(sum, messages))
    return Rerun(where, step, tokens, tuple(same), tuple(moved), largest, total)


def _another_head(at: AppTest, number: int) -> None:
    """Layer and head ``number`` from 0, one not looked at so far where there are as many; if the page has them."""
    for box in [box for box in at.selectbox if box.key in ("layer", "head")]:
        box.set_value(1 + number % len(box.options))


def _run(at: AppTest) -> AppTest:
    METER.sent.clear()
    at.run()
    if at.exception:
        raise RuntimeError(f"a page failed: {at.exception[0].message}")
    return at


def main() -> int:
    """Print every rerun and the worst of each kind; 1 if one of them is above its bound."""
    set_log_level("ERROR")
    ForwardMsgQueue.on_before_enqueue_msg(METER.message)
    app_test.LocalScriptRunner = MeteredRunner  # type: ignore[misc]
    print(
        f"Reruns of warm pages, {ROUNDS} with the same selection and {ROUNDS} with another layer and head each time.\n"
        "ms: the script’s thread, medians and the best of the slower kind. kB: the largest message, all of a run.\n"
    )
    print(HEADER)
    found = []
    for each in reruns():
        print(each, flush=True)
        found.append(each)
    print()
    for tokens in LENGTHS:
        slowest = max((each for each in found if each.tokens == tokens), key=lambda each: each.best)
        print(f"{slowest.best:.0f} of {LIMIT_MS[tokens]:.0f} ms at {tokens} tokens: {slowest.where}, {slowest.step}")
    widest = max(found, key=lambda each: each.largest)
    print(f"{widest.largest / 1000:.0f} of {LIMIT_BYTES / 1000:.0f} kB in a message: {widest.where}, {widest.step}")
    return 1 if any(each.failed for each in found) else 0
