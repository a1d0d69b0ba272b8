"""A learner at the model view: thumbnails hovered and opened, by mouse and keyboard, ordered, exported.

All but the last test have the component without a server (``stage.py``).
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlencode
from xml.etree import ElementTree

import numpy as np
import pytest
from playwright.sync_api import FloatRect, Page, expect

from benchmarks.server import Lab
from lab.analysis.heads.comparing import Thumbnails
from lab.analysis.heads.patterns import trace_patterns
from lab.benches.model_view.view import all_heads
from lab.charts.components.model_view import Frames, ModelView
from lab.evidence.notable import shipped
from lab.evidence.notable import told as jobs
from lab.models.trace import Trace
from tests.browser.harness import PHONE, VIEWS, pick, scroller, tooltip, wait_idle
from tests.browser.stage import Stage, run
from tests.charts.samples import HOSTILE, words

TEXT = "The cat sat on the mat. It slept."
LONG = " ".join(["one two three four five six seven"] * 18)  # 128 tokens with [CLS] and [SEP]
LEFT, TOP, GAP, FRAME = 44, 38, 5, 4  # pixels, as model_view.js has them


def open_view(stage: Stage, trace: Trace, opened: tuple[int, int] = (0, 0), colour: str = "") -> Page:
    view = all_heads(trace, opened, colour, corrected=False)
    return stage.show(replace(view, jobs=jobs(shipped(trace.model))))


def random_view(n: int, layers: int = 4, heads: int = 8, labels: list[str] | None = None) -> ModelView:
    """Heads without a model, and a value for each that falls along them; the last one has none."""
    block = -(-n // 42)
    m = -(-n // block)
    maps = (np.random.default_rng(0).random((layers, heads, m, m)) ** 8).astype(np.float32)
    values = 1 - np.arange(layers * heads, dtype=float).reshape(layers, heads) / (layers * heads)
    values[-1, -1] = np.nan
    frames = Frames("<i>Measure</i>", "share", values)
    return ModelView(Thumbnails(maps, block), labels or words(n), "<b>model</b>", frames=frames)


def told(page: Page) -> dict[str, str]:
    """The tooltip's pairs."""
    expect(tooltip(page)).to_be_visible()
    return dict(pair.inner_text().split("\n") for pair in tooltip(page).locator(".pair").all())


def opened(page: Page) -> FloatRect:
    """Where the thumbnail of the open head is on the canvas; it gives the size of all."""
    box, canvas = page.locator(".mark.opened").bounding_box(), page.locator(".space canvas").bounding_box()
    assert box is not None
    assert canvas is not None
    return {"x": box["x"] - canvas["x"], "y": box["y"] - canvas["y"], "width": box["width"], "height": box["height"]}


def put(
    page: Page, action: str, head: tuple[int, int], cell: tuple[int, int], cells: int, framed: bool = False
) -> None:
    """Hover or click a cell (query, key) of a head (layer, head), all from 0; ordered by layer."""
    edge = FRAME if framed else 0
    side = opened(page)["width"] - 2 * edge
    step = side + GAP + 2 * edge
    position = {
        "x": LEFT + head[1] * step + edge + (cell[1] + 0.5) * side / cells,
        "y": TOP + head[0] * step + edge + (cell[0] + 0.5) * side / cells,
    }
    page.mouse.move(1, 1)  # the first report of a pointer is no movement: it may have rested there
    getattr(page.locator(".space canvas"), action)(position=position, force=True)


def test_a_hover_says_what_the_trace_has(stage: Stage) -> None:
    trace = run(TEXT)
    attention, scores = np.asarray(trace.attention), trace_patterns(trace).previous_token.astype(np.float32)
    page = open_view(stage, trace, colour="Previous token")
    for head, cell in (((0, 0), (3, 2)), ((1, 5), (9, 0)), ((3, 7), (0, 10))):
        put(page, "hover", head, cell, len(trace), framed=True)
        expect(tooltip(page)).to_contain_text(f"Layer {head[0] + 1}, head {head[1] + 1}")
        assert told(page) == {
            "Previous token": f"{scores[head]:.4g}",
            "query": f"{trace.tokens[cell[0]]} ({cell[0] + 1})",
            "key": f"{trace.tokens[cell[1]]} ({cell[1] + 1})",
            "weight": f"{attention[(*head, *cell)]:.4f}",
        }
    page.mouse.move(1, 1)
    expect(tooltip(page)).to_be_hidden()


