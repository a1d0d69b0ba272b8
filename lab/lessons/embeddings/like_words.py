"""Like words: which words have rows of the token table that point the same way, and how this is measured."""

from __future__ import annotations

from functools import partial

import streamlit as st
from torch.nn.functional import cosine_similarity

from lab.analysis.words.neighbours import is_whole, nearest_in_table, some, vocabulary_words
from lab.course.sentences.uses import place_of
from lab.course.words import listed, named, quoted, signed
from lab.figures import near_words
from lab.figures.near_words import NAMED, in_table
from lab.lessons.embeddings import LESSON
from lab.lessons.embeddings.king_and_queen import show_word_sums
from lab.lessons.embeddings.view import EmbeddingView
from lab.models.encoding import encode
from lab.models.loading import LoadedModel
from lab.models.memo import once
from lab.models.trace import Trace
from lab.questions.asking import asks
from lab.questions.basis import bet, derivable
from lab.questions.kinds import which_holds
from lab.questions.question import MARGIN, Option, Question, shuffled
from lab.questions.returning import Spot
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import meaning, try_this
from lab.ui.frame.header import idea
from lab.ui.parameters import TEXT, TOKEN
from lab.ui.quiz.predictions import ask_beside
from lab.ui.sentence import show_sentence
from lab.ui.terms import say

IDEA = """
For each token, the model looks up a row of numbers in a table that it has learned: the token’s **vector**. One row says
nothing, but two rows can be compared. For their **dot product**, multiply them number by number, and add up the
products. The **cosine** is the dot product divided by both lengths: 1 if the vectors point the same way, 0 at a
right angle, −1 if they point in opposite directions. Which words have rows like the row of your word?"""
_DAYS = "He came on Monday with three friends."
_DAY, _NUMBER = "Monday", "three"
# The ranks of the wrong words in the list of neighbours, from 0.
_RANKS = (60, 400, 1500)
# The least distance of the nearest word's cosine from the mean over all words, for a question.
_CLEAR = 0.25


def said(trace: Trace, token: int) -> str:
    """Say which rows of the token table are most like the row of ``token``, and how similar they are."""
    token_id, word = trace.token_ids[token], quoted(trace.labels[token])
    found = in_table(trace, token)
    if not found.nearest:
        return f"The vocabulary has no other word to compare with {word}."
    best, others = found.nearest[0].cosine, f"{found.count:,} other word{'s' * (found.count != 1)}"
    if best - found.mean < MARGIN:
        return (
            f"No row is clearly nearest: of {others}, even the nearest has only the cosine {signed(best)} with {word}."
        )
    near = found.nearest[:NAMED]
    told = listed([f"{quoted(each.word)} ({signed(each.cosine)})" for each in near])
    most = (
        f"Nearest to {word} {'are' if len(near) > 1 else 'is'} {told}. The mean cosine over all {others} is "
        f"{signed(found.mean)}."
    )
    if trace.encoding.special[token] or not is_whole(trace.model.tokenizer, token_id):
        return f"{most} (But {word} is not a whole word, so do not expect a meaning.)"
    return most


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


@asks(
    basis=bet(
        "Words with similar rows are spelled alike, or have ids side by side.",
        "Words with similar rows are used in similar ways.",
    ),
    hint="Which words can take the place of this word in a text? Their rows point the same way.",
    returns=1,
)
def nearest_word(spot: Spot) -> Question | None:
    """Ask which of four words has the row most like the query's row. None for a token that is not a whole word."""
    trace, token = spot.trace, spot.query
    token_id = trace.token_ids[token]
    if trace.encoding.special[token] or not is_whole(trace.model.tokenizer, token_id):
        return None
    found = nearest_in_table(trace.model, token_id, _RANKS[-1] + 1)
    if len(found.nearest) <= _RANKS[-1] or found.nearest[0].cosine < found.mean + _CLEAR:
        return None
    best, *wrong = (found.nearest[rank] for rank in (0, *_RANKS))
    if best.cosine - wrong[0].cosine < MARGIN:
        return None
    told = f"The cosine of {quoted(best.word)} is {best.cosine:.2f}, the largest of all {found.count:,} words"
    options = [Option(quoted(best.word), f"{told}.", correct=True)] + [
        Option(quoted(each.word), f"{told}. For {quoted(each.word)} it is {each.cosine:.2f}.") for each in wrong
    ]
    prompt = f"Which of these words has the row that is most similar to the row of {named(trace, token)}?"
    return shuffled("nearest-word", prompt, options)


@asks(
    basis=derivable(LESSON, "like-words", "the cosine, a dot product divided by both lengths"),
    hint="The cosine divides by both lengths. What happens to it if one vector becomes twice as long?",
    returns=3,
    always=True,
)
def cosine_of_one(spot: Spot) -> Question:
    """Ask what the cosine 1 says about two vectors: they point the same way, but need not be equal."""
    why = "The cosine divides by both lengths, so it compares only directions. One of the vectors can be longer."
    outcomes = {
        "They point the same way, but their lengths can differ": True,
        "They are equal in every number": False,
        "Their words have the same meaning": False,
    }
    return which_holds("cosine-of-one", "The cosine of two vectors is 1. What is certain?", why, outcomes, mixed=True)


def show(view: EmbeddingView) -> None:
    """Show the words whose rows of the token table are most like the row of the chosen word."""
    idea(IDEA)
    show_sentence(view.trace, view.token)
    _show_in_table(view)
    st.caption(
        "The lab compares all tokens that begin a word and have at least two letters. The dashed line is their mean."
    )
    meaning(said(view.trace, view.token))
    _show_worked(view)
    if not view.of_toy:
        _show_another(view)
    ask_beside(LESSON, cosine_of_one(view.spot))
    if not view.of_toy:
        with st.expander("Can words be added? king − man + woman", on_change="rerun", key="_king_and_queen") as sums:
            if sums.open:
                show_word_sums(view)
    code(nearest_in_table)


def _show_in_table(view: EmbeddingView) -> None:
    """Draw the bars of the nearest words; draw nothing for a vocabulary of one word."""
    if near_words.in_table(view.trace, view.token).nearest:
        draw(partial(near_words.near_in_table, view.trace, view.token), "near-in-table")


def _show_worked(view: EmbeddingView) -> None:
    """Work out the highest cosine of the figure."""
    formula = worked(view.trace, view.token)
    if formula:
        nearest = quoted(in_table(view.trace, view.token).nearest[0].word)
        say(f"This is how the cosine of {view.word} and {nearest} follows from their {view.width} numbers each:")
        st.latex(formula)


def _show_another(view: EmbeddingView) -> None:
    """Offer a day of the week, and from there a number."""
    model = view.trace.model
    encoding = encode(model.tokenizer, model.config, _DAYS)
    here = TEXT.chosen() == _DAYS
    for word, kind in ((_DAY, "day of the week"), (_NUMBER, "number")):
        place = place_of(encoding, word)
        if place is not None and not (here and view.token == place):
            try_this(
                f"a {kind}. Which words are most similar to *{word}*?",
                f"Take *{word}*",
                {TEXT: _DAYS, TOKEN: place + 1},
            )
            return
