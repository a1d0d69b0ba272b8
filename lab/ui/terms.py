"""Technical words in a page's texts: each is marked lightly where a page uses it first, and explains itself at a touch.

A term becomes a link to the glossary with its meaning as the title: a screen reader reads it, and whoever opens it in a
new tab gets the glossary. In the page, ``terms.js`` shows the title below the word, at a click, a touch or Enter.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote

import streamlit as st

from lab.course.glossary import Term, uses
from lab.course.pages import page_of
from lab.course.words import unmarked
from lab.ui.parameters import LOOK_UP, TEACH

_MARKED = "_terms_marked"
# No term is looked for in code, formulas, links, Streamlit's signs, words quoted from a text, and examples in italics.
_OTHER = re.compile(
    r"`[^`]*`|\$[^$]*\$|\[[^\]]*\]\([^)]*\)|:[\w/-]+:|:[\w-]+\[[^\]]*\]|<[^>]*>|“[^”]*”|(?<!\*)\*[^*]+\*(?!\*)"
)


def forget_marks() -> None:
    """Begin a page on which no term is marked yet."""
    st.session_state[_MARKED] = {}


def say(text: str, **given: Any) -> None:
    """Draw a text of the lab (Markdown) with its terms marked; ``given`` are arguments of ``st.markdown``."""
    st.markdown(marked(text), **given)


def marked(text: str) -> str:
    """Mark the terms that the page uses here first; a class sees the text as it is."""
    if TEACH.chosen():
        return text
    where: dict[str, str] = st.session_state.setdefault(_MARKED, {})
    others = [found.span() for found in _OTHER.finditer(text)]
    pieces, at, here = [], 0, set()
    for term, start, end in uses(text):
        # A part of the page that is drawn again keeps its marks.
        elsewhere = where.get(term.name, text) != text
        if term in here or elsewhere or any(begin < end and start < stop for begin, stop in others):
            continue
        here.add(term)
        where[term.name] = text
        pieces += [text[at:start], _link(text[start:end], term)]
        at = end
    return "".join([*pieces, text[at:]])


def _link(spelling: str, term: Term) -> str:
    meaning = unmarked(term.meaning).replace("*", "").replace('"', "”")
    return f'[{spelling}]({page_of("glossary").slug}?{LOOK_UP.name}={quote(term.name)} "{meaning}")'
