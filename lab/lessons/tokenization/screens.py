"""The screens of the tokenization lesson, one function per step; the step that cuts a word is in ``pieces.py``."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from lab.charts.tokens import tables
from lab.charts.tokens.encoding import encoding_chips, pre_token_chips
from lab.course.sentences.examples import example_named
from lab.course.words import quoted
from lab.lessons.tokenization import LESSON, meanings
from lab.lessons.tokenization.checks import all_checks
from lab.lessons.tokenization.figures import token_table
from lab.lessons.tokenization.reading import count
from lab.lessons.tokenization.view import TokenizationView, choose_word, explained, plain, table
from lab.lessons.tokenization.words import STAGES, special_tokens
from lab.text.tokenizers.bpe import BpeSteps
from lab.text.tokenizers.steps import TokenizationSteps
from lab.text.tokenizers.wordpiece import WordPieceSteps
from lab.toy.data import ToyData
from lab.ui.chips import draw_chips
from lab.ui.frame.closing import meaning, try_this
from lab.ui.parameters import TEXT
from lab.ui.quiz.asking import draw_checks
from lab.ui.tables import show_table
from lab.ui.terms import say
from lab.ui.toys.steps import show_validation

_RARE = example_named("A rare word").text
_CAFES = "CAFÉ café Café"


def show_tokens(view: TokenizationView) -> None:
    """Show the whole input, cut into tokens, with the ids that the model reads."""
    say(
        "A model cannot read letters. So your text is cut into pieces, called **tokens**, and each token is looked up "
        f"in a fixed list, the **vocabulary**. {view.model}, the model on screen, knows "
        f"{view.trace.model.config.vocabulary:,} tokens. The model gets only each token’s number in this list, its "
        "**id**. Neighbours in the list need not have anything in common."
    )
    encoding = view.trace.encoding
    draw_chips(encoding_chips(encoding), ids=encoding.token_ids)
    dashed = " The model added the tokens in dashed frames." if any(encoding.special) else ""
    st.caption(f"The number below a token is its id. The number above it counts the tokens from 1.{dashed}")
    meaning(meanings.whole_and_cut(view.reading))
    try_this("longer words. How many pieces do they become?", "Take a sentence with rare words", {TEXT: _RARE})
    with st.expander("Every token in a table", icon=":material/table:", on_change="rerun", key="_tokens_table") as all:
        if all.open:
            rows = partial(token_table, view.trace)
            table(rows(), "tokens", rows)
    config = view.trace.model.config
    show_validation(
        ToyData((tuple(encoding.token_ids),), config.vocabulary, config.max_tokens, 1, 0, first=0),
        numbers="A toy’s sentences must pass these checks. Here your text is checked in the same way; each word is "
        "written as its id. The last check fails, because no text contains every token of the vocabulary.",
    )


def _named(texts: Sequence[TokenizationSteps]) -> list[tuple[str, TokenizationSteps]]:
    names = ["First text", "Second text"] if len(texts) > 1 else [""]
    return list(zip(names, texts, strict=True))


def show_cut(view: TokenizationView) -> None:
    """Show how a text is prepared before a word is looked up: spellings are unified, and the text is cut."""
    if not explained(view):
        return
    say(_rule(view.reading.texts[0]) if view.reading.texts else "")
    for name, steps in _named(view.reading.texts):
        if name:
            say(f"### {name}")
        draw_chips(pre_token_chips(steps))
    st.caption("Each box is a pre-token. If the model reads a different spelling, it is shown below yours.")
    meaning(meanings.cut(view.reading))
    try_this("one word in three spellings. Are they one word to the model?", "Take CAFÉ café Café", {TEXT: _CAFES})
    with st.expander("What happens to each character", on_change="rerun", key="_each_character") as stages:
        if stages.open:
            for place, (name, steps) in enumerate(_named(view.reading.texts)):
                _show_characters(view, name, steps)
                table(tables.pre_token_table(steps), f"pre-tokens-{place + 1}")
    if any(isinstance(steps, BpeSteps) for steps in view.reading.texts):
        _bytes(view)


def _rule(steps: TokenizationSteps) -> str:
    if isinstance(steps, BpeSteps):
        return (
            "Before a word is looked up, the text is cut into **pre-tokens**. Letters, digits and other signs are kept "
            "apart, and **a space belongs to the word after it**. No token crosses one of these cuts."
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
        _stages(steps)
        return
    plain(steps.text)
    characters, read = count(len(steps.composed), "character"), count(len(steps.composed.encode()), "byte")
    changed = "changes no character"
    if steps.composed != steps.text:
        changed = "joins each letter and its accents into one character (NFC)"
    say(f"{view.model} {changed}. It reads the {characters} as {read} of UTF-8.")


def _stages(steps: WordPieceSteps) -> None:
    say("You typed:")
    plain(steps.text)
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
            plain(stage.after)
        right.dataframe(tables.change_table(found), hide_index=True, height="auto" if len(found) < 6 else 240)
    off = [title for name, (title, _) in STAGES.items() if name not in {stage.name for stage in steps.stages}]
    if off:
        say(f"This tokenizer does not use these stages: {', '.join(off).lower()}.")


def _bytes(view: TokenizationView) -> None:
    """Explain why the model reads bytes, and which sign is written for each byte."""
    with st.expander("Why this model reads bytes", on_change="rerun", key="_bytes") as why:
        if not why.open:
            return
        told = (
            f"{view.model} cuts words by **byte-pair encoding**, **BPE** for short. BPE starts with single bytes and "
            "joins neighbours again and again; the step **Pieces** shows how. A byte that can be printed is written as "
            "itself. Every other byte is written as another letter: a space becomes “Ġ”. From lesson 2 on, the lab "
            "writes “␣” for it."
        )
        say(told)
        word = choose_word(view.reading.words)
        if word is not None:
            show_table(tables.character_bytes_table(word.text), numbered=True)
        table(tables.byte_table(), "bytes")


def show_special_tokens(view: TokenizationView) -> None:
    """Show the tokens that are not from the text, and say how long an input may be."""
    encoding, config = view.trace.encoding, view.trace.model.config
    say("Some tokens are not in your text. The model adds them as markers, such as a marker for the end of a text.")
    groups = encoding.segment_ids if encoding.pair is not None and config.segments > 1 else None
    draw_chips(encoding_chips(encoding), ids=encoding.token_ids, groups=groups)
    listed = special_tokens(view.trace.model.tokenizer, encoding)
    here = [each for each in listed if each.positions]
    say("\n".join(f"- {quoted(each.token)}, {_places(each.positions)}: {each.role}." for each in here))
    _segments(view)
    st.progress(
        len(encoding) / config.max_tokens,
        f"Your input has {count(len(encoding), 'token')}. {view.model} has room for {config.max_tokens}; it does not "
        "read what comes after them.",
    )
    _show_unread(view)
    meaning(meanings.added(view.trace))
    absent = [each for each in listed if not each.positions]
    if absent:
        with st.expander("Special tokens that are not in this input"):
            say("\n".join(f"- {quoted(each.token)} {each.role}." for each in absent))


def _places(positions: Sequence[int]) -> str:
    if len(positions) == 1:
        return f"token {positions[0]}"
    shown = ", ".join(map(str, positions[:12]))
    return f"tokens {shown}{' …' if len(positions) > 12 else ''}"


def _segments(view: TokenizationView) -> None:
    """Say which segment each token of a pair has; say nothing for a single text, which has only one segment."""
    encoding, segments = view.trace.encoding, view.trace.model.config.segments
    if encoding.pair is None:
        return
    if segments < 2:
        say(f"{view.model} has no segments: only the tokens themselves separate the two texts.")
        return
    ranges = []
    for segment in sorted(set(encoding.segment_ids)):
        places = [i for i, each in enumerate(encoding.segment_ids, start=1) if each == segment]
        ranges.append(f"tokens {places[0]} to {places[-1]} are in segment {segment}")
    say(f"A **segment** number says to which of the two texts a token belongs: {' and '.join(ranges)}.")


def _show_unread(view: TokenizationView) -> None:
    """Say that the end of a text that is too long is left out."""
    encoding = view.trace.encoding
    if not encoding.cut:
        return
    say(f"Your input was {count(encoding.cut, 'token')} too long. The model did not read this:")
    for text, second in ((encoding.text, False), (encoding.pair or "", True)):
        ends = [
            end
            for (_, end), of_second, special in zip(encoding.offsets, encoding.in_pair, encoding.special, strict=True)
            if of_second == second and not special
        ]
        rest = text[max(ends, default=0) :]
        if rest.strip():
            plain(rest)


def show_checks(view: TokenizationView) -> None:
    """Questions about this text."""
    draw_checks(LESSON, all_checks(view.reading))
