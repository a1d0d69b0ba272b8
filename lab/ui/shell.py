"""The shell around every page: navigation, the shared sidebar, and the guard for deep links."""

from __future__ import annotations

from copy import copy
from functools import cache
from pathlib import Path

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer
from streamlit.navigation.page import Page as StreamlitPage
from streamlit.runtime.scriptrunner import RerunException

from lab.course.pages import MENUS, Bench, Experiment, Lesson, Page, number, page_at, script
from lab.text.bundled import TextsMissing
from lab.ui import address, memory, parameters, runs, selection, sidebar, teaching
from lab.ui.drawing import forget_figures
from lab.ui.frame import strip
from lab.ui.frame.script import forget_what_was_tried
from lab.ui.parameter_kinds import drawn
from lab.ui.quiz.keeping import keep_in_browser
from lab.ui.room.here import code_here
from lab.ui.room.seat import keep_in_browser as keep_seat
from lab.ui.room.waiting import waits
from lab.ui.turns import PAGES

_ROUTED = "_routed"
# A figure that is nothing but words is no narrower on a telephone than its words: it scrolls.
# A formula leans out of its box: its last letter would make a place to scroll that no key can reach, and its first and
# last line would be cut. Whoever has asked their system for less motion gets none. White on the dark theme's primary
# colour is too weak; below the pointer that colour is darker, and white is strong again.
_STYLE = (
    """<style>
.katex-display { padding: .5rem 3px; }
.st-key-turning, .st-key-address, .st-key-keeping, .st-key-seat { position: absolute; }
.stMainBlockContainer { padding: 4.25rem 2.5rem 3rem; }
.st-key-strip { min-height: 46px; }
[data-testid="stLayoutWrapper"]:has(> .st-key-row_of_tokens, > .st-key-row_of_tokens_arcs) {
  position: sticky; top: 3.75rem; z-index: 4; background: var(--st-background-color);
}
[data-testid="stLayoutWrapper"]:has(> .st-key-row_of_tokens_arcs) { top: calc(3.75rem - 150px); }
.st-key-page_header h1 { font-size: 1.6rem; padding: 0; }
.st-key-page_header { column-gap: 1rem; row-gap: 0; }
.st-key-page_question p { font-size: 1.05rem; opacity: .8; }
.st-key-page_header [data-testid="stPopoverButton"] { border: 0; padding: 0 .35rem; background: none; }
[class*="st-key-figure-"] { position: relative; }
[class*="st-key-figure-"] > [class*="-table"] { position: absolute; top: -6px; right: 0; z-index: 1; width: auto; }
:is([class*="-mark"], [class*="st-key-figure-"] > [class*="-table"]) [data-testid="stPopoverButton"] {
  & p { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  & div + div { display: none; }
}
.st-key-step [role="radiogroup"] { gap: 1.25rem; flex-wrap: nowrap; overflow-x: auto; scrollbar-width: none; }
.st-key-step button[role="radio"] { border: 0; border-radius: 0; background: none !important; padding: .45rem 0; }
.st-key-step button[role="radio"][aria-checked="true"] { box-shadow: inset 0 -2px var(--st-primary-color); }
.st-key-step button[role="radio"][aria-checked="true"] p { color: var(--st-text-color); font-weight: 650; }
.st-key-meaning { border-left: 4px solid var(--st-primary-color, #225fb3); padding: .25rem 0 .25rem 1rem; }
.st-key-meaning p { font-size: 1.1rem; }
[data-testid="stSidebarHeader"] { height: 2.5rem; margin-bottom: 0; }
[data-testid="stSidebarUserContent"] .stVerticalBlock { gap: 0.6rem; }
[data-testid^="stBaseButton-primary"], [data-testid^="stBaseButton-primary"] p { color: light-dark(#ffffff, #0b1220); }
[data-testid^="stBaseButton-primary"]:hover, [data-testid^="stBaseButton-primary"]:hover p { color: #ffffff; }
.st-key-page_header .stHorizontalBlock > [data-testid="stLayoutWrapper"] { flex: none; width: auto; max-width: 100%; }
@media (max-width: 640px) {
[data-testid="stLayoutWrapper"]:has(> .st-key-row_of_tokens_arcs) { top: calc(3.75rem - 110px); }
.stMainBlockContainer { padding: 4rem 1rem 3rem; }
[data-testid="stSidebarContent"] { display: flex; flex-direction: column; }
[data-testid="stSidebarNav"] { order: 2; }
.st-key-sankey { overflow-x: auto; }
.st-key-sankey .stElementContainer:has(.stPlotlyChart) { min-width: 720px; }
.st-key-page_header { gap: 0.5rem; }
[data-testid="stPageLink-NavLink"] :is(span, p) { white-space: normal; line-height: 1.4; }
"""
    + teaching.IN_ONE_LINE
    + """
.st-key-page_header .stHorizontalBlock > :is([class*="st-key-_proof"], .st-key-agreement) { order: -1; }
[class*="st-key-doors-"] .stPageLink { min-height: 2.75rem; }
}
@media (prefers-reduced-motion: reduce) {
  *, *::before, *::after { animation: none !important; transition: none !important; scroll-behavior: auto !important; }
}
</style>"""
)


