"""Code that the screens of the tokenization lesson share: the input's steps, the chosen word, tables, the badge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import pandas as pd
import streamlit as st

from lab.charts.base.chart_table import to_csv
from lab.charts.base.labels import visible
from lab.charts.tokens import token_tables
from lab.charts.tokens.encoding_chips import encoding_chips
from lab.course.words import escaped
from lab.lessons.tokenization.lesson_input import TextReading, Word, hardest
from lab.models.trace import Trace
from lab.text.tokenizers.beside_library import compare
from lab.ui import runs, selection
from lab.ui.chips import draw_chips
from lab.ui.drawing import file, take_notebook
from lab.ui.page import LessonPage
from lab.ui.page_table import show_table
from lab.ui.parameters import WORD

_LONG = 1200  # characters
_BOX = 460  # pixels


@dataclass(frozen=True)
class TokenizationView:
    """The text and the word that the learner looks at.

    ``foreign`` is true for a tokenizer that the lab cannot explain; then there are no steps.
    """

    page: LessonPage
    trace: Trace
    reading: TextReading
    foreign: bool = False

    @property
    def model(self) -> str:
        """The model's name, safe in Markdown."""
        return escaped(self.trace.model.id)


def look(page: LessonPage, trace: Trace) -> Callable[[str], TokenizationView]:
    """Draw the badge of this lesson, and return what makes the view of each step: the same for all."""
    view = _look_at(page, trace)
    if not view.foreign:
        _show_agreement(view)
    return lambda step: view


def _look_at(page: LessonPage, trace: Trace) -> TokenizationView:
    """The steps of the trace's texts through its tokenizer."""
    tokenizer, texts = trace.model.tokenizer, [trace.text] + ([trace.pair] if trace.pair else [])
    try:
        steps = tuple(runs.token_steps(trace.model.id, text) for text in texts)
    except ValueError:
        return TokenizationView(page, trace, TextReading(trace.encoding, (), tokenizer), foreign=True)
    return TokenizationView(page, trace, TextReading(trace.encoding, steps, tokenizer))


def show_explained(view: TokenizationView) -> bool:
    """Return whether there are steps to show; if not, the tokens are on screen, and the reason."""
    if view.foreign:
        st.info(
            "This tokenizer does not work like the tokenizers that this lesson explains. Here are its tokens.",
            icon=":material/info:",
        )
        draw_chips(encoding_chips(view.trace.encoding), ids=view.trace.token_ids)
    return not view.foreign


def choose_word(words: Sequence[Word]) -> Word | None:
    """Draw a selector for one word of the input; the choice is in the URL as ``word``."""
    by_name: dict[str, Word] = {}
    for word in words:
        by_name.setdefault(visible(word.text, limit=None), word)
    names = list(by_name)
    first = hardest(words)
    if first is None:
        return None
    shown = visible(words[first].text, limit=None)
    selection.fit_name(WORD, names, shown)
    return by_name[WORD.menu("Word", names, shown)]


def show_plain(text: str) -> None:
    """Draw the learner's text in a block without markup; invisible characters get signs; a long text scrolls."""
    st.code(visible(text, limit=None), language=None, wrap_lines=True, height=_BOX if len(text) > _LONG else "content")


def show_rows(frame: pd.DataFrame, name: str, call: partial[pd.DataFrame] | None = None) -> None:
    """Draw a table that scrolls if it is long, its CSV, and the notebook that recomputes it by ``call``."""
    show_table(frame, numbered=True)
    with st.container(horizontal=True):
        file("CSV", name, "csv", partial(to_csv, frame))
        if call is not None:
            take_notebook(call, name, kept=False)


def _show_agreement(view: TokenizationView) -> None:
    """Compare the explained steps with the library on this text."""
    found = [compare(view.reading.tokenizer, steps) for steps in view.reading.texts]
    wrong = next((at + 1 for each in found if (at := each.first_difference) is not None), None)
    label = ":green[Equals Hugging Face’s tokenizer]" if wrong is None else f":red[Differs from token {wrong}]"
    icon = ":material/verified:" if wrong is None else ":material/error:"
    with view.page.header.badge.container(), st.popover(label, icon=icon, on_change="rerun", key="agreement") as badge:
        if badge.open:
            same = "Tokens and ids are the same. (The library itself finds the words in the text.)"
            st.markdown(
                "The lab cuts your text twice: with the steps of this lesson, and with the library *tokenizers*, "
                "whose tokens the model reads. "
                f"{same if wrong is None else f'Token {wrong} is the first one that differs.'}"
            )
            for each in found:
                show_table(token_tables.agreement_table(each), numbered=True)
