"""Code that the screens of the tokenization lesson share: the input's steps, the chosen word, tables, the badge."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import pandas as pd
import streamlit as st
from tokenizers import Tokenizer

from lab.charts.base.axes import Scale, visible
from lab.charts.base.chart_table import to_csv
from lab.charts.base.figure import Figure
from lab.charts.marks.bars import bars
from lab.charts.tokens import token_tables
from lab.charts.tokens.token_chips import encoding_chips
from lab.charts.tokens.token_tables import token_table as table_of
from lab.course.words import escaped, quoted
from lab.models.encoding import Encoding
from lab.models.trace import Trace
from lab.questions.question import Option, Question
from lab.text.tokenizers.bpe import BpeWord
from lab.text.tokenizers.cut_text import Piece
from lab.text.tokenizers.explained import TokenizationSteps, compare
from lab.text.tokenizers.wordpiece import WordSteps
from lab.toy.merges import BPE, learn, made_up
from lab.ui import runs, selection
from lab.ui.drawing import file, take_notebook
from lab.ui.page import LessonPage
from lab.ui.parameters import WORD
from lab.ui.screen import draw_chips, show_table

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


def look(page: LessonPage, trace: Trace) -> TokenizationView:
    """Draw the badge of this lesson, and return the view, which is the same for all steps."""
    view = _look_at(page, trace)
    if not view.foreign:
        _show_agreement(view)
    return view


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


Word = WordSteps | BpeWord

_LONGEST = 30  # characters of a word that a page looks at first


@dataclass(frozen=True)
class TextReading:
    """The learner's input on its way into the model: ``texts`` holds one text, or both texts of a pair."""

    encoding: Encoding
    texts: tuple[TokenizationSteps, ...]
    tokenizer: Tokenizer

    @property
    def words(self) -> tuple[Word, ...]:
        """The pre-tokens of all texts in reading order."""
        return tuple(word for steps in self.texts for word in steps.words)


def spelled(word: Word) -> str:
    """A pre-token as the model sees it: a BPE word in the visible characters of its bytes."""
    return "".join(word.symbols) if isinstance(word, BpeWord) and not word.added else word.text


def hardest(words: Sequence[Word]) -> int | None:
    """Index of the word to look at first: the word with most pieces, and of several such words the longest."""

    def effort(index: int) -> tuple[bool, int, int]:
        word = words[index]
        return not word.added and len(word.text) <= _LONGEST, len(word.pieces), len(word.text)

    return max(range(len(words)), key=effort, default=None)


def question(id: str, prompt: str, options: Iterable[Option], hint: str = "") -> Question | None:
    """Make a question from its options, the correct option first; None if only one is left.

    If two options read the same, the earlier one stays; four stay at most. The options are sorted, so that their order
    tells nothing.
    """
    kept: dict[str, Option] = {}
    for option in options:
        kept.setdefault(option.text, option)
    chosen = list(kept.values())[:4]
    if len(chosen) < 2:
        return None
    numbers = all(option.text.isdecimal() for option in chosen)
    chosen.sort(key=lambda option: (int(option.text) if numbers else 0, option.text))
    return Question(id, prompt, tuple(chosen), hint=hint)


def count(number: int, noun: str) -> str:
    """``count(1, "token")`` is "1 token", ``count(2, "token")`` "2 tokens"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def joined(pieces: Sequence[Piece]) -> str:
    """Write the tokens of a word in a row, quoted."""
    return quoted(" · ".join(piece.token for piece in pieces))


_PAIRS = 10


def token_table(traced: Trace) -> pd.DataFrame:
    """List every token with its id, its segment and its characters in the text."""
    return table_of(traced.encoding)


def next_pairs(seed: int, trainer: str, made: int) -> Figure:
    """Draw the pairs of neighbours in a toy's corpus after some merges, the best first, with the next merge marked."""
    found = learn(made_up(seed).times, trainer).next(made)[:_PAIRS]
    what, form = ("Count", ".0f") if trainer == BPE else ("Score", ".3f")
    values, labels = [each.worth(trainer) for each in found], [" + ".join(each.pair) for each in found]
    title = f"Which pair is merged next, after {made} merge{'s' * (made != 1)}"
    return bars(labels, values, Scale(what, format=form), title=title, highlight=0)
