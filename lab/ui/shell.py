"""The shell around every page: navigation, the shared sidebar, and the guard for deep links."""

from __future__ import annotations

import sys
from copy import copy
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Literal

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer
from streamlit.navigation.page import Page as StreamlitPage
from streamlit.runtime.scriptrunner import RerunException

from lab.course.pages import MENUS, Bench, ExperimentRecord, Lesson, Page, number, page_at, page_path
from lab.course.words import escaped
from lab.models.cores import begin_in_front
from lab.models.encoding import TextError
from lab.text.bundled import TextsMissing
from lab.ui import address, parameters, runs, selection, sidebar, taking, teaching
from lab.ui.drawing import forget_figures
from lab.ui.frame import strip
from lab.ui.frame.look import style
from lab.ui.guard import guard
from lab.ui.parameter_kinds import drawn
from lab.ui.quiz.done import leave_page
from lab.ui.quiz.keeping import awaits_progress, keep_in_browser
from lab.ui.room.here import code_here
from lab.ui.room.seat import keep_in_browser as keep_seat
from lab.ui.room.seat import key_of
from lab.ui.room.waiting import waits
from lab.ui.screen import forget_marks, leave_what_was_tried
from lab.ui.texts import own_texts
from lab.ui.turns import PAGES

_ROUTED = "_routed"
_WITHOUT_MODEL = ("glossary", "room")
# The first page has its own sentences, the last one reads the same, and the page of a room runs no model.
_WITHOUT_SIDEBAR = ("course", "end", "room")
guard()


def sections() -> dict[str, list[StreamlitPage]]:
    """Every page under its heading in the top menu; the first page has no heading, because its title is the name of the
    lab.

    No page gets a url_path, because the slug must stay the one in the file name.
    """
    start, *menus = MENUS.items()
    return {"": [_page(page) for page in start[1]]} | {name: [_page(page) for page in pages] for name, pages in menus}


def _page(page: Page) -> StreamlitPage:
    title = f"{number(page)} · {page.title}" if isinstance(page, Lesson) else page.title
    return st.Page(page_path(page.page), title=title, icon=page.icon, default=page.id == "course")


def run() -> None:
    """Find the page of the address, draw the shared sidebar, and run the page.

    ``Home.py`` calls this and nothing else.
    """
    begin_in_front()
    with PAGES.turn():
        _run()


def _run() -> None:
    drawn().clear()
    forget_figures()
    taking.forget()
    forget_marks()
    routed = _navigation()
    page = page_at(routed.url_path)
    selection.start(runs.model_ids())
    # Before a class, the sidebar takes a third of a projector's width, so it stays closed until somebody opens it.
    folded: Literal["collapsed", "auto"] = "collapsed" if parameters.TEACH.chosen() else "auto"
    title = " — ".join(dict.fromkeys((routed.title, "Inside BERT")))
    st.set_page_config(page_title=title, initial_sidebar_state=folded)
    st.html(style())
    teaching.larger()
    if page.id != "room" and awaits_progress():
        return
    _arrive(page)
    model = sidebar.begin_model(page.model if isinstance(page, ExperimentRecord) else "")
    if page.id not in _WITHOUT_SIDEBAR:
        opened = page if isinstance(page, Lesson | Bench) else None
        sidebar.show(opened, model, text=not isinstance(page, ExperimentRecord))
    elif page.id != "room":
        with st.sidebar:
            teaching.show()
    _script("turning")(data={"teaching": bool(parameters.TEACH.chosen())}, key="turning")
    _script("terms")(key="terms")
    _script("translation")(key="translation")
    st.session_state[_ROUTED] = True
    failed, interrupted = True, False
    try:
        _draw(page, routed)
        failed = False
    except RerunException:
        failed, interrupted = False, True
        raise
    finally:
        # The key exists only while the router runs the page, so that an earlier run cannot fool the guard.
        st.session_state.pop(_ROUTED, None)
        if not failed:  # otherwise an error of what follows could take the place of the page's own
            _finish(interrupted)
        strip.leave()


def _draw(page: Page, routed: StreamlitPage) -> None:
    """Run the page, unless the visit waits for its seat in a room; say what it misses."""
    try:
        if page.id == "room" or not waits():
            if page.id not in _WITHOUT_MODEL:
                _load_pytorch()
            routed.run()
            if page.id != "room" and key_of(code := code_here()):
                import_module("lab.ui.room.bar").show(code)
    except TextsMissing as reason:
        st.error(str(reason), icon=":material/folder_off:")
    except TextError as reason:
        # A step reads texts of its own, too, and this model may not be able to read one of them.
        st.info(escaped(str(reason)), icon=":material/info:")


def _load_pytorch() -> None:
    """Load PyTorch on a server that has just started, and say so: it takes longer than all the rest of a page."""
    if "torch" not in sys.modules:
        with st.spinner("This server has just started. It loads PyTorch …"):
            import_module("torch")


def _finish(interrupted: bool) -> None:
    """Do what comes after every page that has not failed."""
    address.keep_in_url()
    if not interrupted:  # otherwise widgets that are not drawn yet would lose their values from the link
        _complete_the_address()
    keep_in_browser()
    if code := code_here():
        keep_seat(code)


def _complete_the_address() -> None:
    missing = address.not_in_url() | ({} if parameters.TEXT.name in drawn() else own_texts())
    address.remember(missing)
    stale = address.not_on_page()
    if missing or stale:
        # The parameters that Python wrote into the URL are sent along: by then the browser has forgotten the others,
        # and the component runs again only if its data are new.
        _script("address")(data={"shown": missing, "stale": stale, "written": address.written()}, key="address")


@cache
def _script(name: str) -> ComponentRenderer:
    """Return the component that runs the script ``name`` in the browser."""
    return st.components.v2.component(f"lab.{name}", js=Path(__file__).with_name(f"{name}.js").read_text("utf-8"))


def _navigation() -> StreamlitPage:
    # The favicon is set first: without a favicon, the Material icon of a page would be fetched from the network.
    st.set_page_config(page_icon=Path(__file__).with_name("icon.png"), layout="wide")
    # Streamlit marks the page that may run, so each run needs its own copies of the pages.
    pages = {name: [copy(page) for page in pages] for name, pages in _made().items()}
    return st.navigation(pages, position="top")


@cache
def _made() -> dict[str, list[StreamlitPage]]:
    """Return the pages of :func:`sections`, made once: making them would look at the disk two dozen times per rerun."""
    return sections()


def _arrive(page: Page) -> None:
    """Begin another page at its first step, even if both have a step of this name; a link may name a later step."""
    if address.is_on_screen(page):
        leave_what_was_tried(page=False)
        return
    if address.came_back():
        st.rerun()
    address.arrive(page)
    selection.bring_along()
    leave_what_was_tried(page=True)
    leave_page()
    parameters.STEP.set(parameters.STEP.default)


def route() -> None:
    """The guard at the top of each page file.

    A folder named ``pages/`` lets Streamlit run a page without ``Home.py`` when a link goes deep
    into a server that has just started. If that happens, install the router and run the script again.
    """
    if _ROUTED not in st.session_state:
        _navigation()
        st.rerun()
