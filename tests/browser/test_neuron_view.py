"""The neuron view in a browser: hover and keys tell the trace's numbers, rows open, text is text, files are saved.

All but the last test have the component without a server (``stage.py``).
"""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from benchmarks.server import Lab
from lab.analysis.heads.patterns import trace_patterns
from lab.benches.neuron_view.dimensions import neurons
from lab.models.trace import LayerTrace
from lab.ui.parameters import DEFAULT_TEXT
from tests.browser.harness import BADGE, EXTREMES, wait_idle
from tests.browser.stage import Stage, run

TEXT = "The sleepish cat sat on the mat."
HOSTILE = "<img src=x onerror=alert(1)> </script> <b>bold</b> \u202egnp.exe $x$"


def open_row(stage: Stage, text: str = TEXT, model: str = "lab-minilm", query: int = 4) -> Page:
    """The row of a query, from 0, in head 5 of layer 4."""
    return stage.show(neurons(run(text, model=model), 3, 4, query))


def layer() -> LayerTrace:
    return run(TEXT).layer(3)


def keys(page: Page) -> Locator:
    return page.locator("tr.key button")


def six(number: float) -> str:
    return f"{number:z.6f}"


def expect_numbers(page: Page, key: int, dimension: int) -> None:
    """The tip tells what the trace of layer 4, head 5, query 5 has for a key and dimension (from 0)."""
    q, k, v = (tensor[4].numpy() for tensor in (layer().query, layer().key, layer().value))
    weight = layer().attention[4, 4].numpy()[key]
    tip = page.locator(".tooltip")
    expect(tip).to_contain_text(f"({key + 1}), dimension {dimension + 1}")
    d = dimension
    for number in (q[4, d], k[key, d], q[4, d] * k[key, d], v[key, d], weight * v[key, d]):
        expect(tip).to_contain_text(six(number))


@pytest.mark.parametrize("view", EXTREMES, indirect=True, ids=str)
def test_hovering_a_cell_tells_the_traces_numbers(stage: Stage) -> None:
    page = open_row(stage)
    strip = page.locator("tr.key").nth(2).locator("[data-strip=products]")
    strip.hover()  # the strips of rows out of sight are drawn when they come into it
    expect(strip.locator("canvas")).not_to_have_js_property("clientWidth", 0)
    cell = float(strip.evaluate("strip => strip.querySelector('canvas').clientWidth / 32"))
    assert cell >= 2
    strip.hover(position={"x": 7.5 * cell, "y": 8})
    expect_numbers(page, 2, 7)
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def fits_a_projector(page: Page) -> None:
    """At its width all columns are in sight."""
    page.set_viewport_size({"width": 1024, "height": 768})
    expect(page.get_by_role("columnheader", name="‖α v W_O‖")).to_be_visible()
    shown, whole = page.locator(".scroller:has(table)").evaluate("box => [box.clientWidth, box.scrollWidth]")
    assert whole <= shown


def test_numbers_in_the_rows_and_of_the_contribution_are_the_traces(stage: Stage) -> None:
    page = open_row(stage)
    seen = layer()
    rows = [row.locator("td.number").all_inner_texts() for row in page.locator("tr.key").all()]
    columns = (seen.scores, seen.scaled_scores, seen.attention, seen.head_contribution)
    for key, row in enumerate(rows):
        assert row == [f"{float(column[4, 4, key]):z.4f}" for column in columns]
    length = (seen.context[4, 4] @ seen.weights.w_o[4 * 32 : 5 * 32]).norm()
    expect(page.locator("tfoot")).to_contain_text(f"{float(length):.4f}")
    added = (seen.context[4, 4] @ seen.weights.w_o[4 * 32 : 5 * 32]).numpy()
    page.locator(".whole canvas").focus()
    page.keyboard.press("ArrowRight")
    tip = page.locator(".tooltip")
    expect(tip).to_contain_text("Contribution, dimension 2")
    assert float(tip.locator(".pair span").last.inner_text().replace("−", "-")) == pytest.approx(added[1], abs=1e-5)
    fits_a_projector(page)


def test_keys_walk_open_and_read(stage: Stage) -> None:
    page = open_row(stage)
    keys(page).first.focus()
    page.keyboard.press("ArrowDown")
    expect(keys(page).nth(1)).to_be_focused()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect_numbers(page, 1, 1)
    page.keyboard.press("Escape")
    expect(page.locator(".tooltip")).to_be_hidden()
    page.keyboard.press("Enter")
    expect(keys(page).nth(1)).to_have_attribute("aria-expanded", "true")
    expect(keys(page).nth(1)).to_be_focused()
    expect(page.locator(".term")).to_have_count(32)
    written = page.locator(".written")
    expect(written).to_contain_text(f"q · k = {float(layer().scores[4, 4, 1]):.4f}")
    expect(written).to_contain_text(f"= {float(layer().attention[4, 4, 1]):.4f} = α")
    page.keyboard.press("End")
    expect(keys(page).last).to_be_focused()
    page.keyboard.press(" ")
    expect(page.locator(".written")).to_have_count(2)
    stage.give(neurons(run(TEXT), 3, 4, 4))
    expect(page.locator(".written")).to_have_count(2)  # a rerun that changes nothing
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Collapse all").click()
    expect(page.locator(".written")).to_have_count(0)


def test_hostile_tokens_are_text_and_later_ones_are_masked(stage: Stage) -> None:
    fits_a_projector(open_row(stage, model="lab-gpt2"))
    page = open_row(stage, HOSTILE, "lab-gpt2", 3)
    table = page.locator("table").filter(has=page.locator("tr.key"))
    expect(table).to_contain_text("<")
    expect(page.locator(".root :is(img, script)")).to_have_count(0)
    assert "\u202e" not in (table.text_content() or "")
    expect(page.locator("tr.masked").first).to_contain_text("−∞")
    expect(keys(page).nth(4)).to_be_visible()
    assert page.locator("tr.key:not(.masked)").count() == 4
    keys(page).nth(4).click()
    expect(page.locator(".written")).to_contain_text("Masked")
    with page.expect_download() as download:
        page.get_by_role("button", name="SVG", exact=True).click()
    tree = ElementTree.parse(download.value.path())
    kinds = {node.tag.removeprefix("{http://www.w3.org/2000/svg}") for node in tree.iter()}
    assert kinds == {"svg", "rect", "text"}
    drawn = sum(node.tag.endswith("}rect") for node in tree.iter())
    assert drawn == 1 + 4 * 32 * page.locator("tr.key").count() + 2 * 32 + 256
    with page.expect_download() as download:
        page.get_by_role("button", name="PNG", exact=True).click()
    assert Path(download.value.path()).read_bytes().startswith(b"\x89PNG")


def test_a_walk_leads_to_its_head(lab: Lab, page: Page) -> None:
    page.goto(lab.url + "/Neuron_view?step=Three+patterns", timeout=90_000)
    expect(page.get_by_role("button", name=BADGE)).to_be_visible(timeout=90_000)  # a cold server loads a model first
    wait_idle(page)
    page.get_by_role("button", name="See its dimensions").last.click()
    expect(keys(page).first).to_be_visible()
    wait_idle(page)
    scores = trace_patterns(run(DEFAULT_TEXT)).next_token
    layer, head = (int(place) + 1 for place in np.unravel_index(int(scores.argmax()), scores.shape))
    expect(page.locator(".title")).to_have_text(f"Dimensions of layer {layer}, head {head}")
    assert f"head={head}" in page.url