def test_the_keyboard_walks_over_the_heads_and_opens_one(stage: Stage) -> None:
    trace = run(TEXT, model="lab-gpt2")
    page = open_view(stage, trace)
    scroller(page).focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight"):
        scroller(page).press(key)
    expect(tooltip(page)).to_contain_text("Layer 2, head 3")
    weights = np.asarray(trace.layer(1).attention)[2]
    assert told(page)["its largest weight"] == f"{weights.max():.4f}"
    job = jobs(shipped(trace.model)).get((1, 2))
    told_of_it = "Layer 2, head 3" + (f": {re.escape(job)}; " if job else "") + f".*{weights.max():.4f}"
    expect(scroller(page)).to_have_attribute("aria-label", re.compile(told_of_it))
    scroller(page).press("End")
    expect(tooltip(page)).to_contain_text("Layer 4, head 8")
    scroller(page).press("Enter")
    assert stage.hears().startswith("4.8.")
    scroller(page).press("Escape")
    expect(tooltip(page)).to_be_hidden()
    # A causal model's future is masked.
    put(page, "hover", (0, 0), (1, 5), len(trace))
    assert told(page)["weight"] == "masked: in the future"


def test_lines_lead_from_queries_to_keys(stage: Stage) -> None:
    """The darkest pixels of a thumbnail lie on the line of its strongest weight, the query left and the key right."""
    trace = run(TEXT)
    attention, job, n = np.asarray(trace.attention), jobs(shipped(trace.model)), len(trace)
    page = open_view(stage, trace)
    page.get_by_label("As lines").check()
    side, seen, turned = opened(page)["width"], 0, 0
    for head in np.ndindex(*attention.shape[:2]):
        if head in job:  # its mark is dark, too
            continue
        strong = np.argwhere(attention[head] > attention[head].max() - 0.1)
        if any(a == b and a in (0, n - 1) for a, b in strong):  # a line along the frame
            continue
        at = {"x": LEFT + head[1] * (side + GAP), "y": TOP + head[0] * (side + GAP), "side": side}
        x, y = page.locator(".space canvas").evaluate(_DARKEST, at)
        away = [min(abs((a + 0.5 + (b - a) * x) / n - y) for a, b in pairs) for pairs in (strong, strong[:, ::-1])]
        assert away[0] < 2.5 / side, (head, strong)
        seen, turned = seen + 1, turned + (away[1] > 5 / side)
    assert seen >= 15 and turned >= 3  # so the sides are not exchanged
    # A place among lines is no pair of tokens: the tooltip names the strongest weight.
    put(page, "hover", (0, 0), (3, 2), n)
    assert told(page)["its largest weight"] == f"{attention[0, 0].max():.4f}"


# The darkest pixel of a thumbnail without its frame, from 0 to 1 on both of its sides.
_DARKEST = """(canvas, { x, y, side }) => {
  const ratio = canvas.width / canvas.clientWidth, size = Math.round((side - 6) * ratio);
  const { data } = canvas.getContext("2d").getImageData((x + 3) * ratio, (y + 3) * ratio, size, size);
  let best = 0;
  const light = (at) => data[4 * at] + data[4 * at + 1] + data[4 * at + 2] + 3 * (255 - data[4 * at + 3]);
  for (let at = 1; at < size * size; at++) if (light(at) < light(best)) best = at;
  return [(best % size) / ratio + 3, Math.floor(best / size) / ratio + 3].map((pixels) => pixels / side);
}"""


