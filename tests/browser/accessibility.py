"""axe-core on the pages of the lab: what someone who cannot see, or cannot see well, would stumble over.

    python -m tests.browser.accessibility                 # every step of every page, light and dark: ten minutes
    python -m tests.browser.accessibility --only Flow     # of these pages

Rules: https://dequeuniversity.com/rules/axe/4.12. Prints every violation; ends with status 1 if one of them is
serious or critical.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

from benchmarks.server import running_lab
from tests.browser.harness import View, chromium, visit, wait_idle
from tests.browser.screenshots import addresses

Scheme = Literal["light", "dark"]
SCHEMES: tuple[Scheme, ...] = ("light", "dark")
# A colour on its way from one theme to the next is neither's.
_SETTLED = """() => document.getAnimations().every(each =>
    each.playState === "finished" || each.effect?.getComputedTiming().endTime === Infinity)"""
_RUN = """async () => (await axe.run(document, {resultTypes: ['violations']})).violations.flatMap(
    violation => violation.nodes.map(node => [violation.impact, violation.id, node.html, node.failureSummary]))"""


@dataclass(frozen=True)
class Violation:
    """One rule that one element breaks. ``impact`` is minor, moderate, serious or critical."""

    impact: str
    rule: str
    html: str
    mend: str

    @property
    def grave(self) -> bool:
        return self.impact in ("serious", "critical")

    def __str__(self) -> str:
        return f"{self.impact} {self.rule}: {self.html[:200]}\n    {' '.join(self.mend.split())[:300]}"


def violations(page: Page) -> list[Violation]:
    """What axe finds on the page as it is now."""
    page.wait_for_function(_SETTLED)
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    return [Violation(*found) for found in page.evaluate(_RUN)]


def each_scheme(page: Page) -> Iterator[str]:
    """The page in the light and in the dark theme, drawn anew."""
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        wait_idle(page)
        yield scheme


def each_step(page: Page) -> Iterator[str]:
    """The page at each of its steps, before and past the prediction; once as it is where it has none."""
    wait_idle(page)
    steps = page.locator(".st-key-step button")
    for number in range(max(steps.count(), 1)):
        if steps.count():
            steps.nth(number).click()
            wait_idle(page)
        step = steps.nth(number).inner_text() if steps.count() else "the page"
        skip = page.get_by_role("button", name="Show me", exact=True)
        if skip.count():
            yield f"{step}, a prediction"
            skip.click()
            wait_idle(page)
        yield step


def main(arguments: list[str] | None = None) -> int:
    """Walk, print, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", metavar="PAGE", help="names of pages (default: all)")
    parser.add_argument("--query", default="", help="what stands behind the ? of each address")
    options = parser.parse_args(arguments)
    grave = 0
    with running_lab() as lab, chromium() as browser, visit(browser, View()) as visitor:
        for name, path in addresses().items():
            if options.only and name not in options.only:
                continue
            visitor.page.goto(f"{lab.url}{path}?{options.query}")
            for step in each_step(visitor.page):
                for scheme in each_scheme(visitor.page):
                    found = violations(visitor.page)
                    grave += sum(each.grave for each in found)
                    print(f"{name}, {step}, {scheme}: {len(found)}", *found, sep="\n  ", flush=True)
    return int(grave > 0)


if __name__ == "__main__":
    sys.exit(main())
