"""A learner at the head view: heads on and off, a token hovered and locked, filters, numbers, exports.

All but the last test have the component without a server (``stage.py``).
"""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from xml.etree import ElementTree

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import Locator, Page, expect

from benchmarks.server import Lab
from lab.benches.head_view.view import head_view_of
from lab.charts.components.head_view import HeadView
from tests.browser.harness import EXTREMES, pick, scroller, tooltip, wait_idle
from tests.browser.stage import Stage, run
from tests.charts.samples import HOSTILE, words
from tests.sentences import FOLLOWS
from tests.thorough import at_night

TEXT = "The sleepish cat sat on the mat."
HEADS = 12  # of the default model
ROW = 24  # pixels of a row while there is room, as head_view.js has it
LAYER = 2


def open_view(stage: Stage, **options: Any) -> Page:
    page = stage.show(head_view_of(run(TEXT), LAYER - 1, **options))
    expect(scroller(page)).to_be_visible()
    return page


def random_view(count: int, labels: list[str] | None = None, heads: int = 16, layer: int = 1) -> HeadView:
    """A layer without a model: half of the heads look at few tokens, half at many."""
    scores = np.random.default_rng(0).standard_normal((heads, count, count))
    exponentials = np.exp(scores * np.where(np.arange(heads) % 2, 3, 0.5)[:, None, None])
    attention = exponentials / exponentials.sum(-1, keepdims=True)
    return HeadView(attention, labels or words(count), [i == 0 for i in range(count)], "<b>model</b>", layer - 1)


def chip(page: Page, head: int) -> Locator:
    return page.get_by_role("button", name=f"Head {head}", exact=True)


def pressed(page: Page) -> list[int]:
    chips = page.locator(".chip").all()
    return [at for at, each in enumerate(chips, start=1) if each.get_attribute("aria-pressed") == "true"]


def at(page: Page, side: str, row: int) -> dict[str, float]:
    """Where the token in this row stands, from 0; for ``position=`` of a click or hover on the canvas."""
    width = page.locator(".space canvas").evaluate("canvas => canvas.clientWidth")
    return {"x": 4 if side == "left" else width - 4, "y": (row + 0.5) * ROW}


def put(page: Page, action: str, side: str, row: int) -> None:
    canvas = page.locator(".space canvas")
    canvas.scroll_into_view_if_needed()
    getattr(canvas, action)(position=at(page, side, row), force=True)


def numbers(page: Page) -> list[list[str]]:
    """All the edges drawn, out of the CSV file: layer, head, query, its token, key, its token, weight."""
    if not page.get_by_role("button", name="CSV", exact=True).count():
        page.get_by_role("button", name="Numbers", exact=True).click()
    rows = list(csv.reader(saved(page, "CSV").read_text("utf-8-sig").splitlines()))
    assert rows[0] == ["layer", "head", "query", "query token", "key", "key token", "weight"]
    return rows[1:]


def saved(page: Page, kind: str) -> Path:
    """The file that a button of the view makes."""
    with page.expect_download() as download:
        page.get_by_role("button", name=kind, exact=True).click()
    assert kind == "CSV" or download.value.suggested_filename == f"head-view-layer-1.{kind.lower()}"
    return Path(download.value.path())


def attention() -> NDArray[np.float32]:
    return np.asarray(run(TEXT).layer(LAYER - 1).attention)


def share(page: Page, percent: int) -> None:
    page.get_by_role("slider").fill(str(percent))
    expect(page.locator("output")).to_have_text(f"{percent} %")


