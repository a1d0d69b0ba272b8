"""The sentence on a page: the course's, about which its texts are written, or the learner's own.

Each step of a lesson opens on the course's sentence. The learner's sentence is kept for the visit, and one click at the
step brings it back. So nobody loses the thread of the course, and nobody loses a sentence.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from lab.course.pages import Lesson
from lab.models.catalogue import DEFAULT_MODEL
from lab.ui.parameter_kinds import Parameter, shorten
from lab.ui.parameters import (
    DEFAULT_TEXT,
    HEAD,
    KEY_TOKEN,
    LAYER,
    MASKED,
    MODE,
    MODEL,
    NEURON,
    PAIR,
    PLACE,
    TEACH,
    TEXT,
    TOKEN,
    TOY,
)  # fmt: skip

COURSE, YOURS = "Course", "Yours"
_BEGUN = "_first_text"  # the texts with which a page began
_OWN = "_own_texts"  # the texts that the learner typed or chose last
_AT = "_text_at"  # the step for which the text was chosen
_PUT = "_text_put"  # set if a text was put in place together with a step, by a link or a button
_PLACES = "_places_of_texts"  # the places chosen in the course's text and in the learner's
SEEN = "_tokens_seen"  # the tokens of the last screen, among which a chosen word is found again
FIRST_HEAD = "_first_head"  # the head with which a page began
_IN_TEXT: tuple[Parameter[Any], ...] = (TOKEN, KEY_TOKEN, MASKED, PLACE)
_OF_HEAD = (LAYER, HEAD)
_ASKS, _TYPED, _WHOSE = "_asks_own_text", "_own_typed", "_whose"


def begin(own: str, at: str = "", *, tried: bool = False) -> str:
    """Return the text that a page begins with: its ``own``, or else the lab's.

    ``at`` names the step on screen. A new step begins with the course's text again, unless a link or a button has put
    a text there. A new lesson begins with its own head, too, because the course's texts are about it. A page without a
    step keeps any text that the learner has. ``tried`` says that the text is an offer of the step ("Try"), not the
    learner's. Call this function before the field of the text is drawn.
    """
    first = own or DEFAULT_TEXT
    if own and _shown() == (own, ""):
        st.session_state[_BEGUN] = (own, "")
    if not (untouched() or tried):
        st.session_state[_OWN] = _shown()
    put = st.session_state.pop(_PUT, False) or TEACH.chosen()  # a class has one sentence for all steps
    before = st.session_state.get(_AT, at)
    new, st.session_state[_AT] = at != before, at
    kept = not at and _shown()[0] is not None
    if (untouched() and not kept) or (new and at and not put):
        if not untouched():
            _change_places(YOURS, COURSE)
        elif _shown()[0] not in (None, first):  # another example of the course: its tokens are others
            for parameter in _IN_TEXT:
                parameter.set(parameter.default)
            st.session_state.pop(SEEN, None)
        _show(first, "")
        st.session_state[_BEGUN] = (first, "")
        if at and not put and _lesson(at) != _lesson(before) and MODE.chosen() != TOY:
            _forget_places()
    return first


def pass_by(at: str) -> None:
    """Note that a step is on screen that shows no text: a toy's."""
    st.session_state[_AT] = at


def shown_at(lesson: Lesson, step: str) -> None:
    """Note the step that a page shows: not every model has the step that was to come, and its text stays here."""
    came = str(st.session_state.get(_AT, "")).partition("/")[2]
    if lesson.text_at(step) == lesson.text_at(came):
        st.session_state[_AT] = f"{lesson.id}/{step}"


def _lesson(at: str) -> str:
    return at.partition("/")[0]


def left_behind(lesson: str) -> frozenset[str]:
    """The names of the choices that do not go along to a ``lesson``, which begins with its own head and tokens.

    They go along to the lesson that is on screen, with a text that a button has put in place, before a class, and with
    a toy.
    """
    same = _lesson(st.session_state.get(_AT, "")) in ("", lesson)
    if same or _PUT in st.session_state or TEACH.chosen() or MODE.chosen() == TOY:
        return frozenset()
    return frozenset(each.name for each in (*_OF_HEAD, *_IN_TEXT, NEURON))


def _forget_places() -> None:
    for parameter in (*_IN_TEXT, NEURON):
        parameter.set(parameter.default)
    for choice in _OF_HEAD:
        choice.forget()
    for name in (FIRST_HEAD, SEEN):
        st.session_state.pop(name, None)


def whose() -> str:
    """Return whether the text on screen is the course's or the learner's: :data:`COURSE` or :data:`YOURS`."""
    return COURSE if untouched() else YOURS


def untouched() -> bool:
    """Return whether the text is not the learner's: there is no text, or a page began with it."""
    return _shown() in ((None, ""), st.session_state.get(_BEGUN))


def is_begun(text: str, pair: str) -> bool:
    """Return whether a page began with these texts, so that they stay there when the learner leaves it."""
    return (text, pair) == st.session_state.get(_BEGUN)


