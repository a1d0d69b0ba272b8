"""The end of a step by the script of the course: what the figure means, one change worth seeing; what to read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from lab.course.benches import Bench
from lab.course.experiments import Experiment
from lab.course.lessons import script
from lab.ui.parameter_kinds import Parameter

# Set off by a line and space, not by a box; drawn by the style sheet of the shell.
_MEANING = "meaning"
_TRIED = "_tried"  # what the last button of a suggestion changed, and what was chosen before


def meaning(text: str) -> None:
    """Say in one or two sentences what the figure above says: ``text`` is computed from the learner's numbers.

    One a step. Its claims are made by a function without a screen, so that a test can compute them again.
    """
    with st.container(key=_MEANING):
        st.markdown(f"**What this means.** {text}")


def try_this(why: str, label: str, changes: Mapping[Parameter[Any], Any]) -> None:
    """Offer one change that is worth seeing: ``why`` says what to look for, the button ``label`` makes ``changes``.

    One a step. Where everything is set already as the button would set it, nothing is left to try, and nothing is
    drawn. :func:`undo_try` offers the way back.
    """
    if all(parameter.chosen() == value for parameter, value in changes.items()):
        return
    with st.container(key="try_this", horizontal=True, vertical_alignment="center"):
        st.markdown(f"*Try:* {why}", width="content")
        st.button(label, key="_try", icon=":material/touch_app:", on_click=_take, args=(changes,))


def _take(changes: Mapping[Parameter[Any], Any]) -> None:
    before = {parameter: st.session_state.get(parameter.name, parameter.default) for parameter in changes}
    for parameter, value in changes.items():
        parameter.set(value)
    st.session_state[_TRIED] = dict(changes), before


def undo_try() -> None:
    """Offer to take back the last change that was tried, as long as all of it is still chosen.

    The browser's Back cannot: Streamlit makes no entry in its history for a parameter that a widget writes.
    """
    tried, before = st.session_state.get(_TRIED, ({}, {}))
    if tried and all(parameter.chosen() == value for parameter, value in tried.items()):
        st.button("Undo the try", key="_undo_try", icon=":material/undo:", on_click=_take_back, args=(before,))


def _take_back(before: Mapping[Parameter[Any], Any]) -> None:
    st.session_state.pop(_TRIED, None)
    for parameter, value in before.items():
        parameter.set(value)


def way_to(kind: str, there: Bench | Experiment) -> None:
    """A link to a bench or an experiment; ``kind`` says what it is."""
    st.page_link(script(there.page), label=f"{kind} {there.title}: {there.question}", icon=there.icon)


def papers(reading: Sequence[str]) -> None:
    """What to read, folded."""
    with st.expander("Papers", icon=":material/menu_book:"):
        st.markdown("\n".join(f"- {paper}" for paper in reading))
