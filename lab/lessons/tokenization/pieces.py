"""Pieces: how one word is cut, one lookup or merge at a time, and how the same rule cuts another word."""

from __future__ import annotations

from typing import Literal

import streamlit as st
from tokenizers import Tokenizer, models

from lab.charts.tokens import token_tables
from lab.charts.tokens.token_tables import lookup_chips, lookup_ladder, merge_chips, merge_ladder
from lab.course.words import quoted
from lab.lessons.tokenization import LESSON
from lab.lessons.tokenization.stage_texts import about_lookup, about_merge, about_uncut
from lab.lessons.tokenization.toy import MERGE_STEP
from lab.lessons.tokenization.view import (
    TextReading,
    TokenizationView,
    Word,
    choose_word,
    count,
    joined,
    show_explained,
    show_rows,
    spelled,
)
from lab.questions.asking import asks
from lab.questions.question import Option, Question, bet, derivable
from lab.text.tokenizers.bpe import BpeWord, byte_symbols
from lab.text.tokenizers.explained import tokenization_steps
from lab.text.tokenizers.wordpiece import WordSteps
from lab.ui.quiz.step_questions import ask_beside
from lab.ui.screen import draw_chips, meaning, say
from lab.ui.toys.toy_runs import link_to_toy

_MADE = "_lookups_made"
# A word for a text whose words are all in the vocabulary: the first of these that becomes pieces.
RARE = ("Mauritania", "Schmetterling")
IDEA = "No vocabulary has every word. If a word is missing, the model reads its pieces."
WHOLE = """
No vocabulary has every word. All words of this text are in it, so here is one that is not: *{word}*."""
WORDPIECE = """
**WordPiece**, the tokenizer of BERT, finds the longest beginning of the word that is in the vocabulary. Then it does
the same with the rest. {mark} marks a piece that continues a word. If a word has a character that no piece contains,
the whole word becomes one token, [UNK]."""
BPE = """
**Byte-pair encoding**, the tokenizer of GPT-2, starts with single bytes. It has a list of pairs to join, in the order
in which they were learned. Of all neighbours in the word, it joins the pair that was learned first, until no pair of
neighbours is in the list."""
SPACE = " {sign} is the sign for a space."
ONE = "{word} is in the vocabulary: it is one token, with the id {id:,}."
SEVERAL = "The model does not see {word}. It reads {pieces}: {count} tokens of its list."
UNKNOWN = "The model reads {pieces}. It cannot tell {word} from any other word that the vocabulary cannot build."
LANGUAGES = """
**Other languages?** In this vocabulary, the German word *Schmetterling* (butterfly) becomes {pieces}. Multilingual
BERT (cased) has one vocabulary of 119,547 pieces for 104 languages (Devlin et al. 2018)."""


def show(view: TokenizationView) -> None:
    """Show how one word is cut, from the first try to the last, and ask how another word is cut."""
    if not show_explained(view):
        return
    brought = rare(view.reading)
    word = choose_word([*view.reading.words, *([brought] if brought else [])])
    if word is None:
        say("After normalization, nothing of this text is left to cut.")
        return
    say(WHOLE.format(word=word.text.strip().title()) if word == brought else IDEA)
    _show_cut(view, word)
    meaning(said(word))
    ask_beside(LESSON, another_word())
    say(LANGUAGES.format(pieces=joined(cut_alone(view.reading.tokenizer, RARE[1]).pieces)))
    link_to_toy("Where does a vocabulary come from? Watch how one is learned", MERGE_STEP)


def _show_cut(view: TokenizationView, word: Word) -> None:
    """Show the rule, and the lookups or merges of a word, or the reason why it is not cut."""
    say(_rule(word))
    model = view.reading.tokenizer.model
    why = about_uncut(word, model.max_input_chars_per_word if isinstance(model, models.WordPiece) else 0)
    if why is not None:
        say(why)
    elif isinstance(word, WordSteps):
        _show_lookups(word)
    else:
        _show_merges(word)


@st.fragment
def _show_lookups(word: WordSteps) -> None:
    lookups = word.lookups
    made = _choose_made(word.text, len(lookups), "lookup")
    say(f"Lookup {made} of {len(lookups)}: {about_lookup(word, lookups, made - 1)}")
    draw_chips(lookup_chips(word, made))
    st.code(lookup_ladder(word, made), language=None, height=_height(made))
    if made == len(lookups):
        with st.expander("Every lookup as a table"):
            show_rows(token_tables.lookup_table(word), "lookups")


@st.fragment
def _show_merges(word: BpeWord) -> None:
    total = len(word.merges)
    made = _choose_made(spelled(word), total, "merge")
    say(f"Merge {made} of {total}: {about_merge(word, made - 1)}")
    draw_chips(merge_chips(word, made))
    st.code(merge_ladder(word, made), language=None, height=_height(made))
    if made == total:
        with st.expander("Every merge as a table"):
            show_rows(token_tables.merge_table(word), "merges")