def test_hostile_tokens_are_text(stage: Stage) -> None:
    page = stage.show(random_view(14, labels=HOSTILE))
    put(page, "hover", (0, 0), (3, 4), 14, framed=True)
    found = told(page)
    assert found["query"].startswith("<img src=x onerror")
    assert found["key"] == "⟨202E⟩override (5)"
    assert found["<i>Measure</i>"] == "1"
    put(page, "hover", (3, 7), (2, 11), 14, framed=True)
    found = told(page)
    assert found["query"].startswith("</script><script>")
    assert found["key"] == "=1+1 (12)"
    assert found["<i>Measure</i>"] == "no value"
    with page.expect_download() as download:
        page.get_by_role("button", name="SVG", exact=True).click()
    tree = ElementTree.parse(download.value.path())
    kinds = [node.tag.removeprefix("{http://www.w3.org/2000/svg}") for node in tree.iter()]
    assert set(kinds) <= {"svg", "rect", "line", "text", "image"}
    assert kinds.count("image") == 32
    assert "<b>model</b>, 14 tokens" in [node.text for node in tree.iter()]
    assert page.locator(".root img, .root script, .root i").count() == 0
    with page.expect_download() as download:
        page.get_by_role("button", name="PNG", exact=True).click()
    assert Path(download.value.path()).read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("view", [PHONE], indirect=True, ids=str)
def test_highest_first_puts_heads_without_a_value_last(stage: Stage) -> None:
    page = stage.show(random_view(12, 2, 4))
    page.get_by_label("Highest value first").check()
    scroller(page).focus()
    scroller(page).press("Home")
    seen = []
    for _ in range(8):
        seen.append(told(page)["<i>Measure</i>"])
        scroller(page).press("ArrowRight")
    assert seen == ["1", "0.875", "0.75", "0.625", "0.5", "0.375", "0.25", "no value"]
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


@pytest.mark.parametrize("view", VIEWS[:2], indirect=True, ids=str)
def test_384_heads_of_128_tokens_scroll_in_their_box(stage: Stage) -> None:
    page = stage.show(random_view(128, 24, 16))
    scroller(page).focus()
    scroller(page).press("End")
    expect(tooltip(page)).to_contain_text("Layer 24, head 16")
    expect(page.locator(".mark:not(.opened)")).to_be_in_viewport()
    scroller(page).press("Enter")
    assert stage.hears().startswith("24.16.")
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def test_a_click_opens_a_head_and_sends_only_that(lab: Lab, page: Page) -> None:
    """72 thumbnails of 128 tokens are 590 kB; a click brings the opened head's numbers, not those again."""
    received: list[int] = []

    def note(frame: str | bytes) -> None:  # playwright takes no built-in function
        received.append(len(frame))

    page.on("websocket", lambda socket: socket.on("framereceived", note))
    page.goto(f"{lab.url}/Model_view?{urlencode({'text': LONG})}")
    expect(scroller(page)).to_be_visible(timeout=180_000)
    wait_idle(page)
    assert sum(received) > 590_000
    received.clear()
    put(page, "click", (2, 4), (10, 3), 64)
    wait_idle(page)
    page.wait_for_url(re.compile(r"layer=3.*head=5|head=5.*layer=3"))
    assert sum(received) < 150_000
    trace = run(LONG)
    block = np.asarray(trace.layer(2).attention)[4, 20:22, 6:8]
    q, k = divmod(int(block.argmax()), 2)
    expect(
        page.get_by_text(
            re.compile(
                rf"In the outlined cell, .*\({21 + q}\) looks at .*\({7 + k}\) with the weight {block.max():.2f}"
            )
        )
    ).to_be_visible()
    before = opened(page)
    # The selector moves the mark too, and the mark moves back with a click.
    pick(page, "Layer", "1")
    assert opened(page)["y"] < before["y"]
    put(page, "click", (2, 4), (10, 3), 64)
    wait_idle(page)
    assert opened(page) == before
    page.wait_for_url("**layer=3*")
