"""Photograph every page of the lab: light and dark, laptop and telephone, from top to bottom.

    make screenshots                                 # into .screenshots/
    python -m tests.browser.screenshots OUT          # into OUT
    python -m tests.browser.screenshots OUT --only Course Embeddings --query "text=The cat sat&layer=2"

Pages are the files in pages/, under the addresses Streamlit gives them. Whatever a page complained of
is printed, and the exit status is then 1.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from playwright.sync_api import Page
from streamlit.source_util import page_icon_and_name, page_sort_key

from benchmarks.server import HOME, Lab, running_lab
from tests.browser.harness import VIEWS, View, chromium, visit, wait_idle

# Chromium draws no taller picture.
MAX_HEIGHT = 16_000

# Streamlit scrolls inside its main column, so a "full page" is one whose window is as tall as that.
_CONTENT_HEIGHT = """() => Math.max(...['stMain', 'stSidebarContent'].map(
    name => document.querySelector(`[data-testid="${name}"]`)?.scrollHeight ?? 0))"""


def addresses(script: Path = HOME) -> dict[str, str]:
    """Name -> path of each file in the folder ``pages`` beside ``script``; the first is the home page."""
    files = sorted((script.parent / "pages").glob("*.py"), key=page_sort_key)
    names = [page_icon_and_name(file)[1] for file in files]
    return {name: f"/{name}" if number else "/" for number, name in enumerate(names)}


def full_page(page: Page, file: Path) -> None:
    """Save the whole of the page as PNG, whatever its height."""
    width = page.viewport_size["width"] if page.viewport_size else View().width
    for _ in range(2):  # a taller window can make a chart taller
        height = min(MAX_HEIGHT, max(View().height, page.evaluate(_CONTENT_HEIGHT)))
        page.set_viewport_size({"width": width, "height": height})
        wait_idle(page)
    page.screenshot(path=file, animations="disabled")


def photograph(lab: Lab, pages: dict[str, str], query: str, out: Path) -> int:
    """Save every page through every view into ``out``; print and count what they complained of."""
    total = 0
    with chromium() as browser:
        for view in VIEWS:
            with visit(browser, view) as visitor:
                for name, path in pages.items():
                    visitor.complaints.clear()
                    visitor.page.set_viewport_size({"width": view.width, "height": view.height})
                    visitor.page.goto(f"{lab.url}{path}?{query}".rstrip("?"))
                    wait_idle(visitor.page)
                    file = out / f"{name}-{view}.png"
                    full_page(visitor.page, file)
                    found = visitor.all_complaints()
                    print(file, *found, sep="\n    ", flush=True)
                    total += len(found)
    return total


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, nargs="?", default=Path(".screenshots"))
    parser.add_argument("--script", type=Path, default=HOME, help="the app's entry (default: %(default)s)")
    parser.add_argument("--only", nargs="+", metavar="PAGE", help="names of pages (default: all)")
    parser.add_argument("--query", default="", help="what stands behind the ? of each address")
    options = parser.parse_args(arguments)
    pages = addresses(options.script)
    unknown = set(options.only or ()) - set(pages)
    if unknown:
        parser.error(f"no page called {', '.join(sorted(unknown))}; there are {', '.join(pages)}")
    options.out.mkdir(parents=True, exist_ok=True)
    with running_lab(options.script) as lab:
        complaints = photograph(lab, {name: pages[name] for name in options.only or pages}, options.query, options.out)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
