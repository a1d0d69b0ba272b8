"""The screens of the tokenization lesson, one function a step; the step in which a word is cut is next door."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from lab.charts.tokens import tables
from lab.charts.tokens.encoding import encoding_chips, pre_token_chips
from lab.course.glossary import terms_in
from lab.course.words import quoted
from lab.lessons.tokenization import LESSON, meanings, predictions
from lab.lessons.tokenization.checks import all_checks
from lab.lessons.tokenization.figures import token_table
from lab.lessons.tokenization.reading import count
from lab.lessons.tokenization.view import TokenizationView, choose_word, draw_chips, explained, plain, table
from lab.lessons.tokenization.words import STAGES, special_tokens
from lab.text.tokenizers.bpe import BpeSteps
from lab.text.tokenizers.steps import TokenizationSteps
from lab.text.tokenizers.wordpiece import WordPieceSteps
from lab.toy.data import ToyData
from lab.ui.frame.header import defined
from lab.ui.frame.script import meaning, try_this
from lab.ui.parameters import TEXT
from lab.ui.quiz.asking import draw_checks
from lab.ui.quiz.predictions import predict
from lab.ui.tables import show_table
from lab.ui.toys.steps import show_validation

_RARE = "The unhappily overworked photographers rebuilt everything."


def show_tokens(view: TokenizationView) -> None:
    """The whole input, cut; then what the vocabulary may hold."""
    st.markdown(
        "A model does not read words. It reads **tokens**: pieces of text from a fixed list, its **vocabulary**. "
        f"The vocabulary of {view.model} has {view.trace.model.config.vocabulary:,} tokens. These are the tokens of "
        "your text:"
    )
    encoding = view.trace.encoding
    texts = [encoding.text] + ([encoding.pair] if encoding.pair else [])
    draw_chips(encoding_chips(encoding))
    st.caption(
        "Above each chip stands its number, counted from 1. Below it stands the token, where that is not what you "
        f"typed. Chips that touch have no space between them; colours only keep neighbours apart.{_dashed(view)}"
    )
    _figures(
        {
            "Characters": sum(map(len, texts)),
            "Words between spaces": sum(len(text.split()) for text in texts),
            "Tokens": len(encoding),
        }
    )
    meaning(meanings.whole_and_cut(view.reading))
    try_this("longer words. Into how many pieces do they fall?", "Take a sentence with rare words", {TEXT: _RARE})
    question = predictions.one_token(view.reading)
    if question is not None:
        predict(LESSON, question)
    rows = partial(token_table, view.trace)
    table(rows(), "tokens", rows)
    config = view.trace.model.config
    show_validation(
        ToyData((tuple(encoding.token_ids),), config.vocabulary, config.max_tokens, 1, 0, first=0),
        numbers="These are the checks that a toy’s sentences get, made on your text. A word is its id here. No text "
        "holds every word of the vocabulary, so the last check fails.",
    )


def _dashed(view: TokenizationView) -> str:
    return " A dashed frame: a token that is not in your text." if any(view.trace.encoding.special) else ""


def _figures(numbers: dict[str, int]) -> None:
    with st.container(horizontal=True):
        for name, number in numbers.items():
            st.metric(name, number, width="content")


def _named(texts: Sequence[TokenizationSteps]) -> list[tuple[str, TokenizationSteps]]:
    names = ["First text", "Second text"] if len(texts) > 1 else [""]
    return list(zip(names, texts, strict=True))


def show_normalization(view: TokenizationView) -> None:
    """What happens to the characters before anything is cut."""
    if not explained(view):
        return
    st.markdown(
        "**Normalization** makes spellings alike before anything is cut. Spellings that share one entry keep the "
        "vocabulary short."
    )
    for name, steps in _named(view.reading.texts):
        if name:
            st.markdown(f"### {name}")
        if isinstance(steps, WordPieceSteps):
            _stages(steps)
        else:
            plain(steps.text)
            characters, read = count(len(steps.composed), "character"), count(len(steps.composed.encode()), "byte")
            changed = "changes no character"
            if steps.composed != steps.text:
                changed = "joins letters and the marks above or below them into one character each (NFC)"
            st.markdown(f"{view.model} {changed}. It reads the {characters} as {read} of UTF-8.")
    meaning(meanings.spellings(view.reading))
    try_this("one word in three spellings. How many are left?", "Take CAFÉ café Café", {TEXT: "CAFÉ café Café"})
    if any(isinstance(steps, BpeSteps) for steps in view.reading.texts):
        _bytes(view)


def _stages(steps: WordPieceSteps) -> None:
    st.markdown("As typed")
    plain(steps.text)
    spans = tuple((i, i + 1) for i in range(len(steps.text)))
    for stage in steps.stages:
        title, what = STAGES[stage.name]
        found = tables.changes(stage.before, spans, stage.after, stage.spans)
        spans = stage.spans
        if not found:
            st.markdown(f":gray[:material/remove:] **{title}** changes nothing here. {what}")
            continue
        changed = sum(change.times for change in found)
        st.markdown(f":material/edit: **{title}** changes {count(changed, 'character')}. {what}")
        left, right = st.columns([3, 2])
        with left:
            plain(stage.after)
        right.dataframe(tables.change_table(found), hide_index=True, height="auto" if len(found) < 6 else 240)
    off = [title for name, (title, _) in STAGES.items() if name not in {stage.name for stage in steps.stages}]
    if off:
        st.markdown(f"Switched off in this tokenizer: {', '.join(off).lower()}.")


def _bytes(view: TokenizationView) -> None:
    """Why the model reads bytes, and which sign stands for each."""
    told = (
        f"{view.model} reads bytes because of how it cuts words. That is called **byte-pair encoding**, **BPE** for "
        "short: it begins with single bytes and joins neighbours again and again. The step **Pieces** does it."
    )
    st.markdown(told, help=defined(terms_in("byte-pair encoding")))
    word = choose_word(view.reading.words)
    if word is not None:
        show_table(tables.character_bytes_table(word.text), numbered=True)
    with st.expander("The sign of each of the 256 bytes"):
        st.markdown(
            "This kind of byte-pair encoding writes every byte as one visible sign. A byte that prints stands for "
            "itself. The others get another letter: the space becomes “Ġ”. From the next lesson on, this lab shows it "
            "as “␣”."
        )
        table(tables.byte_table(), "bytes")


def show_pre_tokens(view: TokenizationView) -> None:
    """Where the tokenizer cuts before it looks into a word."""
    if not explained(view):
        return
    for place, (name, steps) in enumerate(_named(view.reading.texts)):
        if name:
            st.markdown(f"### {name}")
        st.markdown(_pre_token_rule(steps))
        draw_chips(pre_token_chips(steps))
        table(tables.pre_token_table(steps), f"pre-tokens-{place + 1}")
    meaning(meanings.pre_tokens(view.reading))
    why = "an apostrophe and a decimal point. Into how many pre-tokens do they fall?"
    try_this(why, "Take a sentence with both", {TEXT: "I don't pay 3.50 for it."})


def _pre_token_rule(steps: TokenizationSteps) -> str:
    found = f"Your text has {count(len(steps.words), 'pre-token')}."
    whole = next((f" {quoted(word.text)} is an added token and stays whole." for word in steps.words if word.added), "")
    if isinstance(steps, BpeSteps):
        return (
            "Words are not joined to their neighbours: the text is cut into **pre-tokens** before anything is looked "
            "up. Letters, digits and other signs are kept apart, and **a space "
            f"belongs to what follows it**. {found} No token reaches from one pre-token into the next.{whole}"
        )
    return (
        "No token reaches from one word into the next: before anything is looked up, the text is cut into "
        "**pre-tokens**. It is cut at white space, which is dropped, and around **every punctuation mark**. "
        f"{found}{whole}"
    )


def show_special_tokens(view: TokenizationView) -> None:
    """The tokens that are not in the text, and how long an input may be."""
    encoding, config = view.trace.encoding, view.trace.model.config
    st.markdown("Some tokens stand for no character of your text. The tokenizer adds them as signs for the model.")
    draw_chips(encoding_chips(encoding))
    added = sum(encoding.special)
    if added:
        st.markdown(
            f"That of {view.model} added {count(added, 'token')} to {'the two texts' if encoding.pair else 'the text'}."
        )
    else:
        st.markdown(f"That of {view.model} adds none{' between the two texts' if encoding.pair else ''}.")
    listed = special_tokens(view.trace.model.tokenizer, encoding)
    here = [each for each in listed if each.positions]
    if here:
        st.markdown("\n".join(f"- {quoted(each.token)}, {_places(each.positions)}: {each.role}." for each in here))
    absent = [each for each in listed if not each.positions]
    if absent:
        st.markdown("Not in this input:\n" + "\n".join(f"- {quoted(each.token)} {each.role}." for each in absent))
    _segments(view)
    st.progress(len(encoding) / config.max_tokens, f"{len(encoding)} of the {config.max_tokens} positions are taken.")
    st.markdown(
        f"A **position** is the place of a token; {view.model} has {config.max_tokens}, and a longer text is cut off. "
        "This lab counts tokens from 1. "
        "Positions count from 0, as in the papers: token 1 stands at position 0."
    )
    _cut(view)
    rows, width = view.trace.model.weights.embeddings.token.shape
    st.markdown(
        "From here on the characters are gone. Each token has a number in the vocabulary, its **id**, and the id picks "
        f"a row of {width} numbers out of a table of {rows:,} rows."
    )


def _places(positions: Sequence[int]) -> str:
    if len(positions) == 1:
        return f"token {positions[0]}"
    shown = ", ".join(map(str, positions[:12]))
    return f"tokens {shown}{' …' if len(positions) > 12 else ''}"


def _segments(view: TokenizationView) -> None:
    encoding, segments = view.trace.encoding, view.trace.model.config.segments
    if segments < 2:
        st.markdown(f"{view.model} has no segments: nothing but its tokens tells one text from another.")
        return
    ranges = []
    for segment in sorted(set(encoding.segment_ids)):
        places = [i for i, each in enumerate(encoding.segment_ids, start=1) if each == segment]
        ranges.append(f"segment {segment} is tokens {places[0]} to {places[-1]}")
    st.markdown(f"A **segment** says which of two texts a token belongs to: {', '.join(ranges)}.")


def _cut(view: TokenizationView) -> None:
    encoding = view.trace.encoding
    if not encoding.cut:
        return
    st.markdown(f"The input was {count(encoding.cut, 'token')} too long. These characters were not read:")
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
    """Questions graded on this text."""
    draw_checks(LESSON, all_checks(view.reading))
