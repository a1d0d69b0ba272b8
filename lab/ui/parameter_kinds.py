"""The kinds of URL parameters: each reads its value from a link, says what it refuses, and draws its widget.

Parameters whose range depends on a run of the model are in :mod:`lab.ui.parameters_of_a_run`.

Fields for text have no ``max_chars``: Streamlit's browser part ignores a longer paste without a word (streamlit
1.67). Text beyond the limit is left out, and the page says so.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

import streamlit as st

from lab.models.encoding import clean, with_masks
from lab.ui.guard import LONGEST

T = TypeVar("T", bound=str | int | float)
Width = int | Literal["stretch"]
MAX_CHARACTERS = 4000
_DRAWN = "_parameters_drawn"


def whole_number(raw: object, least: int, most: int) -> int | None:
    """Return ``raw`` as an integer, or None if it is not an integer from ``least`` to ``most``."""
    text = str(raw).strip()
    if not re.fullmatch(r"-?[0-9]{1,9}", text):
        return None
    return value if least <= (value := int(text)) <= most else None


def drawn() -> set[str]:
    """Return the parameters that have a widget on this page so far."""
    found: set[str] = st.session_state.setdefault(_DRAWN, set())
    return found


@dataclass(frozen=True)
class Parameter(ABC, Generic[T]):
    """One parameter of the URL. ``name`` is its name in a link, in the session and in the Selection.

    ``kept``: links contain the parameter, because it describes the view on screen; other parameters belong to visit or
    page. ``written``: no widget is bound to the parameter, so Python writes it into the URL when a page is done.
    ``named``: links name the value even if it is the default, because pages begin with different values.
    """

    name: str
    default: T
    kept: bool = field(default=True, kw_only=True)
    written: bool = field(default=False, kw_only=True)
    named: bool = field(default=False, kw_only=True)

    @abstractmethod
    def meant(self, raw: str) -> T | None:
        """Return the value that ``raw`` stands for in a link; None if it stands for no value."""

    @abstractmethod
    def wanted(self) -> str:
        """Return a description of the values that a link may have."""

    def refusal(self, raw: str) -> str:
        """Return the sentence that tells the learner that ``raw`` is refused."""
        return f"{self.name} must be {self.wanted()}; it is {self.default} now."

    def chosen(self) -> T:
        """Return the value chosen now, which is quicker than building the whole Selection for one value."""
        value = st.session_state.get(self.name, self.default)
        return value if isinstance(value, type(self.default)) else self.default

    def _key(self) -> str:
        """The widget's key.

        :func:`drawn` notes the widget, because Streamlit refuses the key of a drawn widget in an address.
        """
        drawn().add(self.name)
        return self.name

    def _bound(self) -> dict[str, Any]:
        """The arguments of every widget whose value is in the URL and outlives the page."""
        return {"key": self._key(), "bind": "query-params", "persist_state": "session"}

    def _bring_into(self, offered: Sequence[T], first: T) -> None:
        """Choose ``first`` if the chosen value is not ``offered`` now, because it was chosen with another model or
        text.

        The value is changed in the session, because a new default for the widget would not help: the browser would keep
        the choice.
        """
        if self.name in st.session_state and st.session_state[self.name] not in offered:
            self.set(first)

    def set(self, value: T) -> None:
        """Choose ``value`` before the widget is drawn: in callbacks, and to bring a number into the range of a text."""
        st.session_state[self.name] = value

    def forget(self) -> None:
        """Let the page choose again, before the widget is drawn, which would begin with the value in the address."""
        st.session_state.pop(self.name, None)
        st.query_params.pop(self.name, None)


@dataclass(frozen=True)
class Name(Parameter[str]):
    """A name or a list of places. The valid names depend on model and text, so the page itself checks the name."""

    longest: int = field(default=MAX_CHARACTERS, kw_only=True)

    def meant(self, raw: str) -> str:
        return raw[: self.longest]

    def wanted(self) -> str:
        return f"a text of at most {self.longest} characters"


@dataclass(frozen=True)
class TextParameter(Name):
    """A text that a learner types; with ``blanks``, a blank may be typed as "_"."""

    blanks: bool = field(default=False, kw_only=True)

    def chosen(self) -> str:
        return clean(super().chosen())

    def line(self, label: str, *, placeholder: str | None = None, help: str | None = None) -> str:
        """Draw a text field of one line."""
        typed = st.text_input(label, self.default, help=help, placeholder=placeholder, **self._bound())
        say_shortened(self.name, self.longest)
        return typed

    def area(
        self, label: str, height: int, first: str = "", *, placeholder: str | None = None, help: str | None = None
    ) -> str:
        """Draw a field of several lines; until somebody types, it contains ``first`` or else the default."""
        typed = st.text_area(label, first or self.default, height, help=help, placeholder=placeholder, **self._bound())
        say_shortened(self.name, self.longest)
        return typed

    def _bound(self) -> dict[str, Any]:
        return super()._bound() | {"on_change": shorten, "args": (self.name, self.longest, self.blanks)}


@dataclass(frozen=True)
class Choice(Parameter[T]):
    """One of the ``options``, which are in the order of the screen."""

    options: tuple[T, ...]

    def meant(self, raw: str) -> T | None:
        return next((each for each in self.options if str(each) == raw), None)

    def wanted(self) -> str:
        return f"one of {', '.join(sorted(map(str, self.options), key=len))}"

    def _offered(self, offered: Sequence[T]) -> tuple[Sequence[T], T]:
        """Return the values to offer, and the value that is selected until somebody chooses."""
        offered = offered or self.options
        first = self.default if self.default in offered else offered[0]
        self._bring_into(offered, first)
        return offered, first


@dataclass(frozen=True)
class Buttons(Choice[T]):
    """A choice among a few options, drawn side by side."""

    def choose(self, label: str, offered: Sequence[T] = (), *, help: str | None = None) -> T:
        """Draw buttons for all options, or for those ``offered`` here. Links use the words on the button."""
        offered, first = self._offered(offered)
        chosen = st.segmented_control(label, offered, default=first, required=True, help=help, **self._bound())
        return chosen if chosen in offered else first


@dataclass(frozen=True)
class Menu(Choice[T]):
    """A choice from a list that opens."""

    def choose(
        self,
        label: str,
        offered: Sequence[T] = (),
        *,
        width: Width = "stretch",
        help: str | None = None,
        on_change: Callable[[], None] | None = None,
    ) -> T:
        """Draw a list of all options, or of those ``offered`` here."""
        offered, first = self._offered(offered)
        at, bound = offered.index(first), self._bound()
        chosen = st.selectbox(label, offered, at, help=help, on_change=on_change or "rerun", width=width, **bound)
        return chosen if chosen in offered else first


@dataclass(frozen=True)
class ScaleParameter(Choice[T]):
    """A choice along a slider."""

    def choose(self, label: str) -> T:
        """Draw the slider."""
        chosen = st.select_slider(label, self.options, self.default, **self._bound())
        return chosen if chosen in self.options else self.default


@dataclass(frozen=True)
class Whole(Parameter[int]):
    """A whole number from ``least`` to ``most``."""

    least: int
    most: int

    def meant(self, raw: str) -> int | None:
        return whole_number(raw, self.least, self.most)

    def wanted(self) -> str:
        return f"a number from {self.least} to {self.most}"

    def _within(self, value: int) -> int:
        return min(max(value, self.least), self.most)


@dataclass(frozen=True)
class NumberParameter(Whole):
    """A number in a field with buttons for one more and one less."""

    def choose(self, label: str, *, width: Width = "stretch", help: str | None = None) -> int:
        """Draw the field."""
        bound = self._bound()
        chosen = st.number_input(label, self.least, self.most, self.default, help=help, width=width, **bound)
        return self._within(chosen)


@dataclass(frozen=True)
class Slider(Whole):
    """A number on a slider."""

    def choose(self, label: str, step: int = 1) -> int:
        """Draw the slider."""
        return self._within(st.slider(label, self.least, self.most, self.default, step, **self._bound()))


@dataclass(frozen=True)
class Fraction(Parameter[float]):
    """A number with decimals on a slider from ``least`` to ``most``."""

    least: float
    most: float

    def meant(self, raw: str) -> float | None:
        if not re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,18})?", raw.strip()):
            return None
        value = float(raw)
        return value if self.least <= value <= self.most else None

    def wanted(self) -> str:
        return f"a number from {self.least:g} to {self.most:g}"

    def choose(self, label: str, step: float) -> float:
        """Draw the slider."""
        value = st.slider(label, self.least, self.most, self.default, step, **self._bound())
        return min(self.most, max(self.least, float(value)))


_TYPED = "_characters_typed."


def shorten(key: str, longest: int, blanks: bool = False) -> None:
    """Shorten the text in the field of this ``key`` to ``longest`` characters; for a callback of the field.

    With ``blanks``, write a blank that is typed as "_" or "▢" as the mask.
    """
    text = st.session_state[key]
    st.session_state[_TYPED + key] = len(text)
    kept = with_masks(text[:longest]) if blanks else text[:longest]
    if kept != text:
        st.session_state[key] = kept[:longest]


def say_shortened(key: str, longest: int) -> None:
    """Say under a field that :func:`shorten` has left out a part of the text, while this text is in the field."""
    typed = st.session_state.get(_TYPED + key, 0)
    if typed > longest and len(st.session_state[key]) == longest:
        most = " or more" if typed >= LONGEST else ""
        read = f"The lab reads the first {longest:,}; the rest was left out."
        st.caption(f"The text had {typed:,} characters{most}. {read}")
