"""The kinds of URL parameters whose range depends on model and text, and is known once the model has run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import streamlit as st

from lab.course.words import quoted
from lab.ui.parameter_kinds import Name, Parameter, Whole, Width, whole_number

TOKENS_SEEN = "_masked.tokens"  # key of the text's tokens for which the hidden tokens were chosen
# Key of the step that the URL named when the page was last drawn.
_STEP_IN_URL = "_step_in_url"
_MORE = "more_steps"
_NONE: Mapping[str, str] = {}


@dataclass(frozen=True)
class Counted(Parameter[int]):
    """The number of a layer, a head, a sentence or another part of a model or a text, counted from 1.

    The number of parts is known once the page has run the model; :func:`lab.ui.selection.fit` checks it then. The
    initial part depends on the run, too, so the URL and every link name the part on screen.
    """

    named: bool = field(default=True, kw_only=True)

    def meant(self, raw: str) -> int | None:
        return whole_number(raw, 1, 10**9)

    def wanted(self) -> str:
        return "a whole number from 1"

    def choose(self, label: str, offered: Sequence[int], first: int) -> int:
        """Draw the list of the numbers ``offered``; ``first`` is selected until somebody chooses."""
        if st.session_state.get(self.name) not in offered:
            self.set(first)
        # The list has no default, as Streamlit leaves a default out of the URL. A learner who clears the list gets
        # ``first`` again.
        chosen = st.selectbox(label, offered, None, **self._bound())
        return first if chosen is None else chosen


@dataclass(frozen=True)
class PlaceParameter(Whole):
    """A place in the text or in a vector.

    The widget changes with text and vector, so the widget's key is ``_name``, not the parameter's name.
    """

    written: bool = field(default=True, kw_only=True)

    def choose(
        self,
        label: str,
        offered: Sequence[int],
        chosen: int,
        shown: Callable[[int], str] = str,
        *,
        start: int = 0,
        help: str | None = None,
    ) -> int:
        """Draw the list of the places ``offered``, from 0; the URL counts the same places from ``start``."""

        def take() -> None:
            # A word chosen in the previous text arrives as its label, a str, which is not one of these places.
            if isinstance(place := st.session_state[key], int):
                self.set(place + start)

        key = f"_{self.name}"
        st.session_state[key] = chosen
        return st.selectbox(label, offered, key=key, on_change=take, format_func=shown, help=help)

    def type_in(self, label: str, chosen: int, most: int, step: int = 1) -> None:
        """Draw a field for a number from 1 to ``most``."""

        def take() -> None:
            self.set(st.session_state[key])

        key = f"_{self.name}"
        st.session_state[key] = chosen
        st.number_input(label, 1, most, step=step, key=key, on_change=take)


@dataclass(frozen=True)
class Listed(Name):
    """A name from a list that is known when the page is drawn."""

    def menu(self, label: str, offered: Sequence[str], first: str, *, width: Width = "stretch") -> str:
        """Draw the names as a list that opens; ``first`` is selected until somebody chooses."""
        self._bring_into(offered, first)
        chosen = st.selectbox(label, offered, offered.index(first), width=width, **self._bound())
        return chosen if chosen in offered else first

    def buttons(self, label: str, offered: Sequence[str], first: str) -> str:
        """Draw the names as buttons."""
        self._bring_into(offered, first)
        chosen = st.segmented_control(label, offered, default=first, required=True, **self._bound())
        return chosen if chosen in offered else first


@dataclass(frozen=True)
class HiddenParameter(Name):
    """The hidden tokens. Places set from code refer to the text of the next run, which may be set at the same time."""

    def set(self, value: str) -> None:
        st.session_state.pop(TOKENS_SEEN, None)
        super().set(value)


@dataclass(frozen=True)
class Model(Listed):
    """One of the models that the server has."""

    def refusal(self, raw: str) -> str:
        return f"This server has no model called {quoted(raw[:40])}, so you see {self.default}."


@dataclass(frozen=True)
class StepParameter(Name):
    """The step of a page; each page has its own names for its steps.

    The browser's Back goes through the steps. For this, Python writes a step into the URL as soon as it is chosen: a
    parameter that the browser writes for a widget gets no entry in the history.
    """

    def asked(self) -> str:
        """The step that the address names; "" if it names no step."""
        return str(st.query_params.get(self.name, ""))

    def linked(self) -> bool:
        """Return whether a link, or the browser's Back, has just named the step."""
        return self.asked() not in ("", st.session_state.get(_STEP_IN_URL))

    def coming(self, names: Sequence[str]) -> str:
        """Return the step that :meth:`choose` is going to show, before the row of steps is drawn."""
        asked, chosen = self.asked(), self.chosen()
        if asked in names and (self.linked() or chosen not in names):
            return asked
        return chosen if chosen in names else names[0]

    def choose(self, names: Sequence[str], more: Sequence[str] = (), instead: Mapping[str, str] = _NONE) -> str:
        """Draw the row of steps; the first step is not written into the URL. The steps ``more`` open from a menu.

        ``instead`` maps a step that is not offered here to the step that is shown in its place.
        """
        asked, every = st.query_params.get(self.name), (*names, *more)
        if asked not in every:
            asked = instead.get(asked or "", asked)
        if asked != st.session_state.get(_STEP_IN_URL) or self.chosen() not in every:
            # A link or the browser's Back names the step, or the chosen step belongs to another page.
            self.set(asked if asked is not None and asked in every else names[0])
        row = [*names, *(name for name in more if name == self.chosen())]
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            st.segmented_control("Step", row, required=True, key=self._key(), label_visibility="collapsed")
            if more:
                self._offer(more)
        chosen = self.chosen() if self.chosen() in every else names[0]
        self._write(None if chosen == names[0] else chosen)
        return chosen

    def _offer(self, more: Sequence[str]) -> None:
        """Draw the optional steps, in a menu."""

        def take() -> None:
            if (name := st.session_state[_MORE]) is not None:
                self.set(name)

        st.menu_button("More on this", list(more), key=_MORE, type="tertiary", on_click=take)

    def _write(self, chosen: str | None) -> None:
        st.session_state[_STEP_IN_URL] = chosen
        if chosen is None:
            st.query_params.pop(self.name, None)
        elif st.query_params.get(self.name) != chosen:
            st.query_params[self.name] = chosen
