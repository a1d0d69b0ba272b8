"""How long a learner waits: a cold server's first analysis, its proof, a changed sentence.

    python -m tests.browser.timings

Seconds of this machine, as it is busy now; read them beside each other.
"""

from __future__ import annotations

import argparse
import time

from playwright.sync_api import Page

from benchmarks.server import running_lab
from tests.browser.harness import BADGE, View, chromium, visit, wait_idle

SENTENCES = ("Birds fly south in autumn.", "An old man opened the door.", "She gave her mother the letter.")
_CHART_HOLDS = "word => [...document.querySelectorAll('.stVegaLiteChart')].some(e => e.innerHTML.includes(word))"


def first_analysis(page: Page, url: str) -> dict[str, float]:
    """Open the self-attention lesson on a server nobody has visited yet."""
    start = time.perf_counter()
    page.goto(url + "/Self-attention?step=Why+divide")
    page.locator(".stVegaLiteChart svg").first.wait_for(timeout=120_000)
    shown = time.perf_counter() - start
    page.get_by_role("button", name=BADGE).click()
    page.get_by_role("button", name="steps match Hugging Face").wait_for(timeout=120_000)
    return {"first analysis on screen": shown, "and compared, once asked for": time.perf_counter() - start}


def changed_sentence(page: Page, sentence: str) -> float:
    """Type another sentence; wait until a chart shows its second word."""
    box = page.get_by_role("textbox", name="Your sentence")
    box.fill(sentence)
    start = time.perf_counter()
    box.press("Control+Enter")
    page.wait_for_function(_CHART_HOLDS, arg=sentence.split()[1], timeout=60_000)
    waited = time.perf_counter() - start
    wait_idle(page)
    return waited


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    with running_lab() as lab, chromium() as browser, visit(browser, View()) as visitor:
        for what, seconds in first_analysis(visitor.page, lab.url).items():
            print(f"{seconds:6.2f} s  {what}")
        for sentence in SENTENCES:
            print(f"{changed_sentence(visitor.page, sentence):6.2f} s  after changing the sentence to {sentence!r}")


if __name__ == "__main__":
    main()
