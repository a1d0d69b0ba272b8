"""Pieces: how one word is cut, one lookup or merge at a time, and how the same rule cuts another word."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import streamlit as st
from tokenizers import Tokenizer, models

from lab.charts.tokens import tables
from lab.charts.tokens.ladder import lookup_chips, lookup_ladder, merge_chips, merge_ladder
from lab.course.words import quoted
from lab.lessons.tokenization import LESSON
from lab.lessons.tokenization.reading import Word, askable, count, joined, mistyped, question, reading_of, spelled
from lab.lessons.tokenization.toy import MERGE_STEP
from lab.lessons.tokenization.view import TokenizationView, choose_word, show_explained, show_rows
from lab.lessons.tokenization.words import about_lookup, about_merge, about_uncut
from lab.questions.asking import asks
from lab.questions.basis import bet, derivable
from lab.questions.question import Option, Question
from lab.questions.returning import Spot
from lab.text.tokenizers.bpe import BpeWord, byte_symbols
from lab.text.tokenizers.steps import tokenization_steps
from lab.text.tokenizers.wordpiece import WordSteps
from lab.ui.chips import draw_chips
from lab.ui.frame.closing import meaning
from lab.ui.quiz.predictions import ask_beside
from lab.ui.terms import say
from lab.ui.toys.toy_runs import link_to_toy

_MADE = "_lookups_made"
_SIGN = "☃"
_GERMAN = "Schmetterling"
# Words that small vocabularies have in pieces, if at all.
_OTHER_WORDS = (
    "unhappily",
    "replaying",
    "homeless",
    "footballers",
    "unreadable",
    "thankfully",
    "sleepless",
    "bookshops",
)


def said(word: Word) -> str:
    """Say what the model reads in place of a word."""
    name, read = quoted(spelled(word).strip("Ġ ")), joined(word.pieces)
    if isinstance(word, WordSteps) and word.unknown:
        return f"The model reads {read}. It cannot tell {name} from any other word that the vocabulary cannot build."
    if len(word.pieces) == 1:
        return f"{name} is in the vocabulary: it is one token, with the id {word.pieces[0].token_id:,}."
    return f"The model does not see {name}. It reads {read}: {len(word.pieces)} tokens that it knows from other words."


def another_language(tokenizer: Tokenizer) -> str:
    """Say what becomes of a German word, and that one vocabulary can serve many languages."""
    space = "" if isinstance(tokenizer.model, models.WordPiece) else " "
    (word,) = tokenization_steps(tokenizer, space + _GERMAN).words
    whole = len(word.pieces) == 1 and not (isinstance(word, WordSteps) and word.unknown)
    pieces = "is a token, too" if whole else f"becomes {joined(word.pieces)}"
    return (
        f"What about other languages? In this vocabulary, the German word {quoted(_GERMAN)} (butterfly) {pieces}. "
        "Multilingual BERT has one vocabulary of 119,547 pieces for 104 languages (Devlin et al. 2018)."
    )


@asks(
    basis=derivable(LESSON, "pieces", "the rule, and the lookups of a word"),
    hint="Which is the longest beginning of the word that the vocabulary has?",
)
def another_word(spot: Spot) -> Question | None:
    """Ask how WordPiece cuts a word that is not in the text; the other options are cuts that the vocabulary allows."""
    reading = reading_of(spot.trace)
    if reading is None or not isinstance(reading.tokenizer.model, models.WordPiece):
        return None
    for text in _OTHER_WORDS:
        (word,) = tokenization_steps(reading.tokenizer, text).words
        if isinstance(word, WordSteps) and len(word.pieces) > 1 and text not in spot.trace.text.lower():
            others = [cut for cut in _shorter_first(reading.tokenizer, word) if cut != joined(word.pieces)][:2]
            if len(others) == 2:
                return _how_it_is_cut(word, others)
    return None


def _shorter_first(tokenizer: Tokenizer, word: WordSteps) -> Iterator[str]:
    """Cuts of a word that begin with a shorter entry of the vocabulary than the longest, and go on by the rule."""
    for end in range(len(word.matches[0].candidate) - 1, 1, -1):
        first, rest = word.text[:end], word.text[end:]
        if tokenizer.token_to_id(first) is None:
            continue
        pieces = _by_the_rule(tokenizer, word.continuing_prefix, rest)
        if pieces:
            yield quoted(" · ".join([first, *pieces]))


def _by_the_rule(tokenizer: Tokenizer, prefix: str, rest: str) -> list[str]:
    """Cut the rest of a word by the longest entry that fits, again and again; nothing if that fails."""
    found: list[str] = []
    while rest:
        end = next(
            (end for end in range(len(rest), 0, -1) if tokenizer.token_to_id(prefix + rest[:end]) is not None), 0
        )
        if not end:
            return []
        found.append(prefix + rest[:end])
        rest = rest[end:]
    return found


def _how_it_is_cut(word: WordSteps, others: Sequence[str]) -> Question | None:
    right = joined(word.pieces)
    why = f"{quoted(word.matches[0].candidate)} is the longest beginning that is in the vocabulary."
    return question(
        "another-word",
        f"The vocabulary has all of these pieces. How does the tokenizer cut {quoted(word.text)}?",
        [
            Option(right, why, correct=True),
            *(Option(each, f"{why} The tokenizer takes the longest beginning that fits.") for each in others),
            Option("[UNK], because the word is missing", f"{why} Only a word that no pieces can build becomes [UNK]."),
        ],
    )


@asks(
    basis=bet("Words are cut where their meaning has parts.", "A rule that knows only spellings cuts the words."),
    hint="Does the tokenizer know anything about words, or does it only follow a rule?",
    returns=3,
)
def why_this_cut(spot: Spot) -> Question | None:
    """Ask why a word is cut at this place, though the vocabulary allows another cut."""
    reading = reading_of(spot.trace)
    for word in () if reading is None else reading.words:
        if not askable(word) or len(word.pieces) < 2 or not word.text.strip().isalnum():
            continue
        asked = (
            _why_longest(spot.trace.model.tokenizer.model, word) if isinstance(word, WordSteps) else _why_first(word)
        )
        if asked is not None:
            return asked
    return None


def _why_longest(model: models.Model, word: WordSteps) -> Question | None:
    first = word.matches[0].candidate
    ends = range(len(first) - 1, 0, -1)
    shorter = next((first[:end] for end in ends if model.token_to_id(first[:end]) is not None), None)
    if shorter is None:
        return None
    why = "The tokenizer takes the longest entry that fits, again and again."
    return question(
        "why-this-cut",
        f"{quoted(word.text)} begins with the token {quoted(first)}. The vocabulary also has {quoted(shorter)}. Why "
        "does the tokenizer take the longer one?",
        [
            Option("The tokenizer always takes the longest entry that fits", why, correct=True),
            Option("The longer one has its own meaning", f"The tokenizer knows neither meanings nor grammar. {why}"),
            Option(
                "The longer one is more frequent in texts",
                f"The number of times an entry occurs does not matter here. {why}",
            ),
        ],
    )


def _why_first(word: BpeWord) -> Question | None:
    if len(word.merges) < 2:
        return None
    first, then = word.merges[:2]
    why = f"It was learned earlier: its rank is {first.rank}, and the rank of the other pair is {then.rank}."
    return question(
        "why-this-cut",
        f"In {quoted(spelled(word))}, {quoted(first.left)} + {quoted(first.right)} is joined before "
        f"{quoted(then.left)} + {quoted(then.right)}. Why?",
        [
            Option("It was learned earlier", why, correct=True),
            Option("It makes a part that has a meaning", f"The tokenizer knows no meanings. {why}"),
            Option("Pairs are joined from left to right", f"The place of a pair in the word does not matter. {why}"),
        ],
    )


@asks(
    basis=derivable(LESSON, "pieces", "the rule, and the pieces of a word"),
    hint="Is the sign in the vocabulary? If not, of which smaller parts is it made?",
)
def unknown_sign(spot: Spot) -> Question | None:
    """Ask what the model reads for a sign that hardly any text contains."""
    reading, tokenizer = reading_of(spot.trace), spot.trace.model.tokenizer
    found = tokenizer.encode(f" {_SIGN}", add_special_tokens=False)
    lost, several = spot.trace.model.unknown in found.ids, len(found.ids) > 1
    if reading is None or any(_SIGN in steps.text for steps in reading.texts):
        return None
    why = f"It reads {quoted(' · '.join(found.tokens))}."
    if lost:
        why += (
            " The model would read the same token for every other sign that is not in the vocabulary, so it cannot "
            f"know that you typed {_SIGN}."
        )
    elif several:
        why += " Every text is made of bytes, and each byte is in the vocabulary, so nothing is lost."
    return question(
        "unknown-sign",
        f"You add the sign {_SIGN} to your text. What does the model read there?",
        [
            Option("One token that also replaces other unknown signs", why, correct=lost),
            Option("The bytes in which the sign is stored", why, correct=several and not lost),
            Option("A separate token for this sign", why, correct=not lost and not several),
            Option(
                "Nothing: it is left out",
                f"{why} Only signs that nobody can see, such as control characters, are left out.",
            ),
        ],
    )


def show(view: TokenizationView) -> None:
    """Show how one word is cut, from the first try to the last, and ask how another word is cut."""
    if not show_explained(view):
        return
    typo = None if any(len(word.pieces) > 1 for word in view.reading.words) else mistyped(view.reading)
    word = choose_word([*view.reading.words, *([typo.wrong] if typo else [])])
    if word is None:
        say("After normalization, nothing of this text is left to cut.")
        return
    if typo is not None and word == typo.wrong:
        say(
            "The words of the sentence are all in the vocabulary. So here is a word with a typing error, which is not "
            "in the "
            f"vocabulary: {quoted(typo.wrong.text.strip())} for {quoted(typo.word)}. The model reads its pieces."
        )
    else:
        say("No vocabulary has every word. If a word is missing, the model reads its pieces.")
    _show_cut(view, word)
    meaning(said(word))
    ask_beside(LESSON, another_word(Spot.of(view.trace)))
    say(another_language(view.reading.tokenizer))
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


def _rule(word: Word) -> str:
    if not isinstance(word, BpeWord):
        return (
            "**WordPiece**, the tokenizer of BERT, finds the longest beginning of the word that is in the vocabulary. "
            f"Then it does the same with the rest. {quoted(word.continuing_prefix)} marks a piece that continues a "
            "word. If a word has a character that no piece contains, the whole word becomes one token, [UNK]."
        )
    space = byte_symbols()[0x20]
    return (
        "**Byte-pair encoding**, the tokenizer of GPT-2, starts with single bytes. It "
        "has a list of pairs to join, in the order in which they were learned. Of all neighbours in the word, it joins "
        "the pair that was learned first. It continues until no pair of neighbours is in the list."
        + (f" {quoted(space)} is the sign for a space." if space in word.symbols else "")
    )


@st.fragment
def _show_lookups(word: WordSteps) -> None:
    lookups = word.lookups
    made = _choose_made(word.text, len(lookups), "lookup")
    say(f"Lookup {made} of {len(lookups)}: {about_lookup(word, lookups, made - 1)}")
    draw_chips(lookup_chips(word, made))
    st.code(lookup_ladder(word, made), language=None, height=_height(made))
    if made == len(lookups):
        with st.expander("Every lookup as a table"):
            show_rows(tables.lookup_table(word), "lookups")


@st.fragment
def _show_merges(word: BpeWord) -> None:
    total = len(word.merges)
    made = _choose_made(spelled(word), total, "merge")
    say(f"Merge {made} of {total}: {about_merge(word, made - 1)}")
    draw_chips(merge_chips(word, made))
    st.code(merge_ladder(word, made), language=None, height=_height(made))
    if made == total:
        with st.expander("Every merge as a table"):
            show_rows(tables.merge_table(word), "merges")


def _height(lines: int) -> int | Literal["content"]:
    return 480 if lines > 24 else "content"


def _choose_made(name: str, total: int, noun: str) -> int:
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
