"""The head that is looked at while the learner has chosen none: found for the run on screen, by what its rows do."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import streamlit as st

from lab.models.catalogue import twin_of
from lab.ui.parameters import HEAD, LAYER

if TYPE_CHECKING:
    from lab.models.trace import Trace

# Finds a layer and a head of a run, from 0.
FirstHead = Callable[["Trace"], tuple[int, int]]
_BEGUN = "_first_head"


def begin(trace: Trace, first: FirstHead) -> tuple[int, int]:
    """What ``first`` finds in ``trace``; it is chosen while the learner has chosen neither layer nor head.

    What the lab chose gives way in another model, and on a page that looks for another kind of head. It stays when the
    sentence becomes another, so that the learner sees what the same head does with it.
    """
    found = first(trace)
    of = twin_of(trace.model.id)
    asked = (trace.model.id if of is None else of[0], first)
    shown = tuple(st.session_state.get(each.name) for each in (LAYER, HEAD))
    asked_before, ours = st.session_state.get(_BEGUN, (None, (None, None)))
    if shown == ours and asked != asked_before:
        LAYER.set(found[0] + 1)
        HEAD.set(found[1] + 1)
        st.session_state[_BEGUN] = (asked, (found[0] + 1, found[1] + 1))
    return found