@asks(
    basis=derivable(LESSON, "pieces", "the rule, and the lookups of a word"),
    hint="Which is the longest beginning of the word that the vocabulary has?",
)
def another_word() -> Question:
    """Ask how WordPiece cuts a word whose parts the vocabulary has in several sizes."""
    return Question(
        "another-word",
        "The vocabulary of lab-minilm has *paris*, *parisian*, *##ian*, *##ians* and *##s*, but not *parisians*. How "
        "is *Parisians* cut?",
        (
            Option(
                "paris · ##ians",
                "*paris* is the word that you know best. But a longer beginning is in the vocabulary, and the "
                "tokenizer takes the longest.",
            ),
            Option(
                "parisian · ##s",
                "*parisian* is the longest beginning that is in the vocabulary, and *##s* continues it.",
                correct=True,
            ),
            Option(
                "paris · ##ian · ##s",
                "Each piece has a meaning, so a linguist might cut here. The tokenizer takes the longest beginning.",
            ),
        ),
        mixed=True,
    )


@asks(
    basis=bet("Words are cut where their meaning has parts.", "A rule that knows only spellings cuts the words."),
    hint="Which pieces can stand in the middle of a word? Look at their first two signs.",
)
def why_this_cut() -> Question:
    """Ask why a word is not cut where its meaning has parts."""
    return Question(
        "why-this-cut",
        "The vocabulary of lab-minilm has *un* and *happily*. Yet *unhappily* becomes un · ##ha · ##pp · ##ily. Why?",
        (
            Option(
                "Inside a word, only pieces with ## fit, and ##happily is none",
                "*happily* is a token for the beginning of a word. To continue a word, the vocabulary would need "
                "*##happily*, which it does not have.",
                correct=True,
            ),
            Option(
                "The four pieces are the syllables",
                "It looks so. But the tokenizer knows nothing about sounds: it looks up beginnings, the longest first.",
            ),
            Option(
                "*unhappily* has another meaning than *happily*",
                "It has. But the tokenizer knows no meanings, only the list of tokens.",
            ),
        ),
        mixed=True,
    )


@asks(
    basis=derivable(LESSON, "pieces", "the rule, and the pieces of a word"),
    hint="Is the sign in the vocabulary? What becomes of a word that no pieces can build?",
)
def unknown_sign() -> Question:
    """Ask what the model reads for a sign that is in no token."""
    return Question(
        "unknown-sign",
        "You type a snowman, ☃, which no token of lab-minilm contains. What does the model read there?",
        (
            Option(
                "The bytes in which the computer stores the sign",
                "This is how GPT-2 reads it, so it loses nothing. WordPiece has no bytes to fall back on.",
            ),
            Option(
                "Nothing: the sign is left out",
                "Control characters, accents and � are left out. This sign stays.",
            ),
            Option(
                "[UNK], as for any other sign that it does not know",
                "Nothing can build the sign, so it becomes [UNK]. The model cannot know that it was a snowman.",
                correct=True,
            ),
        ),
        mixed=True,
    )


def said(word: Word) -> str:
    """Say what the model reads in place of a word."""
    name, read = quoted(spelled(word).strip("Ġ ")), joined(word.pieces)
    if isinstance(word, WordSteps) and word.unknown:
        return UNKNOWN.format(pieces=read, word=name)
    if len(word.pieces) == 1:
        return ONE.format(word=name, id=word.pieces[0].token_id)
    return SEVERAL.format(word=name, pieces=read, count=len(word.pieces))


def cut_alone(tokenizer: Tokenizer, text: str) -> Word:
    """Cut one word, as it would be cut inside a text."""
    space = "" if isinstance(tokenizer.model, models.WordPiece) else " "
    (word,) = tokenization_steps(tokenizer, space + text).words
    return word


def rare(text: TextReading) -> Word | None:
    """Return a word that becomes pieces, if no word of the text does; None if one does, or none is found."""
    if any(len(word.pieces) > 1 for word in text.words):
        return None
    return next((word for each in RARE if len((word := cut_alone(text.tokenizer, each)).pieces) > 1), None)


def _rule(word: Word) -> str:
    if isinstance(word, BpeWord):
        space = byte_symbols()[0x20]
        return BPE + SPACE.format(sign=quoted(space)) * (space in word.symbols)
    return WORDPIECE.format(mark=quoted(word.continuing_prefix))


def _height(lines: int) -> int | Literal["content"]:
    return 480 if lines > 24 else "content"


def _choose_made(name: str, total: int, noun: str) -> int:
    """Draw three buttons that walk through ``total`` lookups or merges; returns how many are done, at first one."""
    if total == 1:
        return 1
    at, made = st.session_state.get(_MADE, (name, 1))
    made = min(made, total) if at == name else 1

    def take(number: int) -> None:
        st.session_state[_MADE] = (name, number)

    with st.container(horizontal=True):
        icon, done = ":material/skip_next:", made >= total
        st.button(f"Next {noun}", key="_next_made", on_click=take, args=(made + 1,), disabled=done, icon=icon)
        st.button(f"All {count(total, noun)}", key="_all_made", on_click=take, args=(total,), disabled=done)
        st.button("Start over", key="_no_made", on_click=take, args=(1,), disabled=made <= 1, type="tertiary")
    return made