def _shown() -> tuple[str | None, str]:
    """The texts in the session: None for a text that no page has begun with yet."""
    return st.session_state.get(TEXT.name), st.session_state.get(PAIR.name) or ""


def _show(text: str, pair: str) -> None:
    TEXT.set(text)
    PAIR.set(pair)


def _change_places(before: str, now: str) -> None:
    """Keep the tokens that are chosen or hidden in the text on screen, and choose those of the text that comes."""
    held = st.session_state.setdefault(_PLACES, {})
    held[before] = [parameter.chosen() for parameter in _IN_TEXT]
    for parameter, place in zip(_IN_TEXT, held.get(now, [each.default for each in _IN_TEXT]), strict=True):
        parameter.set(place)
    st.session_state.pop(SEEN, None)


def own_texts() -> dict[str, str]:
    """Return the texts that the learner typed or chose, for the address of a page without fields for them.

    The server always knows the texts in such an address, but the browser drops them when it leaves the page of their
    widgets.
    """
    chosen = {each.name: each.chosen() for each in (TEXT, PAIR)}
    return {} if untouched() else {name: text for name, text in chosen.items() if text}


def use_texts(text: str, pair: str) -> None:
    """Put these texts into the fields of the sidebar, as the learner's own. For a button's callback."""
    st.session_state.pop(_BEGUN, None)
    _show(text, pair)
    put_texts()


def keep_texts(text: str, pair: str) -> None:
    """Keep these texts as the learner's own, for the switch of each step; the texts on screen stay."""
    st.session_state[_OWN] = (text, pair)


def put_texts() -> None:
    """Let the texts in the session stay on the step that opens next, which would begin with the course's text."""
    st.session_state[_PUT] = True


def show_switch(course: str) -> None:
    """Draw the switch between the ``course``'s sentence and the learner's; a field, if there is none of the learner's.

    Another model than the course's gets the line that the course's findings are not about it.
    """
    st.session_state[_WHOSE] = YOURS if st.session_state.get(_ASKS) == st.session_state.get(_AT) else whose()
    with st.container(key="whose", horizontal=True, vertical_alignment="center", gap="small"):
        st.segmented_control(
            "Whose sentence", (COURSE, YOURS), key=_WHOSE, required=True, label_visibility="collapsed",
            on_change=_switch, args=(course or DEFAULT_TEXT,), width="content",
        )  # fmt: skip
        if st.session_state[_WHOSE] == YOURS and untouched():
            st.text_input(
                "Your sentence", key=_TYPED, placeholder="Type a sentence of your own, and press Enter",
                label_visibility="collapsed", on_change=_take_typed, width=420,
            )  # fmt: skip
        if whose() == COURSE and MODEL.chosen() != DEFAULT_MODEL:
            st.caption(f"The course is about {DEFAULT_MODEL}. For other models, you see readings.", width="content")
            st.button("Take the course’s model", key="_course_model", type="tertiary", on_click=_take_model)
        elif whose() == COURSE and _looks_elsewhere():
            what = "layer or neuron" if NEURON.chosen() else "head"
            st.caption(f"You look at another {what} than the course.", width="content")
            st.button("Look where the course does", key="_course_head", type="tertiary", on_click=_look_back)


def _switch(course: str) -> None:
    chosen = st.session_state.get(_WHOSE)
    st.session_state.pop(_ASKS, None)
    if chosen == COURSE:
        _change_places(YOURS, COURSE)
        _show(course, "")
        st.session_state[_BEGUN] = (course, "")
    elif (own := st.session_state.get(_OWN)) is not None:
        _change_places(COURSE, YOURS)
        _show(own[0] or DEFAULT_TEXT, own[1])
    else:
        st.session_state[_ASKS] = st.session_state.get(_AT)


def _take_typed() -> None:
    shorten(_TYPED, TEXT.longest, TEXT.blanks)
    if typed := str(st.session_state.get(_TYPED, "")).strip():
        st.session_state.pop(_ASKS, None)
        use_texts(typed, "")


def _take_model() -> None:
    MODEL.set(DEFAULT_MODEL)


def _look_back() -> None:
    """Choose the head with which the page began, and no token or neuron. The widgets are on screen, so they are set."""
    for parameter in (*_IN_TEXT, NEURON):
        parameter.set(parameter.default)
    for choice, first in zip(_OF_HEAD, st.session_state[FIRST_HEAD][1], strict=True):
        if first is not None:
            choice.set(first)
    st.session_state.pop(SEEN, None)


def _looks_elsewhere() -> bool:
    """Return whether the learner has chosen another head, layer or neuron than the one with which a page began."""
    begun = st.session_state.get(FIRST_HEAD)
    shown = tuple(st.session_state.get(each.name) for each in _OF_HEAD)
    return begun is not None and (shown != begun[1] or bool(NEURON.chosen()))
