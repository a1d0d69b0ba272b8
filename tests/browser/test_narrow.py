"""On a telephone nothing that a figure is about is beyond the screen or under another label."""

from __future__ import annotations

from playwright.sync_api import Page, ViewportSize

from benchmarks.server import Lab
from tests.browser.harness import wait_idle

NARROW: ViewportSize = {"width": 390, "height": 844}
_RIGHT = "nodes => Math.max(...nodes.map(node => node.getBoundingClientRect().right))"
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


def test_the_lens_shows_the_blank_without_scrolling(lab: Lab, page: Page) -> None:
    page.set_viewport_size(NARROW)
    page.goto(f"{lab.url}/Masked_language_model?step=Logit+lens")
    wait_idle(page)
    cells = page.locator(".st-key-lens-grid svg path[aria-label*='MASK']")
    assert cells.count()
    assert cells.evaluate_all(_RIGHT) <= NARROW["width"]


def test_the_labels_of_the_flow_do_not_overlap(lab: Lab, page: Page) -> None:
    page.set_viewport_size(NARROW)
    page.goto(f"{lab.url}/Flow")
    wait_idle(page)
    labels = page.locator(".sankey .node-label")
    assert labels.count()
    assert labels.evaluate_all(_OVERLAPPING) == 0
