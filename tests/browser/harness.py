"""A Chromium to visit a lab server with, and the manners to wait until it has finished.

    with running_lab() as lab, chromium() as browser, visit(browser, View("dark", 390)) as visitor:
        visitor.page.goto(lab.url + "/Self-attention?layer=2")
        wait_idle(visitor.page)
    assert not visitor.complaints

Tests get all this from the fixtures in ``conftest.py``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Locator, Page, Request, sync_playwright

from tests.browser.chromium import LAUNCH_ARGUMENTS, MISSING, chromium_path

# A server that does other work, too, takes its time.
IDLE_MS = 120_000

# A widget tells the server of a change when a timer ends, and only the server's answer makes the page say "running":
# so the page's short timers are counted, and whether the last message to the server was answered. What never ends or
# is never answered (a wheel that turns, a word to nobody) is waited for at most so long.
WATCH = """(() => {
    const short = 500, set = window.setTimeout, clear = window.clearTimeout, send = WebSocket.prototype.send;
    const timers = new Map(), heard = new WeakSet();
    let asked = null;
    window.setTimeout = (act, delay = 0, ...given) => {
        const id = set((...values) => { timers.delete(id); return act(...values); }, delay, ...given);
        if (delay > 0 && delay <= short) timers.set(id, performance.now());
        return id;
    };
    window.clearTimeout = id => { timers.delete(id); clear(id); };
    WebSocket.prototype.send = function (message) {
        if (!heard.has(this)) {
            heard.add(this);
            for (const event of ['message', 'close']) this.addEventListener(event, () => { asked = null; });
        }
        asked = performance.now();
        return send.call(this, message);
    };
    window.labWaits = since => {
        const now = performance.now();
        return (timers.size > 0 && now - since < 2 * short) || (asked !== null && now - asked < 20 * short);
    };
})()"""

# A page's badge comes last, whether Hugging Face has been asked or not: where it stands, the page is drawn.
BADGE = re.compile("(steps match|Compare with) Hugging Face")

# On a deep link Streamlit looks for its server below the page's address before it looks at the root;
# Chromium reports those two answers of 404 as errors.
_PROBE = re.compile(r"/[^/]+/_stcore/(health|host-config)$")

# Finished means: connected, the script has ended, nothing on the page is left over from the run
# before, and every element's own code has arrived (a skeleton holds its place until then).
# On a busy machine there are pauses between one of these and the next, and a chart takes some frames to turn a click
# into a timer, so it has to stay so for a while, counted in time and in frames.
_IDLE = """since => {
    const app = document.querySelector('[data-testid="stApp"]');
    const idle = !window.labWaits?.(since)
        && app !== null
        && app.getAttribute('data-test-connection-state') === 'CONNECTED'
        && app.getAttribute('data-test-script-state') === 'notRunning'
        && !document.querySelector('[data-stale="true"]')
        && !document.querySelector('[data-testid="stSkeleton"], [data-testid="stAppSkeleton"]');
    if (!idle || window.labAsked !== since) {
        Object.assign(window, { labAsked: since, labFrames: 0, labSince: performance.now() });
    }
    window.labFrames += 1;
    return idle && window.labFrames > 8 && performance.now() - window.labSince > 150;
}"""


@dataclass(frozen=True)
class View:
    """What a visitor looks through. The widths of the design are 1280 (laptop) and 390 (telephone)."""

    scheme: Literal["light", "dark"] = "light"
    width: int = 1280
    height: int = 900

    def __str__(self) -> str:
        return f"{self.scheme}-{self.width}"


VIEWS = tuple(View(scheme, width) for scheme in ("light", "dark") for width in (1280, 390))
# Both schemes and both widths; no style of the lab depends on a scheme and a width at once.
PHONE = View("dark", 390)
EXTREMES = (View("light", 1280), PHONE)


@contextmanager
def chromium() -> Iterator[Browser]:
    """The system's Chromium, headless."""
    path = chromium_path()
    if path is None:
        raise FileNotFoundError(MISSING)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(LAUNCH_ARGUMENTS))
        try:
            yield browser
        finally:
            browser.close()


@dataclass(frozen=True)
class Visitor:
    """A page and everything that went wrong on it: console errors, uncaught errors, calls to elsewhere."""

    page: Page
    complaints: list[str] = field(default_factory=list)

    def all_complaints(self) -> list[str]:
        """The complaints so far and the exceptions that stand on the page now."""
        boxes = self.page.get_by_test_id("stException").all_inner_texts()
        return self.complaints + [f"on the page: {' '.join(box.split())}" for box in boxes]