def test_heads_toggle_isolate_and_are_never_none_and_the_page_hears_of_it_once(stage: Stage) -> None:
    page = open_view(stage)
    everything = list(range(1, HEADS + 1))
    assert pressed(page) == everything
    chip(page, 3).click()
    assert pressed(page) == [head for head in everything if head != 3]
    chip(page, 3).click()
    assert pressed(page) == everything
    chip(page, 5).dblclick()
    assert pressed(page) == [5]
    chip(page, 5).click()
    assert pressed(page) == [5]
    chip(page, 2).click()
    assert pressed(page) == [2, 5]
    chip(page, 2).dblclick()
    assert pressed(page) == [2]
    chip(page, 2).dblclick()
    assert pressed(page) == everything
    chip(page, 7).press("i")
    assert pressed(page) == [7]
    chip(page, 7).press("Enter")
    chip(page, 1).press("Space")
    assert pressed(page) == [1, 7]
    page.get_by_role("button", name="All", exact=True).click()
    assert pressed(page) == everything
    put(page, "hover", "left", 3)
    share(page, 50)
    page.get_by_label("Hide special tokens").check()
    assert stage.reported() == [], "a rerun for each change"
    chip(page, 4).click()
    assert stage.hears() == [".".join(str(head) for head in everything if head != 4), True, 50]


def test_the_numbers_are_the_trace_s(stage: Stage) -> None:
    """At a locked pair every head's weight, for one head the strongest of a row, and each edge of the table."""
    weights = attention()
    page = open_view(stage)
    share(page, 100)
    put(page, "click", "left", 4)
    put(page, "hover", "right", 2)
    expect(tooltip(page)).to_contain_text("cat (5) → sleep (3)")
    shown = tooltip(page).locator(".pair").all_inner_texts()
    assert [text.split() for text in shown] == [["head", str(h + 1), f"{weights[h, 4, 2]:.4f}"] for h in range(HEADS)]
    put(page, "click", "left", 4)
    chip(page, 3).dblclick()
    put(page, "hover", "right", 1)
    expect(tooltip(page)).to_contain_text("the (2) is attended to by")
    column = np.argsort(-weights[2, :, 1], kind="stable")[:8]
    shown = tooltip(page).locator(".pair").all_inner_texts()
    assert [text.split()[-1] for text in shown] == [f"{weights[2, i, 1]:.4f}" for i in column]
    page.get_by_role("button", name="All", exact=True).click()
    page.mouse.move(0, 0)
    rows = numbers(page)
    assert all(row[0] == str(LAYER) for row in rows)
    found = {(int(head) - 1, int(q) - 1, int(k) - 1): value for _, head, q, _, k, _, value in rows}
    assert len(found) == len(rows)
    drawn = {tuple(map(int, place)) for place in np.argwhere(np.rint(weights.astype(float) * 10_000) >= 1)}
    assert found.keys() == drawn
    assert all(value == f"{weights[place]:.4f}" for place, value in found.items())
    assert [row[6] for row in rows] == sorted((row[6] for row in rows), reverse=True)


@pytest.mark.parametrize("view", EXTREMES, indirect=True, ids=str)
def test_a_click_locks_and_frees(stage: Stage) -> None:
    page = open_view(stage)
    share(page, 100)
    put(page, "click", "left", 4)
    page.mouse.move(1, 1)
    expect(scroller(page)).to_have_class("scroller locked")
    rows = numbers(page)
    assert {row[2] for row in rows} == {"5"}
    put(page, "click", "right", 2)
    assert {row[4] for row in numbers(page)} == {"3"}
    put(page, "click", "right", 2)
    expect(scroller(page)).to_have_class("scroller")
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def test_the_keyboard_does_what_the_mouse_does(stage: Stage) -> None:
    weights = attention()
    page = open_view(stage)
    scroller(page).focus()
    for _ in range(5):
        scroller(page).press("ArrowDown")
    expect(tooltip(page)).to_contain_text("cat (5) attends to")
    scroller(page).press("Enter")
    expect(scroller(page)).to_have_class("scroller locked")
    for _ in range(3):
        scroller(page).press("ArrowDown")
    expect(tooltip(page)).to_contain_text("cat (5) → sleep (3)")
    expect(tooltip(page)).to_contain_text(f"{weights[0, 4, 2]:.4f}")
    expect(scroller(page)).to_have_attribute(
        "aria-label", re.compile(rf"cat \(5\) → sleep \(3\); head 1 {weights[0, 4, 2]:.4f}")
    )
    scroller(page).press("Escape")
    expect(scroller(page)).to_have_class("scroller")
    scroller(page).press("ArrowRight")
    expect(tooltip(page)).to_contain_text("cat (5) is attended to by")
    scroller(page).press("Home")
    expect(tooltip(page)).to_contain_text("[CLS] (1) is attended to by")
    scroller(page).press("Escape")
    expect(tooltip(page)).to_be_hidden()


