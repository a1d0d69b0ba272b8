"""The bench of flow in a browser: the tree folds by pointer and keyboard, its numbers are the trace's, text is text."""

from __future__ import annotations

import re

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from benchmarks.server import Lab
from lab.analysis.flow.influence import Reading, Tree, influence_tree
from lab.analysis.flow.maps import layer_maps
from lab.figures.flow import influence
from tests.browser.harness import BADGE, EXTREMES, PHONE, View, wait_idle
from tests.browser.stage import Stage, run
from tests.thorough import at_night

TEXT = "The sleepish cat sat on the mat."
HOSTILE = "%3Cimg+src=x+onerror=alert(1)%3E+%3C/script%3E+%3Cb%3Ebold%3C/b%3E+%E2%80%AEgnp.exe+$x$"


# Pairs of labels of one row, of different columns, that lie upon each other.
_OVERLAPPING = """nodes => {
  const boxes = nodes.map(node => node.getBoundingClientRect());
  let count = 0;
  boxes.forEach((a, i) => boxes.slice(i + 1).forEach(b => {
    const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (across > 2 && down > 6) count++;
  }));
  return count;
}"""


def open_bench(lab: Lab, page: Page, address: str) -> None:
    page.goto(lab.url + address, timeout=90_000)
    expect(page.get_by_role("button", name=BADGE)).to_be_visible(timeout=90_000)  # a cold server loads a model first
    wait_idle(page)


def open_tree(stage: Stage) -> Page:
    """The tree of "cat" by weights, three layers down."""
    return stage.show(influence(run(TEXT), Reading(), 2, 4, 3, 3))


def items(page: Page) -> Locator:
    return page.get_by_role("tree").get_by_role("treeitem")


@pytest.mark.parametrize("view", [PHONE], indirect=True, ids=str)
def test_the_tree_folds_by_click_and_tells_the_traces_numbers(stage: Stage) -> None:
    page = open_tree(stage)
    expect(items(page)).to_have_count(1 + 3 + 9 + 27)
    first = items(page).nth(1)
    first.hover()
    trace = run(TEXT)
    row = trace.layer(2).attention.mean(dim=0)[4]
    tip = page.locator(".tooltip")
    expect(tip).to_contain_text(f"{float(row.max()):.4f}")
    expect(tip).to_contain_text(f"cat (5) → {trace.tokens[int(row.argmax())]}")
    expect(tip).to_contain_text("After layer 2")
    items(page).last.hover()
    tree = influence_tree(layer_maps(trace, None)[:3], 4, 3)
    assert tree.rolled is not None
    last = max(range(len(tree)), key=lambda node: [int(each) for each in places(tree, node)])
    for name, value in (("Product along the path", tree.product), ("Rollout: all paths to here", tree.rolled)):
        shown = np.format_float_positional(float(f"{value[last]:.4g}"), trim="-")
        expect(tip).to_contain_text(re.compile(rf"{name}\W*{re.escape(shown)}"))
    first.click()
    expect(items(page)).to_have_count(1 + 3 + 9 + 27 - 3 - 9)
    expect(first).to_have_attribute("aria-expanded", "false")
    page.get_by_role("button", name="Collapse all").click()
    expect(items(page)).to_have_count(1)
    page.get_by_role("button", name="Expand all").click()
    expect(items(page)).to_have_count(1 + 3 + 9 + 27)


def places(tree: Tree, node: int) -> list[int]:
    """Which of its siblings each node on the path is: the last of all paths is drawn last."""
    return [int((tree.parent[:each] == tree.parent[each]).sum()) for each in tree.path(node)]


@at_night
def test_the_tree_opens_at_the_last_layer_and_names_its_levels(lab: Lab, page: Page) -> None:
    open_bench(lab, page, "/Flow?step=Influence+tree&token=5&text=The+sleepish+cat+sat+on+the+mat.")
    levels, last = page.locator(".levels span"), run(TEXT).model.config.layers
    expect(levels).to_have_text([f"After layer {layer}" for layer in range(last, last - 5, -1)])
    expect(items(page)).to_have_count(1 + 2 + 4 + 8 + 16)
    page.get_by_text("More controls").click()
    page.get_by_role("radio", name="One layer repeated").click()
    wait_idle(page)
    expect(levels).to_have_count(0)
    expect(page.get_by_text(f"Every level reads the same matrix, from layer {last}")).to_be_visible()


