"""Like words: which words have rows of the token table that point the same way, and how this is measured."""

from __future__ import annotations

from functools import partial

import streamlit as st
from torch.nn.functional import cosine_similarity

from lab.analysis.words.neighbours import nearest_in_table, some, vocabulary_words
from lab.course.words import listed, place_of, quoted, signed
from lab.figures import embedding_figures
from lab.figures.embedding_figures import NAMED, in_table
from lab.lessons.embeddings import LESSON
from lab.lessons.embeddings.view import EmbeddingView
from lab.models.encoding import encode
from lab.models.loading import LoadedModel
from lab.models.memo import once
from lab.models.trace import Trace
from lab.questions.asking import asks
from lab.questions.question import Option, Question, bet, derivable
from lab.ui.drawing import code, draw
from lab.ui.parameters import TEXT, TOKEN
from lab.ui.quiz.step_questions import ask_beside
from lab.ui.screen import meaning, say, try_this
from lab.ui.sentence import show_sentence

IDEA = """
For each token, the model looks up a row of numbers in a table: the token’s **vector**. The
**cosine** compares the directions of two vectors: 1 if they point the same way, 0 at a right angle, −1 if they point in
opposite directions. Which rows are like the row of {word}?"""
CAPTION = "The lab compares all tokens that begin a word{long}. The dashed line is their mean."
LONG = " and have at least two letters"
READING = "Nearest to {word} {verb} {near}. The mean cosine over all {count:,} other words is {mean}."
WRITTEN = " Other countries are near, and so are *french* and *paris*. One reading: they occur in similar texts."
ALONE = "The vocabulary has no other word to compare with {word}."
WORKED = """
The cosine of {word} and {nearest} is their **dot product** (multiply the {width} numbers of both, one by one, and add
up the products), divided by both lengths:"""
_DAYS = "He came on Monday with three friends."
_DAY = "Monday"


def show(view: EmbeddingView) -> None:
    """Ask which word is like *france*; then show the words whose rows are most like the row of the chosen word."""
    trace = view.trace
    say(IDEA.format(word=view.word))
    show_sentence(trace, view.token)
    if not ask_beside(LESSON, None if view.of_toy else nearest_word()):
        return
    found = in_table(trace, view.token)
    if found.nearest:
        draw(partial(embedding_figures.near_in_table, trace, view.token), "near-in-table")
        st.caption(CAPTION.format(long="" if view.of_toy else LONG))
    meaning(said(trace, view.token) + WRITTEN * view.at_france)
    if formula := worked(trace, view.token):
        say(WORKED.format(word=view.word, nearest=quoted(found.nearest[0].word), width=view.width))
        st.latex(formula)
    if not view.of_toy:
        _show_a_day(view)
    code(nearest_in_table)


def _show_a_day(view: EmbeddingView) -> None:
    model = view.trace.model
    place = place_of(encode(model.tokenizer, model.config, _DAYS), _DAY)
    if place is not None:
        try_this("a day of the week.", f"Take *{_DAY}*", {TEXT: _DAYS, TOKEN: place + 1})


@asks(
    basis=bet(
        "Words with similar rows are spelled alike, or have ids side by side.",
        "Words with similar rows are used in similar ways.",
    ),
    hint="The model learned the rows from texts. Which words occur in similar texts?",
)
def nearest_word() -> Question:
    """Ask which of three words has the row most like the row of *france*."""
    return Question(
        "nearest-word",
        "Which of these tokens has the row that is most like the row of *france* in lab-minilm?",
        (
            Option(
                "*frances*, which is spelled nearly alike",
                "The model never sees letters. The cosine is 0.28; perhaps other texts are about Frances.",
            ),
            Option(
                "*hair*, which has the next id",
                "An id is only a place in a list. The cosine is 0.01, about the mean of *france* and all words.",
            ),
            Option(
                "*italy*, which is a country, too",
                "The cosine is 0.55. The rows were learned from texts; one reading is that both words occur in "
                "similar ones.",
                correct=True,
            ),
        ),
        mixed=True,
    )


@asks(
    basis=derivable(LESSON, "like-words", "the cosine, a dot product divided by both lengths"),
    hint="The cosine divides by both lengths. What happens to it if one vector becomes twice as long?",
)
def cosine_of_one() -> Question:
    """Ask what the cosine 1 says about two vectors: they point the same way, but need not be equal."""
    return Question(
        "cosine-of-one",
        "The cosine of two vectors is 1. What is certain?",
        (
            Option(
                "They point the same way, but their lengths can differ",
                "The cosine divides by both lengths, so it compares only directions.",
                correct=True,
            ),
            Option(
                "They are equal in every number, or else it would be less",
                "Equal vectors have the cosine 1. But so have a vector and its double.",
            ),
            Option(
                "Their words have the same meaning in all texts",
                "Words that are used in similar ways often have like rows, and *hot* and *cold* are used in similar "
                "ways.",
            ),
        ),
        mixed=True,
    )


def said(trace: Trace, token: int) -> str:
    """Say which rows of the token table are most like the row of ``token``, and how similar they are."""
    word, found = quoted(trace.labels[token]), in_table(trace, token)
    if not found.nearest:
        return ALONE.format(word=word)
    near = [f"{quoted(each.word)} ({signed(each.cosine)})" for each in found.nearest[:NAMED]]
    numbers = {"verb": "are" if len(near) > 1 else "is", "count": found.count, "mean": signed(found.mean)}
    return READING.format(word=word, near=listed(near), **numbers)


def worked(trace: Trace, token: int) -> str:
    """Write the cosine of ``token`` and the nearest word as LaTeX: their dot product, divided by both lengths.

    Returns "" if the vocabulary has no other word, or a row is zero.
    """
    near, table = nearest_row(trace.model, trace.token_ids[token]), trace.model.weights.embeddings.token
    if near is None:
        return ""
    own, other = table[trace.token_ids[token]].double(), table[near].double()
    product, first, second = float(own @ other), float(own.norm()), float(other.norm())
    if not first * second:
        return ""
    return (
        r"\frac{\text{dot product}}{\text{length} \cdot \text{length}} = "
        rf"\frac{{{product:.3f}}}{{{first:.3f} \cdot {second:.3f}}} = {product / (first * second):.2f}"
    )


@once
def nearest_row(model: LoadedModel, token_id: int) -> int | None:
    """The id of the whole word whose row of the token table is most like the row ``token_id``; None if it is alone."""
    table, own = model.weights.embeddings.token, model.weights.embeddings.token[token_id]
    ids = [each for each in vocabulary_words(model) if each != token_id]
    found = [(part, cosine_similarity(table[part], own[None])) for part in some(ids)]
    best = max(((float(cosines.max()), part[int(cosines.argmax())]) for part, cosines in found), default=None)
    return None if best is None else best[1]
