"""The step of the tokenization lesson in which one word is cut, one lookup or merge at a time."""

from __future__ import annotations

from typing import Literal

import streamlit as st
from tokenizers import models

from lab.charts.tokens import tables
from lab.charts.tokens.ladder import lookup_chips, lookup_ladder, merge_chips, merge_ladder
from lab.course.words import quoted
from lab.lessons.tokenization import LESSON, meanings, predictions
from lab.lessons.tokenization.reading import Word, count, mistyped, spelled
from lab.lessons.tokenization.toy import MERGE_STEP
from lab.lessons.tokenization.view import TokenizationView, choose_word, explained, table
from lab.lessons.tokenization.words import about_lookup, about_merge, about_uncut
from lab.text.tokenizers.bpe import BpeWord, byte_symbols
from lab.text.tokenizers.wordpiece import WordSteps
from lab.ui.chips import draw_chips
from lab.ui.frame.closing import meaning
from lab.ui.quiz.predictions import predict
from lab.ui.terms import say
from lab.ui.toys.toy_runs import link_to_toy

_MADE = "_lookups_made"


def show_pieces(view: TokenizationView) -> bool | None:
    """Show how one word is cut, from the first try to the last. Returns True while its question is unanswered."""
    if not explained(view):
        return None
    typo = None if any(len(word.pieces) > 1 for word in view.reading.words) else mistyped(view.reading)
    word = choose_word([*view.reading.words, *([typo.wrong] if typo else [])])
    if word is None:
        say("After normalization, nothing of this text is left to cut.")
        return None
    say("No vocabulary has every word. What does the model read if a word is missing?")
    if not predict(LESSON, predictions.not_in_the_vocabulary(word, typo)):
        return True
    say(_rule(word))
    model = view.reading.tokenizer.model
    why = about_uncut(word, model.max_input_chars_per_word if isinstance(model, models.WordPiece) else 0)
    if why is not None:
        say(why)
    elif isinstance(word, WordSteps):
        _lookups(word)
    else:
        _merges(word)
    meaning(meanings.pieces(word))
    link_to_toy("Where does the vocabulary come from? Watch one being learned", MERGE_STEP)
    return None


def _rule(word: Word) -> str:
    if not isinstance(word, BpeWord):
        return (
            "**WordPiece**, the tokenizer of BERT, finds the longest beginning of the word that is in the vocabulary. "
            f"Then it does the same with the rest. {quoted(word.continuing_prefix)} marks a piece that continues a "
            "word. A word with a sign that is in no piece becomes one token, [UNK]."
        )
    space = byte_symbols()[0x20]
    return (
        "**Byte-pair encoding**, the tokenizer of GPT-2, starts with single bytes. It "
        "has a list of pairs to join, in the order in which they were learned. Of all neighbours in the word, it joins "
        "the pair that was learned first. It goes on until no two neighbours are in the list."
        + (f" {quoted(space)} is the sign for a space." if space in word.symbols else "")
    )


@st.fragment
def _lookups(word: WordSteps) -> None:
    lookups = word.lookups
    made = _stepper(word.text, len(lookups), "lookup")
    say(f"Lookup {made} of {len(lookups)}: {about_lookup(word, lookups, made - 1)}")
    draw_chips(lookup_chips(word, made))
    st.code(lookup_ladder(word, made), language=None, height=_height(made))
    if made == len(lookups):
        with st.expander("Every lookup as a table"):
            table(tables.lookup_table(word), "lookups")


@st.fragment
def _merges(word: BpeWord) -> None:
    total = len(word.merges)
    made = _stepper(spelled(word), total, "merge")
    say(f"Merge {made} of {total}: {about_merge(word, made - 1)}")
    draw_chips(merge_chips(word, made))
    st.code(merge_ladder(word, made), language=None, height=_height(made))
    if made == total:
        with st.expander("Every merge as a table"):
            table(tables.merge_table(word), "merges")


def _height(lines: int) -> int | Literal["content"]:
    return 480 if lines > 24 else "content"


def _stepper(name: str, total: int, noun: str) -> int:
    """Draw three buttons that walk through ``total`` lookups or merges; returns how many are done, at first all."""
    if total == 1:
        return 1
    at, made = st.session_state.get(_MADE, (name, total))
    made = min(made, total) if at == name else total

    def take(number: int) -> None:
        st.session_state[_MADE] = (name, number)

    with st.container(horizontal=True):
        icon, done = ":material/skip_next:", made >= total
        st.button(f"Next {noun}", key="_next_made", on_click=take, args=(made + 1,), disabled=done, icon=icon)
        st.button(f"All {count(total, noun)}", key="_all_made", on_click=take, args=(total,), disabled=done)
        st.button("Start over", key="_no_made", on_click=take, args=(1,), disabled=made <= 1, type="tertiary")
    return made