memory.keep_no_uploads()


def sections() -> dict[str, list[StreamlitPage]]:
    """Every page under the word that its menu has at the top; the first page has none, it is the name of the lab.

    No url_path: the slug must stay the one of the file name.
    """
    start, *menus = MENUS.items()
    return {"": [_page(page) for page in start[1]]} | {name: [_page(page) for page in pages] for name, pages in menus}


def _page(page: Page) -> StreamlitPage:
    title = f"{number(page)} · {page.title}" if isinstance(page, Lesson) else page.title
    return st.Page(script(page.page), title=title, icon=page.icon, default=page.id == "course")


def run() -> None:
    """Route, draw the shared sidebar, run the page. ``Home.py`` calls this and nothing else."""
    with PAGES.turn():
        _run()


def _run() -> None:
    drawn().clear()
    forget_figures()
    routed = _navigation()
    page = page_at(routed.url_path)
    st.set_page_config(page_title=" — ".join(dict.fromkeys((routed.title, "Inside BERT"))))
    st.html(_STYLE)
    selection.start(runs.model_ids())
    teaching.larger()
    _arrive(page)
    if page.id not in ("course", "room"):  # the first page has its own sentences, and a room runs no model
        sidebar.show(page if isinstance(page, Lesson | Bench) else None, text=not isinstance(page, Experiment))
    elif page.id == "course":
        with st.sidebar:
            teaching.show()
    _script("turning")(data={"teaching": bool(parameters.TEACH.chosen())}, key="turning")
    st.session_state[_ROUTED] = True
    interrupted = False
    try:
        if page.id == "room" or not waits():
            routed.run()
    except TextsMissing as reason:
        st.error(str(reason), icon=":material/folder_off:")
    except RerunException:
        interrupted = True
        raise
    finally:
        # True only while the router runs the page, so that the guard cannot be fooled by an earlier run.
        del st.session_state[_ROUTED]
        address.keep_in_url()
        if not interrupted:  # the widgets that were not drawn yet would lose what the link says of them
            _complete_the_address()
        keep_in_browser()
        if code := code_here():
            keep_seat(code)
        strip.leave()


def _complete_the_address() -> None:
    missing = address.not_in_url() | ({} if parameters.TEXT.name in drawn() else sidebar.own_texts())
    stale = address.not_on_page()
    if missing or stale:
        # What Python wrote into the URL goes along: by then the browser has forgotten the rest, and the script runs
        # again only where its data are new.
        _script("address")(data={"shown": missing, "stale": stale, "written": address.written()}, key="address")


@cache
def _script(name: str) -> ComponentRenderer:
    """What only the browser can do; see the script."""
    return st.components.v2.component(f"lab.{name}", js=Path(__file__).with_name(f"{name}.js").read_text("utf-8"))


def _navigation() -> StreamlitPage:
    # The favicon comes first: without one, a page's Material icon would be fetched from the network.
    st.set_page_config(page_icon=Path(__file__).with_name("icon.png"), layout="wide")
    # Streamlit marks the page that may run, so each run has copies of its own.
    return st.navigation({name: [copy(page) for page in pages] for name, pages in _made().items()}, position="top")


@cache
def _made() -> dict[str, list[StreamlitPage]]:
    """:func:`sections`, made once: to make a page is to look at the disk, two dozen times a rerun."""
    return sections()


def _arrive(page: Page) -> None:
    """Begin another page with its first step, also where two pages name one alike; a link may ask for a later one."""
    if address.arrive(page):
        forget_what_was_tried()
        parameters.STEP.set(parameters.STEP.default)


def route() -> None:
    """Guard at the top of each page file.

    A folder named ``pages/`` lets Streamlit run a page without ``Home.py`` when a link goes deep
    into a server that has just started. Then install the router and start over.
    """
    if _ROUTED not in st.session_state:
        _navigation()
        st.rerun()
