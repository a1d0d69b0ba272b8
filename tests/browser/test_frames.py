"""What a foreign page may frame: the file of a figure, and behind HAProxy no page of the lab."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, FrameLocator, Page, expect

from benchmarks.balancer import proxied
from benchmarks.server import Lab
from lab.charts.kept.file import About
from lab.figures.notebook import keep
from lab.models.loading import load_model
from lab.models.trace import trace
from tests.browser.harness import View, visit
from tests.figures.kept_figures import kept_figures


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


def frame(page: Page, course: tuple[Path, str], source: str) -> FrameLocator:
    """Open a page of the course that has this address in a frame."""
    folder, origin = course
    html = f'<!doctype html><link rel="icon" href="data:,"><iframe src="{source}" width="900" height="500"></iframe>'
    name = f"{len(list(folder.iterdir()))}.html"  # another one each time, for the browser's cache
    (folder / name).write_text(html, "utf-8")
    page.goto(f"{origin}/{name}")
    return page.frame_locator("iframe")


def test_a_kept_figure_is_alive_in_a_frame(page: Page, course: tuple[Path, str]) -> None:
    read = trace(load_model("lab-minilm"), "The capital of France is [MASK].")
    call = kept_figures(read)["sentence"]
    figure = call()
    (course[0] / "sentence.html").write_bytes(keep(figure, call, About("A heading"), figure.table()))
    inside = frame(page, course, "sentence.html")
    inside.locator(".token").nth(2).click()
    expect(inside.locator(".token[aria-pressed=true] .word")).to_have_text("capital")


def test_behind_the_balancer_a_foreign_page_may_frame_no_page(
    lab: Lab, browser: Browser, course: tuple[Path, str]
) -> None:
    with proxied([lab]) as door, visit(browser, View()) as visitor:
        for path in ("/", "/Room?embed=true"):
            frame(visitor.page, course, door.url + path)
            visitor.page.wait_for_function("() => document.querySelector('iframe').contentDocument === null")
            expect(visitor.page.frame_locator("iframe").get_by_test_id("stApp")).to_have_count(0)
            assert visitor.page.frames[1].url.startswith("chrome-error:")
        refused = [each for each in visitor.complaints if "frame-ancestors" not in each]
        assert not [each for each in refused if "chrome-error" not in each]
