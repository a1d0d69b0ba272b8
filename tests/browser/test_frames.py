"""A figure alone in a frame of a foreign page, directly and behind HAProxy; and what a foreign page may not frame."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from html import escape
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, FrameLocator, Page, expect

from benchmarks.balancer import proxied
from benchmarks.server import Lab
from tests.browser.harness import EXTREMES, View, visit

FIGURES = {
    "attention-map": ("/Self-attention?step=Where+does+it+look%3F", ".stVegaLiteChart :is(svg.marks, canvas)"),
    "sentence": ("/Self-attention?step=Build+a+row", ".token"),
    "row-built": ("/Self-attention?step=Build+a+row", ".rows .line"),
    "first-picture": ("/?", ".stage svg .link"),
    "head_view": ("/Head_view?", ".space canvas"),
    "flow-sankey": ("/Flow?", ".js-plotly-plot .sankey-link"),
}
SIZES = ((400, 300), (1180, 640))


def address(door: str, figure: str) -> str:
    return f"{door}{FIGURES[figure][0]}&alone={figure}&embed=true".replace("?&", "?")


@pytest.fixture
def course(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A folder, and the address under which another origin serves it."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield tmp_path, f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def frame(page: Page, course: tuple[Path, str], source: str, size: tuple[int, int] = SIZES[1]) -> FrameLocator:
    """Open a page of the course that has this address in a frame."""
    folder, origin = course
    sized = f'width="{size[0]}" height="{size[1]}"'
    html = f'<!doctype html><link rel="icon" href="data:,"><iframe src="{escape(source)}" {sized}></iframe>'
    name = f"{len(list(folder.iterdir()))}.html"  # another one each time, for the browser's cache
    (folder / name).write_text(html, "utf-8")
    page.goto(f"{origin}/{name}")
    return page.frame_locator("iframe")


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("figure", FIGURES)
def test_a_frame_shows_one_figure(
    figure: str, size: tuple[int, int], lab: Lab, page: Page, course: tuple[Path, str]
) -> None:
    inside = frame(page, course, address(lab.url, figure), size)
    expect(inside.locator(FIGURES[figure][1]).first).to_be_visible()
    expect(inside.get_by_test_id("stHeader")).to_be_hidden()
    for gone in ("stSidebar", "stTopNav", "stPopover", "stHeading", "stAlert", "stButton"):
        expect(inside.get_by_test_id(gone)).to_have_count(0)
    back = inside.get_by_test_id("stCaptionContainer").get_by_role("link")  # it leaves the frame
    expect(back).to_have_attribute("target", "_blank")
    assert "alone" not in (back.get_attribute("href") or "alone")
    wide = inside.locator("html").evaluate("e => [e.scrollWidth, window.innerWidth]")
    assert wide[0] <= wide[1]


def test_a_figure_in_a_frame_is_alive(lab: Lab, page: Page, course: tuple[Path, str]) -> None:
    inside = frame(page, course, address(lab.url, "sentence"))
    inside.locator(".token").nth(2).click()
    expect(inside.locator(".token[aria-pressed=true] .word")).to_have_text("capital")
    inside = frame(page, course, address(lab.url, "first-picture"))
    inside.locator(".labels .token", has_text="france").click()
    expect(inside.get_by_role("button", name="Heal all")).to_be_visible()
    expect(inside.get_by_test_id("stSidebar")).to_have_count(0)
    assert "alone=first-picture" in page.frames[1].url


@pytest.mark.parametrize("view", EXTREMES, indirect=True, ids=str)
def test_behind_the_balancer_a_figure_may_be_framed_and_a_page_may_not(
    lab: Lab, browser: Browser, view: View, course: tuple[Path, str]
) -> None:
    with proxied([lab]) as door, visit(browser, view) as visitor:
        page = visitor.page
        inside = frame(page, course, address(door.url, "attention-map"), (view.width - 40, 500))
        expect(inside.locator(FIGURES["attention-map"][1]).first).to_be_visible()
        for path in ("/", "/Room?embed=true", "/Self-attention?alone=attention-map", "/Room?teach=1"):
            frame(page, course, door.url + path)
            page.wait_for_function("() => document.querySelector('iframe').contentDocument === null")
            expect(page.frame_locator("iframe").get_by_test_id("stApp")).to_have_count(0)
            assert page.frames[1].url.startswith("chrome-error:")
        inside = frame(page, course, f"{door.url}/Room?alone=room&embed=true")
        expect(inside.get_by_text("this page has no figure")).to_be_visible()
        expect(inside.get_by_role("button")).to_have_count(0)
        refused = [each for each in visitor.complaints if "frame-ancestors" not in each]
        assert not [each for each in refused if "chrome-error" not in each]
