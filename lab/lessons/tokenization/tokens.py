"""Tokens: the whole input, cut into the pieces whose ids the model reads, and what happens before any look-up."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from lab.charts.tokens import token_tables
from lab.charts.tokens.token_chips import encoding_chips, pre_token_chips
from lab.course.pages import step_name
from lab.course.sentences.looks import is_story
from lab.course.words import quoted
from lab.lessons.tokenization import LESSON
from lab.lessons.tokenization.stage_texts import STAGES
from lab.lessons.tokenization.view import (
    TextReading,
    TokenizationView,
    choose_word,
    count,
    hardest,
    joined,
    show_plain,
    show_rows,
    spelled,
    token_table,
)
from lab.questions.asking import asks
from lab.questions.question import Option, Question, bet, derivable
from lab.text.tokenizers.bpe import BpeSteps
from lab.text.tokenizers.explained import TokenizationSteps
from lab.text.tokenizers.wordpiece import WordPieceSteps
from lab.toy.data import ToyData
from lab.ui.parameters import TEXT
from lab.ui.quiz.step_questions import ask_beside
from lab.ui.screen import draw_chips, meaning, say, show_table, try_this
from lab.ui.toys.toy_controls import show_validation

CAFES = "CAFÉ café Café"
IDEA = """
The **tokenizer** cuts the text into **tokens**, and looks each of them up in a fixed list, the **vocabulary**. The list
of {model} has {size:,} tokens. The model gets only the number of each token in this list, its **id**."""
CAPTION = "The number below a token is its id. The number above it counts the tokens from 1."
DASHED = " The tokenizer adds the tokens in dashed frames: marks for where a text begins and ends."
READING = "All that the model gets of the text are {ids}, and the places of the tokens{pair}."
PAIR = "; of a pair, also the text to which each token belongs"
CUT = " {word} is not in its vocabulary, so it becomes {pieces}."
WRITTEN = (
    " It reads *france*, not *France*: this tokenizer writes all letters small, and drops accents. ▢ is a token, too: "
    "[MASK], which hides a word, as in the texts from which BERT learned. Which word belongs there? The model has to "
    "find out from these ids and their places."
)
CHECKED = """
A toy’s sentences must pass these checks. Here, your text is checked in the same way, and each word is written as its
id. The last check fails, because no text contains every token of the vocabulary."""


def show(view: TokenizationView) -> None:
    """Show the whole input, cut into tokens, with the ids that the model reads."""
    trace, encoding = view.trace, view.trace.encoding
    say(IDEA.format(model=view.model, size=trace.model.config.vocabulary))
    draw_chips(encoding_chips(encoding), ids=encoding.token_ids)
    st.caption(CAPTION + DASHED * any(encoding.special))
    if not ask_beside(LESSON, next_in_the_list()):
        return
    meaning(reading(view.reading) + WRITTEN * is_story(trace))
    try_this("one word in three spellings.", f"Take {CAFES}", {TEXT: CAFES})
    show_spellings(view)
    with st.expander("Every token in a table", icon=":material/table:", on_change="rerun", key="_tokens_table") as all:
        if all.open:
            rows = partial(token_table, trace)
            show_rows(rows(), "tokens", rows)
    config = trace.model.config
    show_validation(
        ToyData((tuple(encoding.token_ids),), config.vocabulary, config.max_tokens, 1, 0, first=0), numbers=CHECKED
    )


@asks(
    basis=bet("Tokens with neighbouring ids have something in common.", "An id is only a place in a list."),
    hint="Who would have to sort more than 30,000 tokens by their meaning?",
)
def next_in_the_list() -> Question:
    """Ask which token comes after *france* in the vocabulary."""
    return Question(
        "next-in-the-list",
        "In the vocabulary of lab-minilm, *france* has the id 2,605. Which token has the id 2,606?",
        (
            Option(
                "*germany*: the list is sorted by meaning",
                "Nobody sorted the list by meaning: *germany* has the id 2,762. What makes the two alike is in the "
                "numbers that the model has learned for them (lesson 2).",
            ),
            Option(
                "*frances*: the list is sorted like a dictionary",
                "The list of a dictionary would be sorted so. Here, *frances* has the id 10,360.",
            ),
            Option(
                "*hair*: the list is sorted in neither way",
                "An id is only a place in a list. It says nothing about what a token means.",
                correct=True,
            ),
        ),
        mixed=True,
    )


@asks(
    basis=derivable(LESSON, "tokens", "what the tokenizer does to letters"),
    hint="What does this tokenizer do to letters before it looks up a word?",
)
def in_capitals() -> Question:
    """Ask what changes for the model if a text is typed in capitals."""
    return Question(
        "in-capitals",
        "Somebody shouts at lab-minilm: *PARIS IS IN FRANCE!* What does it read other than in *Paris is in France!*?",
        (
            Option(
                "Nothing: the ids are the same",
                "All letters are written small before any word is looked up, so both texts give the same ids.",
                correct=True,
            ),
            Option(
                "Other ids: *FRANCE* is another token than *France*",
                "GPT-2 keeps capitals, so it reads other ids there. This tokenizer makes *france* of both.",
            ),
            Option(
                "The same ids, and a mark for capitals",
                "Then less would be lost. But the model gets one id for each token, and no other marks.",
            ),
        ),
        mixed=True,
    )


def reading(text: TextReading) -> str:
    """Say how many ids the model reads, and into which pieces the word falls that is cut most."""
    pair = PAIR if len(text.texts) > 1 else ""
    told, words = READING.format(ids=count(len(text.encoding), "id"), pair=pair), text.words
    at = hardest(words)
    if at is None or len(words[at].pieces) < 2:
        return told
    return told + CUT.format(word=quoted(spelled(words[at]).removeprefix("Ġ")), pieces=joined(words[at].pieces))


WORDPIECE = """
**Normalization** unifies spellings, so that the vocabulary needs one entry for all of them. Then the text is cut at
spaces and around punctuation marks, into **pre-tokens**. No token crosses one of these cuts."""
BYTES = """
The text is cut into **pre-tokens**: letters, digits and other signs are separated, and **a space belongs to the word
after it**. No token crosses one of these cuts."""
BPE = """
{model} cuts words by **byte-pair encoding**, **BPE** for short: it starts with single bytes, and joins neighbours again
and again (**{pieces}**). A printable byte is written as itself, and every other byte as some other letter: a space as
“Ġ”. From lesson 2 on, the lab writes “␣” for it."""


def show_spellings(view: TokenizationView) -> None:
    """Offer, folded, what normalization and the cut into pre-tokens do to this text."""
    if view.foreign or not view.reading.texts:
        return
    of_bytes = any(isinstance(steps, BpeSteps) for steps in view.reading.texts)
    with st.expander("Before a word is looked up", on_change="rerun", key="_each_character") as before:
        if before.open:
            say(BYTES if of_bytes else WORDPIECE)
            for place, (name, steps) in enumerate(_named(view.reading.texts)):
                if name:
                    say(f"### {name}")
                draw_chips(pre_token_chips(steps))
                _show_characters(view, steps)
                show_rows(token_tables.pre_token_table(steps), f"pre-tokens-{place + 1}")
            if of_bytes:
                _show_bytes(view)


def _named(texts: Sequence[TokenizationSteps]) -> list[tuple[str, TokenizationSteps]]:
    names = ["First text", "Second text"] if len(texts) > 1 else [""]
    return list(zip(names, texts, strict=True))


def _show_characters(view: TokenizationView, steps: TokenizationSteps) -> None:
    """Show the normalization of one text, stage by stage; a tokenizer of bytes has one stage."""
    if isinstance(steps, WordPieceSteps):
        _show_stages(steps)
        return
    show_plain(steps.text)
    characters, read = count(len(steps.composed), "character"), count(len(steps.composed.encode()), "byte")
    changed = "changes no character"
    if steps.composed != steps.text:
        changed = "joins each letter and its accents into one character (NFC)"
    say(f"{view.model} {changed}. It reads the {characters} as {read} of UTF-8.")


def _show_stages(steps: WordPieceSteps) -> None:
    say("You typed:")
    show_plain(steps.text)
    spans = tuple((i, i + 1) for i in range(len(steps.text)))
    for stage in steps.stages:
        title, what = STAGES[stage.name]
        found = token_tables.changes(stage.before, spans, stage.after, stage.spans)
        spans = stage.spans
        if not found:
            say(f":gray[:material/remove:] **{title}** changes nothing here. {what}")
            continue
        changed = sum(change.times for change in found)
        say(f":material/edit: **{title}** changes {count(changed, 'character')}. {what}")
        left, right = st.columns([3, 2])
        with left:
            show_plain(stage.after)
        right.dataframe(token_tables.change_table(found), hide_index=True, height="auto" if len(found) < 6 else 240)
    off = [title for name, (title, _) in STAGES.items() if name not in {stage.name for stage in steps.stages}]
    if off:
        say(f"This tokenizer does not use these stages: {', '.join(off).lower()}.")


def _show_bytes(view: TokenizationView) -> None:
    """Explain why the model reads bytes, and which sign is written for each byte."""
    say(BPE.format(model=view.model, pieces=step_name(LESSON, "pieces")))
    word = choose_word(view.reading.words)
    if word is not None:
        show_table(token_tables.character_bytes_table(word.text), numbered=True)
    show_rows(token_tables.byte_table(), "bytes")
