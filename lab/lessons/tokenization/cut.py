"""Cut: the text before any word is looked up: spellings are unified, and the text is cut into pre-tokens."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from lab.charts.tokens import tables
from lab.charts.tokens.encoding import pre_token_chips
from lab.course.words import quoted
from lab.lessons.tokenization import LESSON
from lab.lessons.tokenization.reading import TextReading, Word, askable, bare, count, question, reading_of
from lab.lessons.tokenization.view import TokenizationView, choose_word, show_explained, show_plain, show_rows
from lab.lessons.tokenization.words import STAGES
from lab.questions.asking import asks
from lab.questions.basis import derivable
from lab.questions.question import Option, Question
from lab.questions.returning import Spot
from lab.text.tokenizers.bpe import BpeSteps
from lab.text.tokenizers.steps import TokenizationSteps
from lab.text.tokenizers.wordpiece import WordPieceSteps, WordSteps
from lab.ui.chips import draw_chips
from lab.ui.frame.closing import meaning, try_this
from lab.ui.parameters import TEXT
from lab.ui.tables import show_table
from lab.ui.terms import say

_CAFES = "CAFÉ café Café"


def said(reading: TextReading) -> str:
    """Say which spelling the model reads in place of the typed spelling, and how many pre-tokens there are."""
    between = sum(len(steps.text.split()) for steps in reading.texts)
    parts = f"{count(between, 'word')} between spaces became {count(len(reading.words), 'pre-token')}"
    signs = sum(not any(character.isalnum() for character in word.text) for word in reading.words)
    why = (
        ", because a punctuation mark or another sign is cut off from its word"
        if signs and len(reading.words) > between
        else ""
    )
    return f"{_spellings(reading)} {parts}{why}."


def _spellings(reading: TextReading) -> str:
    """Say how normalization changes the typed words."""
    words = [(steps.text[slice(*word.span)].strip(), word) for steps in reading.texts for word in steps.words]
    typed, read = {each for each, _ in words}, {bare(word) for _, word in words}
    if len(read) < len(typed):
        return (
            f"The text has {len(typed)} spellings, but the model sees only {len(read)}. So spellings that differ for "
            "you can be the same word to the model."
        )
    changed = next(((each, word.text) for each, word in words if _respelled(each, word) and askable(word)), None)
    if changed is not None:
        return f"The text has {quoted(changed[0])}, and the model reads {quoted(changed[1])}."
    if all(isinstance(word, WordSteps) for _, word in words):
        return "Every spelling stays the same."
    return "This model keeps capitals and accents, so “She” and “she” are two words to it."


def _respelled(typed: str, word: Word) -> bool:
    return isinstance(word, WordSteps) and typed != word.text


@asks(
    basis=derivable(LESSON, "cut", "the spellings below the boxes"),
    hint="What does this model do with “She” before it looks up the word?",
    returns=2,
)
def in_capitals(spot: Spot) -> Question | None:
    """Ask whether the model reads other ids if a word of the text is typed in capitals."""
    reading = reading_of(spot.trace)
    for word in () if reading is None else reading.words:
        small = word.text.strip()
        if not (askable(word) and len(word.pieces) == 1 and small.isascii() and small.isalpha() and small.islower()):
            continue
        if len(small) < 3 or (isinstance(word, WordSteps) and word.unknown):
            continue
        tokens = spot.trace.model.tokenizer.encode(f" {small.upper()}", add_special_tokens=False).tokens
        same = tuple(tokens) == tuple(piece.token for piece in word.pieces)
        capitals = quoted(small.upper())
        why = (
            f"Normalization turns it into small letters before the lookup, so to this model it is {quoted(small)}."
            if same
            else f"This model keeps capitals. It reads {capitals} as {quoted(' · '.join(tokens))}."
        )
        return question(
            "in-capitals",
            f"You shout: you type {capitals} instead of {quoted(small)}. What does the model notice?",
            [
                Option("Nothing: it reads the same id", why, correct=same),
                Option("It reads different ids", why, correct=not same),
                Option("It reads the same id, and a sign for capitals", f"{why} There is no sign for capitals."),
            ],
        )
    return None


def show(view: TokenizationView) -> None:
    """Show how a text is prepared before a word is looked up: spellings are unified, and the text is cut."""
    if not show_explained(view):
        return
    say(_rule(view.reading.texts[0]) if view.reading.texts else "")
    for name, steps in _named(view.reading.texts):
        if name:
            say(f"### {name}")
        draw_chips(pre_token_chips(steps))
    st.caption("Each box is a pre-token. If the model reads a different spelling, it is shown below yours.")
    meaning(said(view.reading))
    try_this("one word in three spellings. Are they one word to the model?", "Take CAFÉ café Café", {TEXT: _CAFES})
    with st.expander("What happens to each character", on_change="rerun", key="_each_character") as stages:
        if stages.open:
            for place, (name, steps) in enumerate(_named(view.reading.texts)):
                _show_characters(view, name, steps)
                show_rows(tables.pre_token_table(steps), f"pre-tokens-{place + 1}")
    if any(isinstance(steps, BpeSteps) for steps in view.reading.texts):
        _show_bytes(view)


def _named(texts: Sequence[TokenizationSteps]) -> list[tuple[str, TokenizationSteps]]:
    names = ["First text", "Second text"] if len(texts) > 1 else [""]
    return list(zip(names, texts, strict=True))


def _rule(steps: TokenizationSteps) -> str:
    if isinstance(steps, BpeSteps):
        return (
            "Before a word is looked up, the text is cut into **pre-tokens**. Letters, digits and other signs are "
            "separated, and **a space belongs to the word after it**. No token crosses one of these cuts."
        )
    return (
        "Before a word is looked up, two things happen. **Normalization** unifies spellings, so that the vocabulary "
        "needs only one entry for all of them. Then the text is cut at spaces and around punctuation marks. The parts "
        "are called **pre-tokens**. No token crosses one of these cuts."
    )


def _show_characters(view: TokenizationView, name: str, steps: TokenizationSteps) -> None:
    """Show the normalization of one text, stage by stage; a tokenizer of bytes has one stage."""
    if name:
        say(f"### {name}")
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
        found = tables.changes(stage.before, spans, stage.after, stage.spans)
        spans = stage.spans
        if not found:
            say(f":gray[:material/remove:] **{title}** changes nothing here. {what}")
            continue
        changed = sum(change.times for change in found)
        say(f":material/edit: **{title}** changes {count(changed, 'character')}. {what}")
        left, right = st.columns([3, 2])
        with left:
            show_plain(stage.after)
        right.dataframe(tables.change_table(found), hide_index=True, height="auto" if len(found) < 6 else 240)
    off = [title for name, (title, _) in STAGES.items() if name not in {stage.name for stage in steps.stages}]
    if off:
        say(f"This tokenizer does not use these stages: {', '.join(off).lower()}.")


def _show_bytes(view: TokenizationView) -> None:
    """Explain why the model reads bytes, and which sign is written for each byte."""
    with st.expander("Why this model reads bytes", on_change="rerun", key="_bytes") as why:
        if not why.open:
            return
        told = (
            f"{view.model} cuts words by **byte-pair encoding**, **BPE** for short. BPE starts with single bytes and "
            "joins neighbours again and again, as the step **Pieces** shows. A printable byte is written as itself. "
            "Every other byte is written as some other letter: a space, for example, becomes “Ġ”. From lesson 2 on, "
            "the lab writes “␣” for it."
        )
        say(told)
        word = choose_word(view.reading.words)
        if word is not None:
            show_table(tables.character_bytes_table(word.text), numbered=True)
        show_rows(tables.byte_table(), "bytes")