def test_a_pair_is_filtered_by_sentence(stage: Stage) -> None:
    trace = run(*FOLLOWS[:2])
    side = {str(i + 1): "AB"[segment] for i, segment in enumerate(trace.segment_ids)}
    weights = np.asarray(trace.layer(LAYER - 1).attention)
    page = stage.show(head_view_of(trace, LAYER - 1))
    share(page, 100)
    for queries, keys in ("AA", "AB", "BA", "BB"):
        page.get_by_label("Sentences").select_option(queries + keys)
        rows = numbers(page)
        assert {side[row[2]] for row in rows} == {queries}
        assert {side[row[4]] for row in rows} == {keys}
        left = [i for i, segment in enumerate(trace.segment_ids) if "AB"[segment] == queries]
        right = [i for i, segment in enumerate(trace.segment_ids) if "AB"[segment] == keys]
        mass = weights[:, left][:, :, right].sum() / (HEADS * len(left))
        expect(page.locator(".status")).to_contain_text(f"of the attention of {len(left)} rows in {HEADS} heads")
        said = re.search(r"carry ([\d.]+) %", page.locator(".status").inner_text())
        assert said is not None
        assert abs(float(said[1]) - 100 * mass) < 0.2


def test_many_heads_open_with_their_strongest_lines_whose_share_is_told_and_one_head_with_all(stage: Stage) -> None:
    """The slider says a floor for each row; a single strong edge carries more than that."""
    page = open_view(stage)
    expect(page.get_by_label("Sentences")).to_have_count(0)  # there is no pair
    status = page.locator(".status")
    expect(page.locator("output")).to_have_text("30 %")
    expect(status).to_contain_text("cover at least 30 % of it")
    said = re.search(r"carry ([\d.]+) %", status.inner_text())
    assert said is not None and float(said[1]) >= 30
    chip(page, 3).dblclick()
    expect(page.locator("output")).to_have_text("100 %")
    chip(page, 3).dblclick()
    expect(page.locator("output")).to_have_text("30 %")
    share(page, 60)
    chip(page, 3).dblclick()
    expect(page.locator("output")).to_have_text("60 %")
    chip(page, 3).dblclick()
    share(page, 100)
    expect(status).not_to_contain_text("at least")


def test_the_strongest_edges_that_cover_the_share_are_kept_and_hidden_tokens_leave_their_mass_behind(
    stage: Stage,
) -> None:
    weights = attention()
    page = open_view(stage)
    share(page, 60)
    drawn = {(int(row[1]) - 1, int(row[2]) - 1, int(row[4]) - 1) for row in numbers(page)}
    expected, rounded = set(), np.rint(weights.astype(float) * 10_000)
    for head, query in np.ndindex(*rounded.shape[:2]):
        row = rounded[head, query]
        descending = np.sort(row)[::-1]
        enough = np.flatnonzero(descending.cumsum() * 100 >= 60 * row.sum())[0]
        expected |= {(head, query, int(key)) for key in np.flatnonzero(row >= descending[enough])}
    assert drawn == expected
    page.get_by_label("Hide special tokens").check()
    inner = weights[:, 1:-1]
    hidden = 100 * (inner[..., 0] + inner[..., -1]).sum() / (HEADS * inner.shape[1])
    expect(page.locator(".status")).to_contain_text("goes to special tokens")
    said = re.search(r"Hidden: ([\d.]+) %", page.locator(".status").inner_text())
    assert said is not None
    assert abs(float(said[1]) - hidden) < 0.1
    found = numbers(page)
    assert not {"[CLS]", "[SEP]"} & {token for row in found for token in (row[3], row[5])}
    # Hidden, not renormalised: what is left keeps its weight.
    assert all(row[6] == f"{weights[int(row[1]) - 1, int(row[2]) - 1, int(row[4]) - 1]:.4f}" for row in found)


