"""Kept files, opened from disk in a browser without a network: drawn, alive, light and dark, wide and narrow."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from benchmarks.server import Lab
from lab.charts.base.axes import Axis, Scale
from lab.charts.cells.heatmap import large_heatmap
from lab.charts.kept.file import About, written
from lab.figures.notebook import keep
from lab.models.loading import load_model
from lab.models.stamp import stamp
from lab.models.trace import Trace
from lab.models.trace import trace as run
from tests.browser.accessibility import violations
from tests.browser.harness import PHONE, View, wait_idle
from tests.charts.samples import HOSTILE, a_heatmap
from tests.figures.kept_figures import COMPONENTS, kept_figures
from tests.thorough import THOROUGH

TEXT = "She gave her brother the book that he [MASK]."
HOSTILE_TEXT = "the [MASK] </script><img src=x onerror=alert(1)> القطة 👩\u200d👧 \u202e sat"
NAMES = (*COMPONENTS, "chart", "radar", "sankey")
Open = Callable[..., Page]


def kept(trace: Trace, name: str, folder: Path) -> Path:
    call = kept_figures(trace)[name]
    figure, path = call(), folder / f"{name}.html"
    path.write_bytes(keep(figure, call, About("A heading", stamp=stamp([trace])), figure.table()))
    return path


@pytest.fixture(scope="module")
def trace() -> Trace:
    return run(load_model("lab-minilm"), TEXT)


@pytest.fixture
def opened(page: Page) -> Iterator[Open]:
    """``opened(path)``: the file in a browser without a network, from which nothing may be fetched."""
    asked: list[str] = []
    page.context.set_offline(True)
    page.on("request", lambda request: asked.append(request.url))

    def open_file(path: Path) -> Page:
        page.goto(path.as_uri())
        return page

    yield open_file
    assert not [each for each in asked if not each.startswith(("file:", "data:", "blob:"))]


def drawn(page: Page) -> str:
    """The selector of what every kind of figure has once it is drawn."""
    page.wait_for_function(
        """() => { const place = document.getElementById("figure"); const root = place.shadowRoot ?? place;
        const box = place.getBoundingClientRect();
        return box.height > 80 && root.querySelector("svg, canvas, table, .rows, .token") !== null; }"""
    )
    return "#figure"


# Wide and light with an ordinary text, and narrow and dark with a hostile one: by day each kind of figure in one look.
LOOKS = ((View(), TEXT), (PHONE, HOSTILE_TEXT))
ORDINARY = ("head_view", "neuron_view", "influence_tree", "chart", "sankey")
CASES = [
    (view, name, text) for name in NAMES for view, text in LOOKS if THOROUGH or (name in ORDINARY) == (text == TEXT)
]


@pytest.mark.parametrize(("view", "name", "text"), CASES, indirect=["view"], ids=str)
def test_a_file_draws_its_figure_from_disk_and_keeps_the_rules_of_accessibility(
    view: View, name: str, text: str, opened: Open, trace: Trace, tmp_path: Path
) -> None:
    read = trace if text == TEXT else run(trace.model, text)
    page = opened(kept(read, name, tmp_path))
    figure = page.locator(drawn(page))
    box = figure.bounding_box()
    assert box is not None and box["width"] <= view.width
    assert page.evaluate("document.documentElement.scrollWidth") <= view.width
    paper = page.locator("body").evaluate("e => getComputedStyle(e).backgroundColor")
    assert paper == ("rgb(255, 255, 255)" if view.scheme == "light" else "rgb(14, 17, 23)")
    page.get_by_text("The numbers as a table").click()
    expect(page.locator("table").last).to_be_visible()
    expect(page.locator("img")).to_have_count(0)
    assert not violations(page)


def test_a_click_on_a_word_shows_where_it_looks(opened: Open, trace: Trace, tmp_path: Path) -> None:
    page = opened(kept(trace, "sentence", tmp_path))
    weights = trace.layer(4).attention[10]
    expect(page.locator(".token[aria-pressed=true] .word")).to_have_text(trace.labels[5])
    page.locator(".token").nth(8).click()
    expect(page.locator(".token[aria-pressed=true] .word")).to_have_text(trace.labels[8])
    shares = page.locator(".token .share").all_text_contents()
    assert shares[4] == f"{float(weights[8, 4]):.2f}"
    expect(page.locator("#says")).to_be_empty()


def test_the_cuts_that_were_made_can_be_looked_at(opened: Open, trace: Trace, tmp_path: Path) -> None:
    page = opened(kept(trace, "word_forms", tmp_path))
    said = page.locator(".say")
    before = said.text_content()
    page.get_by_role("button", name="both ways").click()
    expect(said).not_to_have_text(before or "")
    page.get_by_role("button", name="Heal all").click()
    expect(page.get_by_role("button", name="both ways")).to_have_count(0)
    page.locator(".token", has_text="book").click()  # nobody has asked for this cut
    expect(page.locator("#says")).to_contain_text("The lab can compute this")
    expect(page.locator(".token.cut")).to_have_count(0)


def test_a_figure_says_what_only_the_lab_has(opened: Open, trace: Trace, tmp_path: Path) -> None:
    page = opened(kept(trace, "machine", tmp_path))
    page.locator(".layers button").nth(2).click()
    expect(page.locator("#figure .caption")).to_contain_text("Layer 3 of 6")
    page.get_by_role("button", name="Open it").first.click()
    expect(page.locator("#says")).to_contain_text("The lab can compute this")
    page = opened(kept(trace, "head_view", tmp_path))
    page.get_by_role("button", name="Head 3", exact=True).click()
    expect(page.get_by_role("button", name="Head 3", exact=True)).to_have_attribute("aria-pressed", "true")


def test_a_figure_is_kept_from_its_corner(lab: Lab, page: Page, tmp_path: Path) -> None:
    page.goto(f"{lab.url}/Head_view?text=%3Cb%3Ethe+cat%3C%2Fb%3E+sat")
    wait_idle(page)
    page.get_by_role("button", name="Numbers and files").click()
    wait_idle(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Keep it", exact=False).click()
    path = tmp_path / download.value.suggested_filename
    download.value.save_as(path)
    assert path.name == "head_view.html"
    page.context.set_offline(True)
    page.goto(path.as_uri())
    expect(page.get_by_role("heading", level=1)).to_have_text("Head view")
    expect(page.get_by_role("heading", name="What this means")).to_be_visible()
    expect(page.get_by_text("looks most at")).to_be_visible()
    expect(page.locator("bdi", has_text="<b>the cat</b> sat")).to_be_visible()
    expect(page.locator(".space canvas")).to_be_visible()
    back = page.get_by_role("link", name="Open this view in the lab")
    expect(back).to_have_attribute("href", re.compile(rf"^{re.escape(lab.url)}/Head_view\?.*text=%3Cb%3Ethe"))


def test_the_colours_follow_the_system(opened: Open, trace: Trace, tmp_path: Path) -> None:
    page = opened(kept(trace, "chart", tmp_path))
    drawn(page)
    page.emulate_media(color_scheme="dark")
    expect(page.locator("#figure svg.marks")).to_have_css("background-color", "rgb(14, 17, 23)")


@pytest.mark.parametrize("view", [PHONE], indirect=True, ids=str)
def test_a_long_title_leaves_the_cells_their_room_in_any_font(opened: Open, tmp_path: Path) -> None:
    axes = Axis("From (queries)", ["1 The little girl lost", "2 She looked for it"]), Axis("To (keys)", ["1", "2"])
    title = "How much each sentence looks at each sentence"
    path = tmp_path / "chart.html"
    path.write_bytes(written(large_heatmap([[0.7, 0.3], [0.4, 0.6]], axes, Scale("Share"), title=title), About()))
    page = opened(path)
    drawn(page)
    cell = page.locator("#figure svg.marks .mark-rect.role-mark path").first.bounding_box()
    assert cell is not None and cell["width"] > 60


def test_hostile_labels_of_a_chart_are_text(opened: Open, tmp_path: Path) -> None:
    path = tmp_path / "chart.html"
    path.write_bytes(written(a_heatmap(len(HOSTILE), labels=HOSTILE), About()))
    page = opened(path)
    drawn(page)
    expect(page.locator("img, script[src]")).to_have_count(0)