@contextmanager
def visit(browser: Browser, view: View) -> Iterator[Visitor]:
    """A fresh visitor (no cookies, empty cache) with one empty page, whose troubles are written down."""
    context = _context(browser, view)
    try:
        yield _visitor(context)
    finally:
        context.close()


@dataclass(frozen=True)
class Returning:
    """Visitors one after the other who find Streamlit's scripts in the browser's cache, and nothing else there.

    A page comes up in two thirds of the time that it takes with an empty cache.
    """

    browser: Browser
    # Each context has a page that is never visited, and from which the others' traces are removed.
    spares: dict[View, Page] = field(default_factory=dict)

    @contextmanager
    def visit(self, view: View) -> Iterator[Visitor]:
        """One of them; when the visit ends, its cookies and all that its pages have kept are gone."""
        if view not in self.spares:
            self.spares[view] = _context(self.browser, view).new_page()
        spare = self.spares[view]
        context = spare.context
        origins: set[str] = set()

        def note(page: Page) -> None:
            page.on("framenavigated", lambda frame: origins.add("/".join(frame.url.split("/")[:3])))

        context.on("page", note)
        try:
            yield _visitor(context)
        finally:
            context.remove_listener("page", note)
            for page in context.pages:
                if page != spare:
                    page.close()
            context.clear_cookies()
            context.set_offline(False)
            speaks = context.new_cdp_session(spare)
            for origin in origins:
                if origin.startswith("http"):
                    speaks.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"})
            speaks.detach()


def _context(browser: Browser, view: View) -> BrowserContext:
    context = browser.new_context(
        viewport={"width": view.width, "height": view.height}, color_scheme=view.scheme, locale="en-GB"
    )
    context.add_init_script(WATCH)
    return context


def _visitor(context: BrowserContext) -> Visitor:
    visitor = Visitor(context.new_page())
    _listen(visitor.page, visitor.complaints)
    return visitor


def _listen(page: Page, complaints: list[str]) -> None:
    def on_console(message: ConsoleMessage) -> None:
        where = message.location["url"]
        if message.type == "error" and not _PROBE.search(where):
            complaints.append(f"console: {message.text} ({where})")

    def on_request(request: Request) -> None:
        address = urlsplit(request.url)
        if address.scheme.startswith("http") and address.hostname != "127.0.0.1":
            complaints.append(f"left this machine: {request.url}")

    page.on("console", on_console)
    page.on("pageerror", lambda error: complaints.append(f"uncaught: {error}"))
    page.on("request", on_request)


def go_to(page: Page, menu: str, name: str = "") -> None:
    """To a page by the menus at the top; without a ``name``, ``menu`` is the page itself."""
    bar = page.get_by_test_id("stTopNav")
    if not name:
        bar.get_by_role("link", name=menu).click()
    else:
        bar.get_by_role("button", name=menu).click()
        page.get_by_role("menuitem", name=name).click()
    wait_idle(page)


def wait_idle(page: Page, timeout_ms: int = IDLE_MS) -> None:
    """Wait until Streamlit has finished what the last action started, and has drawn it."""
    page.wait_for_function(_IDLE, arg=page.evaluate("performance.now()"), timeout=timeout_ms)


def unfold(page: Page) -> None:
    """Open what is folded in the sidebar: the second sentence, the model, its weights."""
    closed = page.get_by_test_id("stSidebar").locator("details:not([open]) summary")
    if closed.count():
        closed.first.click()
        wait_idle(page)


def pick(page: Page, box: str, option: str) -> None:
    """Choose ``option`` in the selectbox called ``box``; a page that still draws would close its list again."""
    wait_idle(page)
    found = page.get_by_role("combobox", name=box)
    if not found.count() or not found.is_visible():
        unfold(page)
    found.scroll_into_view_if_needed()
    wait_idle(page)  # scrolling closes a list that is open
    found.click()
    page.get_by_role("option", name=option, exact=True).click()
    wait_idle(page)


def scroller(page: Page) -> Locator:
    """A view that scrolls inside itself: the head view, the model view."""
    return page.locator(".scroller")


def tooltip(page: Page) -> Locator:
    """What such a view says under the pointer."""
    return page.locator(".tooltip")
