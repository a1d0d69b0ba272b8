"""Every page for those who see little, use no mouse, or cannot bear motion.

``python -m tests.browser.accessibility`` looks at every step of them.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from benchmarks.server import Lab
from tests.browser.accessibility import SCHEMES, Scheme, violations
from tests.browser.harness import wait_idle
from tests.browser.screenshots import addresses
from tests.thorough import THOROUGH, these

# What the Tab key must reach: everything that can be pressed, filled in or turned, unless it says that it cannot.
# Each is marked until it has had the focus.
_MARK_TABBABLE = """() => {
    const able = element => element.tabIndex >= 0 && !element.disabled && element.checkVisibility()
        && element.getClientRects().length > 0 && !element.closest('[inert], [aria-hidden="true"]')
        && getComputedStyle(element).visibility === 'visible';
    const all = [...document.querySelectorAll('a[href], button, input, textarea, summary, [tabindex]')].filter(able);
    all.forEach(element => element.setAttribute('data-unreached', ''));
    const reach = element => {
        element.removeAttribute('data-unreached');
        // Inside a group the arrow keys go on.
        const group = element.closest('[role="radiogroup"], [role="toolbar"], [role="tablist"]');
        group?.querySelectorAll('[data-unreached]').forEach(each => each.removeAttribute('data-unreached'));
    };
    document.addEventListener('focusin', event => reach(event.composedPath()[0]), true);
    return all.length;
}"""
_UNREACHED = "() => [...document.querySelectorAll('[data-unreached]')].map(e => e.outerHTML.slice(0, 160))"


def unreached(page: Page) -> list[str]:
    """What the Tab key does not come to, going round once."""
    wanted = page.evaluate(_MARK_TABBABLE)
    assert wanted > 10
    for pressed in range(3 * wanted):
        page.keyboard.press("Tab")
        if pressed % 10 == 9 and not page.evaluate(_UNREACHED):
            return []
    return list(page.evaluate(_UNREACHED))


# By day the first page, a lesson and an experiment, each in one of the two schemes.
PATHS = these(addresses(), next(iter(addresses())), "Masked_language_model", "Needed_heads")
CASES = [
    (path, scheme)
    for place, path in enumerate(PATHS.values())
    for scheme in SCHEMES
    if THOROUGH or scheme == SCHEMES[place % 2]
]


@pytest.mark.parametrize(("path", "scheme"), CASES)
def test_every_page_is_for_everybody(path: str, scheme: Scheme, lab: Lab, page: Page) -> None:
    page.emulate_media(color_scheme=scheme)
    page.goto(lab.url + path)
    wait_idle(page)
    skip = page.get_by_role("button", name="Show me", exact=True)
    for _ in range(1 + bool(skip.count())):
        assert not [str(each) for each in violations(page) if each.grave]
        if skip.count():
            skip.click()
            wait_idle(page)
    assert not unreached(page)


def test_axe_finds_what_is_wrong(page: Page) -> None:
    page.set_content("<title>a</title><main><h1>A</h1><p style='color:#aaa'>grey</p><button></button></main>")
    assert {each.rule for each in violations(page) if each.grave} >= {"color-contrast", "button-name"}


def test_less_motion_is_no_motion(lab: Lab, page: Page) -> None:
    page.emulate_media(reduced_motion="reduce")
    page.goto(lab.url)
    wait_idle(page)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    moving = "[...document.querySelectorAll('*')].filter(e => getComputedStyle(e).animationName !== 'none')"
    assert page.evaluate(f"{moving}.length") == 0
    page.emulate_media(reduced_motion="no-preference")
    assert page.evaluate("getComputedStyle(document.querySelector('.stAppViewContainer button')).transitionProperty")
