"""What a step says on the screen: text with its technical words, meaning, a change to try, captions, tables, chips.

A technical word becomes a link to the glossary with its meaning as the title: a screen reader reads it, and whoever
opens it in a new tab gets the glossary. ``terms.js`` shows the title below the word, at a click, a touch or Enter.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import pandas as pd
import pyarrow as pa
import streamlit as st
from streamlit.elements.lib.column_types import ColumnConfig

from lab.charts.tokens.token_chips import Chip, token_chips
from lab.course.glossary import Term, uses
from lab.course.pages import Bench, ExperimentRecord, page_of, page_path
from lab.course.words import unmarked
from lab.ui.parameter_kinds import Parameter
from lab.ui.parameters import KEY_TOKEN, LOOK_UP, STEP, TEACH, TEXT, TOKEN
from lab.ui.taking import tell

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


DECIMAL, SHARE = "%.2f", "percent"
# The text in cells without a value.
NO_VALUE = "–"
ROWS = 24
_NONE: Mapping[str, str] = {}
_TWO_LINES = 66  # pixels: only in rows taller than 4 rem does Streamlit wrap a text


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes
    ----------
    name
        The name of the column in the frame.
    width
        The width in pixels; without a width, the column is as wide as its words.
    format
        The format of the column's numbers: "percent", "localized" or as in C ("%.2f"); empty for texts and counts.
    heading
        The text above the column if the name is too long.
    help
        A description of the column, in a tooltip at the heading.
    """

    name: str
    width: int | None = None
    format: str = ""
    heading: str = ""
    help: str = ""

    def config(self) -> ColumnConfig:
        """Return the column as Streamlit's column configuration."""
        heading, told = self.heading or self.name, self.help or None
        if self.format:
            return st.column_config.NumberColumn(heading, width=self.width, help=told, format=self.format)
        return st.column_config.Column(heading, width=self.width, help=told)


def show_table(
    frame: pd.DataFrame | pa.Table,
    columns: Sequence[Column] = (),
    *,
    formats: Mapping[str, str] = _NONE,
    numbered: bool = False,
    long_texts: bool = False,
    scrolls: bool = False,
) -> None:
    """Draw a table at its full height; a table of more than :data:`ROWS` rows scrolls.

    Parameters
    ----------
    frame
        The values.
    columns
        The columns to draw, in their order; all columns of ``frame`` if no columns are named.
    formats
        The format of a column's numbers, by the column's name, if ``columns`` do not name it.
    numbered
        Draw the index of ``frame``, too.
    long_texts
        Give each row two lines.
    scrolls
        Let a shorter table scroll, too, because it is beside other tables.
    """
    written = {name: st.column_config.NumberColumn(format=each) for name, each in formats.items()}
    st.dataframe(
        frame[[each.name for each in columns]] if columns else frame,
        height="auto" if scrolls or len(frame) > ROWS else "content",
        hide_index=not numbered,
        column_config=written | {each.name: each.config() for each in columns},
        row_height=_TWO_LINES if long_texts else None,
        placeholder=NO_VALUE,
    )


_MANY = 200  # more chips than this scroll in a box
_BOX = 460  # pixels


def draw_chips(chips: Sequence[Chip], ids: Sequence[int] | None = None, groups: Sequence[int] | None = None) -> None:
    """Draw a text as chips; many chips scroll in a box instead of filling the page.

    ``ids`` and ``groups`` have one number for each token: the token's id, and its group. The tokens of a group have the
    same colour.
    """
    with st.container(height=_BOX if len(chips) > _MANY else "content", border=False):
        st.html(token_chips(chips, ids=ids, groups=groups))
