"""Tokens: the whole input, cut into the pieces whose ids the model reads."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import streamlit as st
import torch

from lab.charts.tokens.encoding import encoding_chips
from lab.course.sentences.examples import example_named
from lab.course.words import quoted
from lab.lessons.tokenization.figures import token_table
from lab.lessons.tokenization.reading import (
    TextReading,
    askable,
    bare,
    count,
    hardest,
    joined,
    question,
    reading_of,
    spelled,
)
from lab.lessons.tokenization.view import TokenizationView, show_rows
from lab.models.trace import Trace
from lab.questions.asking import asks
from lab.questions.basis import bet
from lab.questions.question import Option, Question
from lab.questions.returning import Spot
from lab.text.tokenizers.wordpiece import WordSteps
from lab.toy.data import ToyData
from lab.ui.chips import draw_chips
from lab.ui.frame.closing import meaning, try_this
from lab.ui.parameters import TEXT
from lab.ui.terms import say
from lab.ui.toys.steps import show_validation

_RARE = example_named("A rare word").text


def said(reading: TextReading) -> str:
    """Say how many words of the text are whole tokens, and into which pieces the most cut word falls."""
    words, total = reading.words, f"The model reads {count(len(reading.encoding), 'id')} and nothing else."
    if not words or reading.encoding.cut:
        return total
    lost = [word for word in words if isinstance(word, WordSteps) and word.unknown]
    cut = [word for word in words if len(word.pieces) > 1]
    shown = [word for word in cut if askable(word)]
    if (at := hardest(shown)) is not None:
        told = f"{quoted(spelled(shown[at]))} is not in the vocabulary, so it becomes {joined(shown[at].pieces)}."
        if len(cut) > 1:
            return f"{told} {count(len(cut) - 1, 'other word')} {'is' if len(cut) == 2 else 'are'} cut, too."
        return f"{told} {_counted(len(words) - len(cut) - len(lost))} in the vocabulary."
    if lost:
        return f"The vocabulary has no token for {count(len(lost), 'word')} of your text. {total}"
    if cut:
        return f"{_counted(len(words) - len(cut))} in the vocabulary. {total}"
    whole = "The only word of your text is" if len(words) == 1 else f"All {len(words)} words and signs of your text are"
    return f"{whole} in the vocabulary. {total}"


def _counted(whole: int) -> str:
    """Begin a sentence about the words that are in the vocabulary, with subject and verb."""
    if not whole:
        return "No other word of your text is"
    return f"{whole} other {'word or sign' if whole == 1 else 'words and signs'} {'is' if whole == 1 else 'are'}"


@asks(
    basis=bet("Words with neighbouring ids have something in common.", "An id is only a place in a list."),
    hint="Who put the words into this order? Did they know what the words mean?",
    returns=1,
)
def neighbours(spot: Spot) -> Question | None:
    """Ask what follows if two words are neighbours in the vocabulary. Nothing about their meaning.

    Of the words of the text, the one is taken whose vector is least like its neighbour's: two pronouns side by side
    would speak for the wrong belief.
    """
    reading = reading_of(spot.trace)
    found = [] if reading is None else list(_beside(reading))
    if not found:
        return None
    word, token_id, other, near = min(found, key=lambda each: _likeness(spot.trace, each[1], each[3]))
    why = "An id is only a place in a list. For the model, a word’s meaning begins with a vector, which lesson 2 shows."
    return question(
        "neighbours",
        f"{quoted(word)} has the id {token_id:,}, and {quoted(other)} has the id {near:,}. What do these ids tell you "
        "about the two words?",
        [
            Option("Nothing about their meaning", why, correct=True),
            Option("They have nearly the same meaning", why),
            Option("They often occur side by side", why),
        ],
    )


def _beside(reading: TextReading) -> Iterator[tuple[str, int, str, int]]:
    """The words of the text that are one token, each with its id, and its neighbours in the list with theirs."""
    for word in reading.words:
        piece = word.pieces[0]
        if not (askable(word) and len(word.pieces) == 1 and word.text.strip().isalpha()):
            continue
        for near in (piece.token_id + 1, piece.token_id - 1):
            other = (reading.tokenizer.id_to_token(near) or "").removeprefix("Ġ")
            if len(other) > 2 and other.isalpha() and other.isascii():
                yield bare(word), piece.token_id, other, near


def _likeness(trace: Trace, one: int, other: int) -> float:
    """The cosine of two rows of the token table."""
    table = trace.model.weights.embeddings.token
    return float(torch.cosine_similarity(table[one], table[other], dim=0))


def show(view: TokenizationView) -> None:
    """Show the whole input, cut into tokens, with the ids that the model reads."""
    say(
        "A model cannot read letters. So the lab cuts your text into pieces, called **tokens**, and looks up each "
        f"token in a fixed list, the **vocabulary**. {view.model}, the model on screen, knows "
        f"{view.trace.model.config.vocabulary:,} tokens. The model gets only the number of each token in this list, "
        "its **id**."
    )
    encoding = view.trace.encoding
    draw_chips(encoding_chips(encoding), ids=encoding.token_ids)
    dashed = " The model added the tokens in dashed frames." if any(encoding.special) else ""
    st.caption(f"The number below a token is its id. The number above it counts the tokens from 1.{dashed}")
    meaning(said(view.reading))
    try_this("longer words. Into how many pieces are they cut?", "Take a sentence with rare words", {TEXT: _RARE})
    with st.expander("Every token in a table", icon=":material/table:", on_change="rerun", key="_tokens_table") as all:
        if all.open:
            rows = partial(token_table, view.trace)
            show_rows(rows(), "tokens", rows)
    config = view.trace.model.config
    show_validation(
        ToyData((tuple(encoding.token_ids),), config.vocabulary, config.max_tokens, 1, 0, first=0),
        numbers=(
            "A toy’s sentences must pass these checks. Here, your text is checked in the same way, and each word is "
            "written as its id. The last check fails, because no text contains every token of the vocabulary."
        ),
    )
