"""The sentence at the top of a step: it shows what is looked at, and a click on it chooses."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from lab.charts.components.sentence import Relation
from lab.figures.sentence import Looking, sentence
from lab.models.trace import Trace
from lab.ui.components import mount
from lab.ui.parameters import KEY_TOKEN, TOKEN


def show_sentence(
    trace: Trace,
    query: int,
    key: int | None = None,
    *,
    of: Looking | None = None,
    covered: bool = False,
    relations: Sequence[Relation] = (),
) -> None:
    """Draw the row of tokens. A click on one chooses the query, Shift or a second click the key.

    All places count from 0; see :func:`lab.figures.sentence.sentence`.
    """
    row = sentence(trace, query, key, of=of, covered=covered, relations=relations)
    with st.container(key="sentence" if of is None else "sentence-arcs"):
        mount("sentence", row.payload(), "_sentence", states=["choice"], on_change=partial(_take, len(trace)))


def _take(count: int) -> None:
    """Choose what a browser reports, before the page is drawn again. Anybody may have written it."""
    match st.session_state["_sentence"].get("choice"):
        case [str(), int(query), int(key)] if 0 <= query < count and -1 <= key < count:
            TOKEN.set(query + 1)
            KEY_TOKEN.set(key + 1)
