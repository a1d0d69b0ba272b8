"""What the hand-written views cost: bytes and server time beside BertViz's, and the wait in a browser.

BertViz 1.4 writes 44.5 bytes for each attention weight (design §6; head and model view, measured on a model of
6 layers and 12 heads). Ours are measured on the default model, which has as many. The time is the processor's; the
forward pass is not counted.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from urllib.parse import urlencode

from benchmarks.measure import seconds
from benchmarks.pages import text_of
from benchmarks.results import table
from benchmarks.server import running_lab
from lab.analysis.flow.influence import influence_tree
from lab.analysis.flow.maps import layer_maps
from lab.benches.head_view.view import head_view_of
from lab.benches.model_view.view import all_heads
from lab.benches.neuron_view.dimensions import KEYS, neurons
from lab.charts.components.influence_tree import tree_chart
from lab.figures.word_forms import word_forms
from lab.models.catalogue import DEFAULT_MODEL
from lab.models.trace import Trace, trace
from lab.ui import runs

LENGTHS = (128, 512)
BERTVIZ_BYTES = 44.5
ROUNDS = 3
# page, what is on screen once the view can be used, what else stands in the link
VIEWS = (
    ("Head_view", ".scroller canvas", ""),
    ("Model_view", ".space canvas", ""),
    ("Neuron_view", "table", ""),
    ("Flow", '[role="treeitem"]', "&step=Influence+tree"),
)
# The picture of a word that forms, at one token: tokens, and the most milliseconds and bytes that it may take.
PICTURE = ((12, 30, 60_000), (512, 300, 60_000))
# Seconds until a warm visitor can use a view.
WAIT = {128: 1.5, 512: 4.0}


@dataclass(frozen=True)
class Sent:
    """One view: the bytes it sends, the numbers these show, the time to make them."""

    view: str
    tokens: int
    bytes: int
    numbers: int
    ms: float

    def __str__(self) -> str:
        return (
            f"{self.view:<28} {self.tokens:>6} {self.bytes / 1000:>9.0f} {self.each:>12.3f} "
            f"{BERTVIZ_BYTES / self.each:>10.0f} {self.ms:>8.1f}"
        )

    @property
    def each(self) -> float:
        """Bytes a number."""
        return self.bytes / self.numbers


def sent() -> Iterator[Sent]:
    """Each view of one text at each length."""
    for tokens in LENGTHS:
        traced = trace(runs.model(DEFAULT_MODEL), text_of(DEFAULT_MODEL, tokens))
        n, config = len(traced), traced.model.config
        for view, numbers, payload in (
            ("head view, one layer", config.heads * n * n, lambda t: head_view_of(t, 1).payload()),
            ("model view, all heads", config.layers * config.heads * n * n, lambda t: all_heads(t).payload()),
            (
                "neuron view, one query",
                min(n, KEYS) * (2 * config.head_width + 4),
                lambda t: neurons(t, 1, 0, 4).payload,
            ),
            ("influence tree, three layers", 3 * n * n, _tree),
        ):
            yield Sent(view, tokens, len(payload(traced)), numbers, _best_ms(payload, traced))


def pictures() -> Iterator[tuple[int, float, int, float, int]]:
    """Tokens, server milliseconds and bytes of the picture of one watched token, and the most of each."""
    for tokens, most_ms, most_bytes in PICTURE:
        traced = trace(runs.model(DEFAULT_MODEL), text_of(DEFAULT_MODEL, tokens))
        ms = _best_ms(lambda run: word_forms(run, 4).payload(), traced)
        yield len(traced), ms, len(word_forms(traced, 4).payload()), most_ms, most_bytes


def _tree(traced: Trace) -> bytes:
    tree = influence_tree(layer_maps(traced, None)[:3], 4, 3)
    return tree_chart(tree, traced.tokens, title="", value_title="Weight").payload


def _best_ms(payload: Callable[[Trace], bytes], traced: Trace) -> float:
    # Each a trace of its own, so that nothing is remembered: what the view shows of a layer is computed, too.
    fresh = [replace(traced) for _ in range(ROUNDS)]
    return 1000 * min(seconds(partial(payload, each)) for each in fresh)


@dataclass(frozen=True)
class Wait:
    """Seconds from a link to a view that can be used, server and browser warm."""

    page: str
    tokens: int
    seconds: float

    def __str__(self) -> str:
        late = "  above" if self.seconds > WAIT[self.tokens] else ""
        return f"{self.page:<28} {self.tokens:>6} {self.seconds:>8.2f} {WAIT[self.tokens]:>8.1f}{late}"


def waits() -> Iterator[Wait]:
    """Each view opened in Chromium again and again; the best time, as a busy machine only adds to it."""
    from playwright.sync_api import sync_playwright

    from tests.browser.chromium import LAUNCH_ARGUMENTS, chromium_path

    path = chromium_path()
    if path is None:
        raise FileNotFoundError("no Chromium here")
    with running_lab() as lab, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(LAUNCH_ARGUMENTS))
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        for tokens in LENGTHS:
            text = urlencode({"text": text_of(DEFAULT_MODEL, tokens)})
            for name, ready, more in VIEWS:
                best = math.inf
                for _ in range(ROUNDS + 1):  # the first loads the model, the libraries and the browser's cache
                    start = time.perf_counter()
                    page.goto(f"{lab.url}/{name}?{text}{more}")
                    page.locator(ready).first.wait_for(timeout=120_000)
                    best = min(best, time.perf_counter() - start)
                yield Wait(name, tokens, best)
        browser.close()


def run() -> tuple[list[tuple[str, str]], bool]:
    """Print what is sent and how long it takes; where there is no Chromium, say so. Slowness fails nothing."""
    print(f"\n{'view':<28} {'tokens':>6} {'kB':>9} {'bytes/number':>12} {'÷ BertViz':>10} {'server ms':>8}")
    views = []
    for row in sent():
        print(row, flush=True)
        views.append((row.view, row.tokens, f"{row.bytes / 1000:.0f}", f"{row.each:.3f}", f"{row.ms:.1f}"))
    header = ("view", "tokens", "kB", f"bytes a number (BertViz {BERTVIZ_BYTES})", "server from a new trace, ms")
    sections = [("What the views send", table(header, views))]
    print(f"\n{'a word forms, tokens':<28} {'server ms':>9} {'at most':>8} {'kB':>6} {'at most':>8}")
    drawn = []
    for tokens, ms, size, most_ms, most_bytes in pictures():
        above = "  above" if ms > most_ms or size > most_bytes else ""
        print(
            f"{tokens:<28} {ms:>9.1f} {most_ms:>8.0f} {size / 1000:>6.1f} {most_bytes / 1000:>8.0f}{above}", flush=True
        )
        drawn.append((tokens, f"{ms:.1f}", most_ms, f"{size / 1000:.1f}", most_bytes // 1000))
    columns = ("tokens", "server from a new trace, ms", "at most", "kB", "at most, kB")
    sections.append(("A word forms, at one token", table(columns, drawn)))
    print(f"\n{'page in Chromium':<28} {'tokens':>6} {'seconds':>8} {'target':>8}")
    opened = []
    try:
        for wait in waits():
            print(wait, flush=True)
            opened.append((wait.page, wait.tokens, f"{wait.seconds:.2f}", WAIT[wait.tokens]))
    except (ImportError, FileNotFoundError) as missing:
        print(f"not measured: {missing}. `make test` brings what it takes.")
    sections.append(("Views in Chromium, warm", table(("page", "tokens", "seconds", "target"), opened)))
    return sections, False
