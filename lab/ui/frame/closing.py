"""The end of a step, as the course prescribes it: the figure's meaning, a change worth seeing, and the reading list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from lab.course.pages import Bench, ExperimentRecord, page_path
from lab.ui.parameter_kinds import Parameter
from lab.ui.parameters import KEY_TOKEN, STEP, TEXT, TOKEN
from lab.ui.taking import tell
from lab.ui.terms import say

# The shell's style sheet separates the meaning from the figure by a line and space, not by a box.
_MEANING = "meaning"
_TRIED = "_tried"


def meaning(text: str) -> None:
    """Say in one or two sentences what the figure above shows: ``text`` is computed from the learner's numbers.

    A step calls this function only once. The claims in ``text`` come from a function that draws nothing, so that a test
    can compute them again.
    """
    tell(text)
    with st.container(key=_MEANING):
        say(f"**What this means.** {text}")


def say_more(text: str) -> None:
    """Say what else the figure above shows, on the page and in the figure's file."""
    tell(text)
    say(text)


def caption(text: str) -> None:
    """Say something small about the figure above, such as its limit, on the page and in the figure's file."""
    tell(text)
    st.caption(text)


def try_this(why: str, label: str, changes: Mapping[Parameter[Any], Any], *, leaves: bool = False) -> None:
    """Offer one change that is worth seeing: ``why`` says what to look for; the button ``label`` makes the ``changes``.

    A step makes only one such offer. If all parameters have the button's values already, nothing is drawn. The change
    can be taken back, by :func:`offer_back` and by the browser's Back. Another sentence is for this step only, and
    so is any change if it ``leaves``: the next step has the learner's again (:func:`leave_what_was_tried`).
    """
    if all(parameter.chosen() == value for parameter, value in changes.items()):
        return
    with st.container(key="try_this", horizontal=True, vertical_alignment="center"):
        st.markdown(f"*Try:* {why}", width="content")
        st.button(label, key="_try", icon=":material/touch_app:", on_click=_take, args=(changes, leaves))


def _take(changes: Mapping[Parameter[Any], Any], leaves: bool) -> None:
    places = (TOKEN, KEY_TOKEN) if TEXT in changes else ()  # those of a sentence come back with it
    before = {parameter: parameter.chosen() for parameter in (*changes, *places)}
    _set(changes)
    st.session_state[_TRIED] = _Tried(dict(changes), before, STEP.chosen(), leaves=leaves or TEXT in changes)


def _set(changes: Mapping[Parameter[Any], Any]) -> None:
    if TOKEN in changes or KEY_TOKEN in changes:
        from lab.ui.chosen_tokens import forget  # it needs PyTorch, and the frame is drawn before PyTorch is loaded

        forget()  # these are places in the sentence that comes, and no words of the one before
    for parameter, value in changes.items():
        parameter.set(value)


@dataclass(frozen=True)
class _Tried:
    """The choices that a click changed, the choices before it, and the step that shows the change.

    ``leaves``: the change is for this step only.
    """

    changes: Mapping[Parameter[Any], Any]
    before: Mapping[Parameter[Any], Any]
    step: str
    leaves: bool

    def on_screen(self) -> bool:
        """Return whether nobody has changed the choices since."""
        return all(parameter.chosen() == value for parameter, value in self.changes.items())


def tries_a_text() -> bool:
    """Return whether the text on screen is one that a step has offered, and not the learner's."""
    tried = st.session_state.get(_TRIED)
    return isinstance(tried, _Tried) and TEXT in tried.changes and tried.on_screen()


def offer_back() -> None:
    """Draw the way back from the last "Try" on its step, while the page still shows its change.

    Call this function above the buttons of the steps.
    """
    tried = st.session_state.get(_TRIED)
    if not isinstance(tried, _Tried):
        return
    if not tried.on_screen():
        del st.session_state[_TRIED]
        return
    if STEP.chosen() == tried.step:
        st.button("Back to what you had", key="_try_back", icon=":material/undo:", type="tertiary", on_click=_take_back)


def _take_back() -> None:
    tried = st.session_state.pop(_TRIED, None)  # the browser's Back may have undone the change already
    if isinstance(tried, _Tried):
        _set(tried.before)


def leave_what_was_tried(*, page: bool) -> None:
    """Take back what was only for its step, if another step begins or, with ``page``, another page.

    So the learner's own sentence and head, or those of the course, go on. Other changes stay; on another page they are
    no longer taken back. Call this function before the first widget is drawn.
    """
    tried = st.session_state.get(_TRIED)
    if not isinstance(tried, _Tried) or not (page or STEP.chosen() != tried.step):
        return
    if page or tried.leaves:
        del st.session_state[_TRIED]
    if tried.leaves and tried.on_screen():
        _set({parameter: value for parameter, value in tried.before.items() if parameter is not STEP})


def way_to(kind: str, there: Bench | ExperimentRecord) -> None:
    """Draw a link to a bench or an experiment; ``kind`` says which of the two."""
    st.page_link(page_path(there.page), label=f"{kind} {there.title}: {there.question}", icon=there.icon)


def papers(reading: Sequence[str]) -> None:
    """Draw the reading list, folded."""
    with st.expander("Papers", icon=":material/menu_book:"):
        st.markdown("\n".join(f"- {paper}" for paper in reading))
