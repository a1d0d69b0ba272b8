"""Record the first minute of the lab as an animated picture for the README.

python -m tests.browser.recording docs/first-minute.webp
"""

from __future__ import annotations

import argparse
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, expect

from benchmarks.server import HOME, running_lab
from lab.course.sentences.examples import FIRST
from tests.browser.harness import View, chromium, visit, wait_idle

WIDE, HIGH = 1280, 800
LAYERS = 6  # of the default model
QUALITY, LIMIT = 55, 3_000_000  # of WebP; bytes
# How long the picture rests: to read a question, to read an answer, on the way.
READ, LOOK, PASS = 2600, 3600, 700


class Recording:
    """Pictures of a page, and how many milliseconds each stays."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._frames: list[Image.Image] = []
        self._stay: list[int] = []

    def rest(self, milliseconds: int) -> None:
        """The page as it is, once it is still."""
        wait_idle(self._page)
        picture = Image.open(BytesIO(self._page.screenshot(animations="disabled")))
        self._frames.append(picture.convert("RGB"))
        self._stay.append(milliseconds)

    def scroll(self, to: int, steps: int = 6) -> None:
        """Down the page in a few steps."""
        main = self._page.get_by_test_id("stMain")
        start = main.evaluate("e => e.scrollTop")
        for step in range(1, steps + 1):
            main.evaluate("(e, y) => e.scrollTo(0, y)", start + (to - start) * step / steps)
            self.rest(120 if step < steps else LOOK)

    def save(self, file: Path) -> None:
        """As animated WebP. Raises ValueError where that is larger than a README should load."""
        first, *others = self._frames
        first.save(file, save_all=True, append_images=others, duration=self._stay, loop=0, quality=QUALITY, method=6)
        if file.stat().st_size > LIMIT:
            raise ValueError(f"{file} has {file.stat().st_size:,} bytes; {LIMIT:,} are the most.")


def first_minute(page: Page, url: str) -> Recording:
    """A guess, the word that forms layer by layer, two cuts, another sentence with its two ways, and lesson 3."""
    recording = Recording(page)
    page.goto(url)
    recording.rest(READ)
    page.get_by_text("london", exact=True).click()
    _play(page, recording)
    page.get_by_role("button", name="france: heard. Cut or heal").click()
    recording.rest(LOOK)
    page.get_by_text(FIRST[2].short, exact=True).click()
    page.get_by_role("button", name="Show me").click()
    _play(page, recording)
    page.get_by_role("button", name="dogs: heard. Cut or heal").click()
    recording.rest(LOOK)
    for way in ("around", "both ways"):
        page.locator(".ways").get_by_role("button", name=way).click()
        recording.rest(LOOK)
    recording.scroll(420, steps=3)
    page.get_by_role("link", name="Self-attention").first.click()
    wait_idle(page)
    page.locator(".st-key-step").get_by_text("Build a row", exact=True).click()
    recording.scroll(200, steps=3)
    for stage in ("2 ÷ √d", "3 Softmax", "4 × values"):
        page.get_by_role("button", name=stage).click()
        page.wait_for_timeout(1000)  # the bars move for 0.9 s
        recording.rest(PASS + 900)
    return recording


def _play(page: Page, recording: Recording) -> None:
    """The picture, layer by layer: what plays by itself would run away from the camera."""
    stage = page.locator(".stage")
    expect(page.locator(".words")).to_be_visible()
    stage.focus()
    for _ in range(LAYERS):
        page.keyboard.press("ArrowLeft")
    for layer in range(LAYERS + 1):
        page.wait_for_timeout(450)  # a link's colour takes 0.35 s
        recording.rest(PASS if layer < LAYERS else LOOK)
        page.keyboard.press("ArrowRight")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="the picture, animated WebP")
    file = parser.parse_args().file
    with running_lab(HOME) as lab, chromium() as browser, visit(browser, View("light", WIDE)) as visitor:
        visitor.page.set_viewport_size({"width": WIDE, "height": HIGH})
        first_minute(visitor.page, lab.url).save(file)


if __name__ == "__main__":
    main()