@at_night
@pytest.mark.parametrize("view", EXTREMES, indirect=True, ids=str)
def test_no_band_strikes_through_a_label(lab: Lab, page: Page, view: View) -> None:
    """Each label has a rim in the page's colour below its letters, in each theme; on a telephone none is on another."""
    open_bench(lab, page, "/Flow")
    if view == PHONE:
        labels = page.locator(".sankey .node-label")
        assert labels.count()
        assert labels.evaluate_all(_OVERLAPPING) == 0
    label = page.locator(".sankey .node-label").nth(3)
    expect(label).to_be_visible()
    paper = page.get_by_test_id("stApp").evaluate("(app) => getComputedStyle(app).backgroundColor")
    shown = label.evaluate("(text) => { const s = getComputedStyle(text); return [s.stroke, s.paintOrder, s.fill]; }")
    assert shown[0] == paper and shown[1].startswith("stroke") and shown[2] != paper
    assert float(label.evaluate("(text) => parseFloat(getComputedStyle(text).strokeWidth)")) >= 4


def test_the_tree_by_keyboard_and_a_fold_that_outlives_a_rerun(stage: Stage) -> None:
    page = open_tree(stage)
    page.get_by_role("button", name="SVG").focus()
    page.keyboard.press("Tab")  # past the buttons: the one item that takes the focus, the root
    if page.evaluate("document.activeElement.shadowRoot?.activeElement?.className") == "scroller":
        page.keyboard.press("Tab")
    expect(items(page).nth(0)).to_be_focused()
    page.keyboard.press("Enter")
    expect(items(page)).to_have_count(1)
    page.keyboard.press(" ")
    expect(items(page)).to_have_count(1 + 3 + 9 + 27)
    page.keyboard.press("ArrowDown")
    expect(items(page).nth(1)).to_be_focused()
    expect(page.locator(".tooltip")).to_contain_text("Product along the path")
    page.keyboard.press("ArrowLeft")
    expect(items(page)).to_have_count(1 + 3 + 9 + 27 - 12)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(items(page).nth(2)).to_be_focused()
    for _ in range(4):  # closes the child, goes to its parent, closes that, goes to the root
        page.keyboard.press("ArrowLeft")
    expect(items(page).nth(0)).to_be_focused()
    page.keyboard.press("End")
    expect(items(page).last).to_be_focused()
    # What is folded stays so in a rerun that changes nothing.
    expect(items(page)).to_have_count(28)
    stage.give(influence(run(TEXT), Reading(head=2), 2, 4, 3, 3))
    expect(items(page)).to_have_count(40)  # another matrix: a new tree
    items(page).nth(1).click()
    stage.give(influence(run(TEXT), Reading(head=2), 2, 4, 3, 3))
    expect(items(page)).to_have_count(28)


@at_night
def test_hostile_tokens_are_text(lab: Lab, page: Page) -> None:
    for step in ("Sankey", "Influence+tree"):
        every = "flow_heads=Mean+over+heads&flow_tokens=All+tokens&flow_threshold=0.01&tree_k=6&token=9"
        open_bench(lab, page, f"/Flow?step={step}&model=lab-gpt2&{every}&text={HOSTILE}")
        figure = page.get_by_role("tree") if step != "Sankey" else page.locator(".js-plotly-plot .sankey").first
        expect(figure).to_contain_text("<")
        expect(page.locator(".stMain img[src='x'], .stMain script")).to_have_count(0)
        assert "\u202e" not in (figure.text_content() or "")


def test_a_band_tells_its_number(lab: Lab, page: Page) -> None:
    open_bench(
        lab,
        page,
        "/Flow?flow_reading=Weights&flow_heads=Mean+over+heads&flow_tokens=All+tokens&flow_links=10&flow_threshold=0.3"
        "&text=The+sleepish+cat+sat+on+the+mat.",
    )
    page.locator(".sankey-link").first.hover(force=True)
    weights = run(TEXT).attention.mean(dim=1)
    shown = page.locator(".hoverlayer").text_content() or ""
    number = shown.rpartition(" ")[2]
    assert number in {f"{float(weight):.4f}" for weight in weights[weights >= 0.3]}