def test_hostile_tokens_are_text(stage: Stage) -> None:
    page = stage.show(random_view(14, HOSTILE))
    for row in range(14):
        put(page, "hover", "left", row)
        expect(tooltip(page)).to_contain_text(f"({row + 1}) attends to")
    put(page, "hover", "left", 3)
    expect(tooltip(page)).to_contain_text("<img src=x onerror")
    put(page, "hover", "left", 4)
    expect(tooltip(page)).to_contain_text("⟨202E⟩override")
    rows = numbers(page)
    assert "'=1+1" in {row[3] for row in rows}
    assert page.locator(".root img, .root script").count() == 0
    tree = ElementTree.parse(saved(page, "SVG"))
    kinds = {node.tag.removeprefix("{http://www.w3.org/2000/svg}") for node in tree.iter()}
    assert kinds <= {"svg", "rect", "line", "text"}
    texts = [node.text for node in tree.iter() if node.tag.endswith("}text")]
    assert "<b>model</b>, layer 1" in texts
    assert sum(str(text).startswith("</script><script") for text in texts) == 2


@at_night
def test_png_and_svg_show_what_is_drawn_and_another_layer_keeps_what_the_reader_chose(stage: Stage) -> None:
    page = stage.show(random_view(12, heads=4))
    chip(page, 2).dblclick()
    edges = len(numbers(page))
    tree = ElementTree.parse(saved(page, "SVG"))
    assert sum(node.tag.endswith("}line") for node in tree.iter()) == edges
    picture = saved(page, "PNG").read_bytes()
    assert picture.startswith(b"\x89PNG")
    width, height = (int.from_bytes(picture[at : at + 4], "big") for at in (16, 20))
    assert height == 2 * (12 * ROW + 56)
    assert width == 2 * round(float(tree.getroot().attrib["width"]))  # two pixels a point
    # Another layer keeps what the reader chose.
    put(page, "click", "left", 4)
    share(page, 40)
    stage.give(random_view(12, heads=4, layer=2))
    expect(scroller(page)).to_have_class("scroller locked")
    assert pressed(page) == [2]
    expect(page.locator("output")).to_have_text("40 %")
    assert {(row[0], row[2]) for row in numbers(page)} == {("2", "5")}


@at_night
def test_sixteen_heads_of_512_tokens_scroll_and_fit(stage: Stage) -> None:
    page = stage.show(random_view(512))
    expect(page.locator(".status")).to_contain_text("strongest are drawn")
    scroller(page).focus()
    scroller(page).press("End")
    scroller(page).press("End")
    expect(tooltip(page)).to_contain_text("(512) attends to")
    assert scroller(page).evaluate("box => box.scrollTop + box.clientHeight >= box.scrollHeight - 20")
    page.get_by_label("Whole text at once").check()
    expect(scroller(page)).to_have_js_property("scrollTop", 0)
    assert scroller(page).evaluate("box => box.scrollHeight <= box.clientHeight + 2")


def test_what_is_drawn_goes_into_the_link_and_the_file(lab: Lab, page: Page) -> None:
    page.goto(f"{lab.url}/Head_view?{urlencode({'text': TEXT, 'layer': LAYER})}", timeout=90_000)
    expect(scroller(page)).to_be_visible(timeout=180_000)
    wait_idle(page)
    chip(page, 2).dblclick()
    chip(page, 5).click()
    hiding = page.get_by_label("Hide special tokens")
    hidden = not hiding.is_checked()
    hiding.set_checked(hidden)
    page.wait_for_url("**heads=2.5*")
    wait_idle(page)
    drawn = page.locator(".status").inner_text()
    assert pressed(page) == [2, 5]
    page.reload()
    expect(scroller(page)).to_be_visible(timeout=60_000)
    assert pressed(page) == [2, 5] and hiding.is_checked() == hidden
    assert page.locator(".status").inner_text() == drawn
    pick(page, "Layer", "3")
    assert pressed(page) == [2, 5]
    assert {row[0] for row in numbers(page)} == {"3"}
