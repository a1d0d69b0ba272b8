"""Charts in a real Chromium: a click finds its cell, the page holds still, phones have room, nothing runs."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Dialog, Page, expect

from benchmarks.server import Lab
from tests.browser.harness import EXTREMES, PHONE, wait_idle
from tests.charts.samples import every_figure, words
from tests.thorough import at_night, some

# The middle of the strong outline stands where the arguments say, as shares of the cells' width and height
_OUTLINED = """([x, y]) => {
    const box = selector => document.querySelector('.stVegaLiteChart ' + selector).getBoundingClientRect();
    const outline = box("path[stroke-width='2.5']"), cells = box('g.role-frame path.background');
    return Math.abs(outline.left + outline.width / 2 - cells.left - x * cells.width) < 2
        && Math.abs(outline.top + outline.height / 2 - cells.top - y * cells.height) < 2;
}"""
_CELLS = ".stVegaLiteChart g.mark-group.role-frame path.background"


def _open(page: Page, alone: Lab, query: str) -> None:
    page.goto(f"{alone.url}/?{query}")
    wait_idle(page)
    page.locator(".stVegaLiteChart :is(svg.marks, canvas)").first.wait_for()


def _click(page: Page, size: int, q: int, k: int) -> None:
    box = page.locator(_CELLS).first.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + (k + 0.5) * box["width"] / size, box["y"] + (q + 0.5) * box["height"] / size)
    wait_idle(page)


@pytest.mark.parametrize(
    ("view", "size"),
    some([(PHONE, 40), (EXTREMES[0], 40), (PHONE, 3), (EXTREMES[0], 3)], 1),
    indirect=["view"],
    ids=str,
)
def test_a_click_finds_its_cell_and_the_legend_is_a_bar_with_numbers_below_it(
    alone: Lab, page: Page, size: int
) -> None:
    """The smallest cells and the largest."""
    _open(page, alone, f"n={size}")
    _has_its_legend(page)
    page.evaluate("document.querySelector('svg.marks').dataset.first = 'yes'")
    for q, k in ((0, 0), (size - 1, 1), (1, size - 1)):
        _click(page, size, q, k)
        expect(page.get_by_text(f"clicked ({q}, {k})", exact=True)).to_be_visible()
    assert page.evaluate("document.querySelector('svg.marks').dataset.first") == "yes", "drawn anew instead of mended"


def _has_its_legend(page: Page) -> None:
    chart = page.locator(".stVegaLiteChart").first
    whole, cells = chart.locator("svg.marks").bounding_box(), page.locator(_CELLS).first.bounding_box()
    assert whole is not None and cells is not None
    for number in ("0", "0.5", "1"):
        at = chart.locator("g.mark-text text").get_by_text(number, exact=True).last.bounding_box()
        assert at is not None
        assert at["y"] > cells["y"] + cells["height"] and at["y"] + at["height"] <= whole["y"] + whole["height"]
        assert at["x"] >= whole["x"] and at["x"] + at["width"] <= whole["x"] + whole["width"]


def test_hovering_names_both_tokens_and_the_outline_follows_the_click_and_outlives_new_numbers(
    alone: Lab, page: Page
) -> None:
    size = 6
    _open(page, alone, f"n={size}")
    box = page.locator(_CELLS).first.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 1.5 * box["width"] / 6, box["y"] + 5.5 * box["height"] / 6)
    tooltip = page.locator("#vg-tooltip-element")
    expect(tooltip).to_contain_text("6 · the")
    expect(tooltip).to_contain_text("2 · word1")
    expect(tooltip).to_contain_text(re.compile(r"0\.\d{4,6}"))
    _click(page, size, 4, 2)
    page.get_by_label("Seed").fill("7")
    page.get_by_label("Seed").press("Enter")
    wait_idle(page)
    expect(page.get_by_text("clicked (4, 2)", exact=True)).to_be_visible()
    page.wait_for_function(_OUTLINED, arg=[2.5 / size, 4.5 / size])


@at_night
def test_masked_cells_answer_no_click_and_128_tokens_are_drawn_on_a_canvas(alone: Lab, page: Page) -> None:
    _open(page, alone, "n=6&causal=1")
    _click(page, 6, 1, 4)
    expect(page.get_by_text("clicked None", exact=True)).to_be_visible()
    _open(page, alone, "n=128")
    assert page.locator(".stVegaLiteChart canvas").bounding_box() is not None


@pytest.mark.parametrize(
    ("view", "query"),
    some([(PHONE, "n=14&hostile=1"), (EXTREMES[0], "n=40"), (PHONE, "n=3"), (PHONE, "n=40")], 1),
    indirect=["view"],
    ids=str,
)
def test_every_chart_fits_the_page_and_hostile_tokens_stay_text(alone: Lab, page: Page, query: str) -> None:
    alerts: list[str] = []

    def on_dialog(dialog: Dialog) -> None:
        alerts.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", on_dialog)
    _open(page, alone, f"only=all&{query}")
    charts = page.locator(".stVegaLiteChart")
    expect(charts).to_have_count(len(every_figure(words(3))))
    for chart in charts.all():
        chart.scroll_into_view_if_needed()
        chart.locator(":is(svg.marks, canvas)").wait_for()
        chart.hover()
    overflowing = page.evaluate("""() =>
        [...document.querySelectorAll('.stVegaLiteChart :is(svg.marks, canvas), .tokens')]
        .filter(e => e.getBoundingClientRect().right > innerWidth).length""")
    assert overflowing == 0
    if "hostile" in query:
        expect(page.locator(".tokens")).to_contain_text("<img src=x onerror=alert(1)>")
    assert page.locator(".tokens :is(img, script)").count() == 0
    assert not alerts
