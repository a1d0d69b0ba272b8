"""What happens to a text before any word is looked up: spellings are unified, and the text is cut into pre-tokens."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from lab.charts.tokens import token_tables
from lab.charts.tokens.encoding_chips import pre_token_chips
from lab.lessons.tokenization.lesson_input import count
from lab.lessons.tokenization.stage_texts import STAGES
from lab.lessons.tokenization.view import TokenizationView, choose_word, show_plain, show_rows
from lab.text.tokenizers.bpe import BpeSteps
from lab.text.tokenizers.explained import TokenizationSteps
from lab.text.tokenizers.wordpiece import WordPieceSteps
from lab.ui.chips import draw_chips
from lab.ui.page_table import show_table
from lab.ui.terms import say

WORDPIECE = """
**Normalization** unifies spellings, so that the vocabulary needs one entry for all of them. Then the text is cut at
spaces and around punctuation marks, into **pre-tokens**. No token crosses one of these cuts."""
BYTES = """
The text is cut into **pre-tokens**: letters, digits and other signs are separated, and **a space belongs to the word
after it**. No token crosses one of these cuts."""
BPE = """
{model} cuts words by **byte-pair encoding**, **BPE** for short: it starts with single bytes, and joins neighbours again
and again (next step). A printable byte is written as itself, and every other byte as some other letter: a space as “Ġ”.
From lesson 2 on, the lab writes “␣” for it."""


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
    say(BPE.format(model=view.model))
    word = choose_word(view.reading.words)
    if word is not None:
        show_table(token_tables.character_bytes_table(word.text), numbered=True)
    show_rows(token_tables.byte_table(), "bytes")
