"""What the corner of a figure takes along besides its numbers: one file, and the frame for it on another page."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from html import escape
from typing import Any

import pandas as pd
import streamlit as st

from lab.charts.base.axes import visible
from lab.charts.kept.keepable import Keepable
from lab.course.words import plain
from lab.ui import address
from lab.ui.parameters import STEP

_FIGURES = "_figures_of_the_next_meaning"
_MARKS = re.compile(r"(?<!\\)[*`]+")
_MEGABYTE = 1_000_000
# Pixels of a frame in which a figure of this kind fits at the width of a page.
_HEIGHTS = {
    "SentenceRow": 280,
    "RowBuilt": 560,
    "WordForms": 560,
    "Machine": 620,
    "HeadView": 520,
    "LiveChart": 680,
    "ModelView": 760,
}
_SENTENCE = "sentence"  # the row above a step; a meaning is its own only if no figure is between them


@dataclass
class _Figures:
    """The figures since the page last gave a meaning, by key, each with the sentences that the page says of it.

    ``explained``: the page has given a meaning since, so the next figure begins a new group.
    """

    told: dict[str, list[str]] = field(default_factory=dict)
    explained: bool = False


def begin_figure(key: str) -> list[str]:
    """Note that the figure ``key`` is drawn; return the list in which :func:`tell` puts sentences about it.

    Figures that are drawn one after the other, with no meaning between them, share the meaning that comes.
    """
    figures = st.session_state.get(_FIGURES)
    if not isinstance(figures, _Figures) or figures.explained:
        figures = st.session_state[_FIGURES] = _Figures()
    figures.told.pop(_SENTENCE, None)  # the next meaning is that of this figure
    return figures.told.setdefault(key, [])


def told_of(key: str) -> list[str]:
    """Return the list of sentences about the figure ``key``, which was drawn last."""
    figures = st.session_state.get(_FIGURES)
    if isinstance(figures, _Figures) and key in figures.told:
        return figures.told[key]
    return begin_figure(key)


def tell(meaning: str) -> None:
    """Note the ``meaning``, Markdown of the lab, of the figures that were drawn last, for their files."""
    figures = st.session_state.get(_FIGURES)
    if isinstance(figures, _Figures):
        figures.explained = True
        for told in figures.told.values():
            told.append(plain(_MARKS.sub("", meaning)))


def forget() -> None:
    """Forget the last figures: another run of the page begins."""
    st.session_state.pop(_FIGURES, None)


def kept_file(
    figure: Keepable, call: partial[Any] | None, table: pd.DataFrame, told: list[str]
) -> tuple[str, Callable[[], bytes]]:
    """Return the label of the button that keeps a figure, with the size of a large file, and what makes the file."""
    from lab.figures.notebook import size_if_large

    size = size_if_large(figure, call, table)
    label = "Keep it" if size is None else f"Keep it ({size / _MEGABYTE:.1f} MB)"
    page = address.here()
    step = [each.name for each in getattr(page, "steps", ()) if each.name == STEP.chosen()]
    return label, partial(_write, figure, call, table, (" · ".join([page.title, *step]), told, address.link()))


def _write(figure: Keepable, call: partial[Any] | None, table: pd.DataFrame, said: tuple[str, list[str], str]) -> bytes:
    """Write the file, at a click and not before."""
    from lab.charts.kept.file import About
    from lab.figures.notebook import keep, runs_of
    from lab.models.cores import one_core
    from lab.models.stamp import stamp
    from lab.models.trace import Trace
    from lab.ui.runs import is_proven, proof
    from lab.ui.shared.unreadable_text import unreadable

    heading, told, link = said
    with one_core():
        found = runs_of(call)
        proofs = {each: proof(each) for each in found if isinstance(each, Trace) and is_proven(each)}
        warned = [plain(text) for run in found if isinstance(run, Trace) for _, text in unreadable(run)]
        meaning, stamped = [*told, *dict.fromkeys(warned)], stamp(found, proofs, _python_of(call))
        about = About(heading, "", meaning, stamped, link, address.is_only_here(link))
        return keep(figure, call, about, table)


def _python_of(call: partial[Any] | None) -> str:
    """The expression that makes a figure; "" if its numbers cannot be made from plain values."""
    from lab.figures.notebook import python_of

    if call is None:
        return ""
    try:
        return python_of(call)[1]
    except TypeError:
        return ""


def show_script(call: partial[Any], key: str, *, kept: bool) -> None:
    """Draw the Python that makes a figure, folded; nothing if its numbers cannot be made from plain values."""
    from lab.figures.notebook import script

    try:
        lines = script(call, key, kept=kept)
    except TypeError:
        return
    with st.expander("In Python", icon=":material/terminal:"):
        st.code(lines, language="python", wrap_lines=True)


def show_frame(key: str, figure: Keepable) -> None:
    """Draw the frame that shows the kept file of the figure ``key`` in a course page or a slide."""
    size, named = _HEIGHTS.get(type(figure).__name__, 480), visible(figure.heading, None)
    frame = f'<iframe src="{escape(key)}.html" width="100%" height="{size}" title="{escape(named)}"></iframe>'
    with st.expander("On another page", icon=":material/open_in_new:"):
        st.caption(
            "Keep the figure, and put its file beside your slides or among the files of your course. This line shows "
            "it there. It needs neither the network nor this server."
        )
        st.code(frame, language="html", wrap_lines=True)
