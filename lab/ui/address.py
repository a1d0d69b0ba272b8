"""The address of a page, which names the view on screen, so that a copied address leads to the same view."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from lab.course.pages import Lesson, Page, page_of
from lab.ui import parameters
from lab.ui.parameter_kinds import Parameter, drawn

_AT = "_page"
_UNWRITTEN = "_unwritten"  # what the page shows and Python has not written into the URL, in the run before
# The parameters that every page reads: a text by a model, or a toy's letters. The toy's own parameters, and the seed of
# the model before training, are named only in addresses where they matter.
_READ: tuple[Parameter[Any], ...] = (
    parameters.MODE,
    parameters.TEXT,
    parameters.PAIR,
    parameters.MODEL,
    parameters.TRAINING,
)
_TOY = "toy_"
# These parameters stay in the address even if a page has no widget for them; the sidebar knows which text was chosen.
_STAY = (parameters.TEXT, parameters.PAIR, parameters.MODE, parameters.MODEL)


def here() -> Page:
    """Return the page on screen."""
    return page_of(st.session_state.get(_AT, "course"))


def absolute(link: Mapping[str, str]) -> str:
    """The page on screen with the parameters of ``link``, as others can open it: by the address that this visit used.

    "" if the server does not know this address.
    """
    here = urlsplit(st.context.url or "")
    query = f"?{urlencode(link)}" if link else ""
    return f"{here.scheme}://{here.netloc}{here.path or '/'}{query}" if here.netloc else ""


def is_only_here(link: str) -> bool:
    """Return whether an address means the computer that opens it, so that nobody else can follow it here."""
    return urlsplit(link).hostname in ("localhost", "127.0.0.1", "::1")


def dropped(name: str) -> str | None:
    """Take a parameter that no page has out of the address, and return its value; None if it is not there."""
    if name not in st.query_params:
        return None
    value = st.query_params[name]
    del st.query_params[name]
    return value


def is_on_screen(page: Page) -> bool:
    """Return whether ``page`` was on screen in the run before."""
    return bool(st.session_state.get(_AT) == page.id)


def arrive(page: Page) -> None:
    """Note that ``page`` is on screen now."""
    st.session_state[_AT] = page.id


def came_back() -> bool:
    """Return whether the browser's Back or Forward led here, and bring back the address to which it led.

    Streamlit then gives every widget that the address does not name its default, and it drops the parameters of widgets
    that the page before has, too (streamlit 1.67, ``QueryParams.populate_from_query_string``). Its own way from page to
    page leaves addresses without parameters behind. So the script has to run once more, as on any other way to a page:
    then the address counts, and for the rest what was chosen last.
    """
    context = get_script_run_ctx()
    if context is None or not context.is_history_navigation:
        return False
    kept = written()
    for name, value in parse_qsl(context.query_string, keep_blank_values=True):
        if kept.get(name) != value:
            st.query_params[name] = value
    return True


def names_of(page: Page) -> set[str]:
    """Return the parameters that a link to ``page`` may have: those in the page's record, and those of every page."""
    toy = parameters.MODE.chosen() == parameters.TOY
    names = {name for name in page.parameters if toy or not name.startswith(_TOY)} | {each.name for each in _READ}
    if isinstance(page, Lesson):
        names.add(parameters.WAY.name)
    if toy:
        names |= {each.name for each in parameters.TOYS}
    elif parameters.TRAINING.chosen() == parameters.RANDOM:
        names.add(parameters.TWIN_SEED.name)
    return names


def shown() -> dict[str, str]:
    """Return the parameters of the page's widgets that differ from their default or are always named, with values."""
    on_page = drawn()
    return {
        each.name: str(value)
        for each in parameters.PARAMETERS
        if _comes_and_goes(each) and each.name in on_page and ((value := each.chosen()) != each.default or each.named)
    }


def not_in_url() -> dict[str, str]:
    """Return the part of :func:`shown` that the URL lacks, because Streamlit writes only the learner's own choices."""
    named = written()
    return {name: value for name, value in shown().items() if name not in named}


def written() -> dict[str, str]:
    """Return the parameters that the URL names, as far as Python knows the URL."""
    return st.query_params.to_dict()


def remember(unwritten: dict[str, str]) -> None:
    """Note at the end of a run which parameters of the view only the browser writes into the URL."""
    st.session_state[_UNWRITTEN] = here().id, unwritten


def link() -> str:
    """Return the whole address of the view on screen; "" if the browser has not told it."""
    if not (page := st.context.url):
        return ""
    at, unwritten = st.session_state.get(_UNWRITTEN, ("", {}))
    stale = set(not_on_page())
    named = (unwritten if at == here().id else {}) | {
        name: value for name, value in written().items() if name not in stale
    }
    return f"{page}?{urlencode(named)}".rstrip("?")


def not_on_page() -> list[str]:
    """Return the parameters that the URL names although the page has no widget for them."""
    named, on_page = written(), drawn()
    return [
        each.name
        for each in parameters.PARAMETERS
        if each.name in named and _comes_and_goes(each) and each.name not in on_page
    ]


def _comes_and_goes(parameter: Parameter[Any]) -> bool:
    """Return whether a parameter is in the address only if the page has a widget for it."""
    return parameter.kept and not parameter.written and parameter not in _STAY


def keep(parameter: Parameter[Any]) -> None:
    """Write a parameter that a component chooses into the URL, as a widget of the page would."""
    drawn().add(parameter.name)
    if (value := parameter.chosen()) == parameter.default:
        st.query_params.pop(parameter.name, None)
    else:
        st.query_params[parameter.name] = str(value)


def keep_in_url() -> None:
    """Write the parameters of the page that no widget owns into the URL, without defaults."""
    names, named = names_of(here()), written()  # looked up once, because Streamlit takes long for each look-up
    for each in parameters.PARAMETERS:
        if each.written:
            value = each.chosen()
            if value == each.default or (each.kept and each.name not in names):
                if each.name in named:
                    del st.query_params[each.name]
            elif named.get(each.name) != str(value):
                st.query_params[each.name] = str(value)
