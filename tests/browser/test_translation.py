"""A page that the browser translates: the words of the lab change, what the model reads, computes and says does not.

A translation is simulated: every text outside what is marked ``translate="no"`` becomes another one, also inside the
components, which have documents of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from benchmarks.server import Lab
from tests.browser.harness import WATCH, wait_idle
from tests.thorough import at_night

TEXT = "The dogs that chased the cat were tired. مرحبا 🙂"
TRANSLATED = "übersetzt"
# The places of a page that speak the model's language: what each shows, one text for each element.
KEPT = (
    "code, pre",
    ".katex",
    '[data-testid="stVegaLiteChart"]',
    ".tokens",
    ".root",
    ".blank-sentence, .st-key-_first_guess",
    "quoted",
)

# Gives every text of the page, also those in the components: [text, kept, where].
_EVERY_TEXT = """
function* texts(node) {
    if (node.nodeType === Node.TEXT_NODE) yield node;
    if (["SCRIPT", "STYLE"].includes(node.tagName)) return;
    for (const child of [...(node.shadowRoot?.childNodes ?? []), ...node.childNodes]) yield* texts(child);
}
const above = node => node.parentNode ?? node.host;
function kept(node) {
    for (let at = above(node); at; at = above(at)) {
        if (at.getAttribute?.("translate") === "no" || at.classList?.contains("notranslate")) return true;
    }
    return false;
}
"""
# In the texts themselves, or by elements in their place, as Chromium's own translation does it.
_TRANSLATE = f"""by_elements => {{ {_EVERY_TEXT}
    let changed = 0;
    for (const text of [...texts(document.body)]) {{
        if (kept(text) || !text.data.trim()) continue;
        changed += 1;
        if (!by_elements) text.data = "{TRANSLATED}";
        else {{
            const font = document.createElement("font");
            font.append(document.createElement("font"));
            font.firstChild.textContent = "{TRANSLATED}";
            text.replaceWith(font);
        }}
    }}
    return changed;
}}"""
_SHOWN = f"""places => {{ {_EVERY_TEXT}
    const found = Object.fromEntries(places.map(place => [place, []]));
    for (const text of texts(document.body)) {{
        found.quoted.push(...(text.data.match(/\\u2068[^\\u2069]*\\u2069/g) ?? []));
        for (const place of places) {{
            const within = place !== "quoted" && text.parentElement?.closest(place);
            if (within && text.data.trim()) found[place].push(text.data);
        }}
    }}
    return found;
}}"""


def shown(page: Page) -> dict[str, list[str]]:
    found: dict[str, list[str]] = page.evaluate(_SHOWN, list(KEPT))
    return found


def shown_at(page: Page, places: Sequence[str]) -> dict[str, list[str]]:
    """As :func:`shown`, as soon as each of ``places`` has a text: components come after Streamlit has finished."""
    page.wait_for_function(
        f"([all, places]) => {{ const found = ({_SHOWN})(all); return places.every(each => found[each].length); }}",
        arg=[KEPT, list(places)],
    )
    return shown(page)


@pytest.fixture(scope="module")
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A browser in another language, in which one may well have the page translated."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, locale="de-DE")
    context.add_init_script(WATCH)
    yield context
    context.close()


@pytest.fixture
def foreign(context: BrowserContext) -> Iterator[Page]:
    page = context.new_page()
    yield page
    page.close()


# A hand-written component is marked as a whole (shared.js); one page has one of them.
PAGES: dict[str, Sequence[str]] = {
    "Self-attention?step=Build+a+row&layer=3&head=2&token=3": (".root", "quoted"),
    "Tensors?layer=2": ("code, pre",),
    "Tokenization?step=Tokens": (".tokens",),
    "?": (".blank-sentence, .st-key-_first_guess",),
}


def test_nothing_of_the_model_changes(lab: Lab, foreign: Page) -> None:
    for address, places in PAGES.items():
        foreign.goto(f"{lab.url}/{address}&text={TEXT}")
        expect(foreign.get_by_role("heading", level=1)).to_be_visible()
        wait_idle(foreign)
        expect(foreign.locator("html")).to_have_attribute("lang", "en")
        before = shown_at(foreign, places)
        assert foreign.evaluate(_TRANSLATE, False) > 20
        assert shown(foreign) == before, address
        assert foreign.get_by_role("heading", level=1).inner_text() == TRANSLATED


@pytest.mark.parametrize("by_elements", [pytest.param(False, marks=at_night), True])
def test_what_streamlit_writes_anew_is_whole(lab: Lab, foreign: Page, by_elements: bool) -> None:
    """It does not know the elements that tokens in its sentences have, nor those of a translation."""
    faults: list[str] = []
    foreign.on("pageerror", lambda error: faults.append(str(error)))
    address = f"{lab.url}/Self-attention?step=Where+does+it+look%3F&layer=3&head=2&token=3&text={TEXT}"
    foreign.goto(address)
    wait_idle(foreign)
    before = quoting(foreign)
    choose(foreign, 5, 8)
    after = quoting(foreign)
    foreign.goto(foreign.url)  # the same view, drawn at once
    wait_idle(foreign)
    there = quoting(foreign)
    assert after == there and tokens(there) != tokens(before)
    foreign.goto(address)
    wait_idle(foreign)
    foreign.evaluate(_TRANSLATE, by_elements)
    choose(foreign, 5, 8)
    assert tokens(quoting(foreign)) == tokens(there)  # what is not written anew stays translated
    assert faults == []


def choose(page: Page, *places: int) -> None:
    for place in places:
        page.locator(".st-key-row_of_tokens_arcs .token").nth(place).click()
        wait_idle(page)


def tokens(sentences: Sequence[str]) -> list[list[str]]:
    return [re.findall("\u2068[^\u2069]*\u2069", sentence) for sentence in sentences]


def quoting(page: Page) -> list[str]:
    """The texts of the page that quote tokens, each whole."""
    found: list[str] = page.evaluate(
        '() => [...document.querySelectorAll(\'[data-testid="stMain"] [data-testid="stMarkdownContainer"]\')]'
        ".map(each => each.textContent).filter(each => each.includes('\\u2068'))"
    )
    return found
