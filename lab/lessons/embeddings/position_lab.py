"""Why place: without the vectors of the places, the order of the tokens is not there for the model."""

from __future__ import annotations

from functools import partial

import streamlit as st

from lab.analysis.layers.embeddings import Order, new_order, permutation_gap
from lab.analysis.layers.embeddings import reordered as in_order
from lab.analysis.words.predictions import candidates, prediction_at
from lab.charts.base.axes import Scale
from lab.charts.base.figure import Figure
from lab.charts.cells.heatmap import Heatmap
from lab.charts.cells.slices import strips
from lab.charts.marks.bars import bars
from lab.course.sentences.looks import is_story
from lab.course.words import quoted
from lab.figures.embedding_figures import dimension_names, stretch
from lab.lessons.embeddings import LESSON
from lab.lessons.embeddings.view import EmbeddingView
from lab.models.encoding import BLANK, word_of
from lab.models.interventions import Interventions
from lab.models.memo import once
from lab.models.trace import Trace, trace_encoding
from lab.questions.asking import asks
from lab.questions.question import Option, Question, bet, derivable
from lab.ui import sidebar
from lab.ui.drawing import code, draw
from lab.ui.parameters import ORDER
from lab.ui.quiz.step_questions import predict
from lab.ui.screen import caption, meaning, say
from lab.ui.sentence import show_sentence

IDEA = """
What would the model know without the vectors of the places? Then the layers get one vector for each token, which says
nothing about where the token is."""
ORDERED = "{order}: {row}"
READING = """
Without places, the last vectors in the new order {verb}. With places, they differ by {moved:.0%} of their length on
average."""
KEPT, CHANGED = "are the old ones, each at its token’s new place", "are others"
WRITTEN = """ So without places, *france* ({france:.2f}) and *paris* ({paris:.2f}) are about equally likely, in any
order of these tokens."""
WHY = """
**Attention**, the next lesson, adds up vectors of the tokens, and a sum has no order. Every other part of a layer looks
at one token alone."""
MASKED = """
In this model, a mask hides some tokens from others, such as all later ones. So the tokens that a token sees tell the
model about the order, also without places (Haviv et al. 2022)."""
LOCAL = """
In a local layer, a token sees only {window} tokens to either side. So the mask tells the model which tokens are near,
also without places."""
ONE = "A single token cannot be put in another order. Write a longer sentence in the sidebar."
SAME = "In this order, the tokens are the same as before. Choose another order."
_SHOWN = 12  # tokens of a text that a sentence may list
_WORDS = 5


def show(view: EmbeddingView) -> None:
    """Take the places away, and give the tokens another order."""
    trace = view.trace
    say(IDEA)
    if len(trace) < 2:
        st.info(ONE, icon=":material/edit:")
        return
    show_sentence(trace, view.token)
    if not predict(LESSON, None if view.of_toy else without_places()):
        return
    with sidebar.controls():
        order = ORDER.choose("The tokens are")
    moved = in_order(trace.encoding, new_order(order, len(trace)))
    words = [word_of(trace.model.tokenizer, each) for each in moved.token_ids]
    rest = " …" if len(words) > _SHOWN else ""
    if (moved.token_ids, moved.segment_ids) == (trace.token_ids, trace.segment_ids):
        st.info(SAME, icon=":material/edit:")
        return
    place = blank_of(trace)
    if place is None or hides(trace):
        draw(partial(last_vectors, trace, order, view.token), "position-lab")
    else:
        for column, places in zip(st.columns(2, gap="large"), (True, False), strict=True):
            with column:
                draw(partial(best_words, trace, place, places=places), f"position-lab-{places}")
    say(ORDERED.format(order=order.capitalize(), row=" ".join(map(quoted, words[:_SHOWN])) + rest))
    meaning(said(trace, order))
    caption(_why(trace))
    code(permutation_gap)


@asks(
    basis=bet(
        "The words are enough: *paris* is asked for.",
        "Without an order, the words could also ask for the country.",
    ),
    hint="The same five words can also ask: France is the capital of … what?",
)
def without_places() -> Question:
    """Ask what lab-minilm says in the blank if it gets no vectors of the places."""
    return Question(
        "without-places",
        "Take away the vectors of all places in *The capital of France is ▢.* Which word does lab-minilm find most "
        "likely in the blank?",
        (
            Option(
                "*paris*, nearly as clearly as before",
                "*paris* falls from 0.38 to 0.20, and *france* has 0.21.",
            ),
            Option(
                "*france* or *paris*, about equally likely",
                "*france* gets 0.21, and *paris* 0.20. Without these vectors, lab-minilm finds both about equally "
                "likely.",
                correct=True,
            ),
            Option(
                "No word at all gets more than 0.05",
                "The words still say that it is about France and a capital. Two words stay far ahead.",
            ),
        ),
        mixed=True,
    )


@asks(
    basis=derivable(LESSON, "position-lab", "the vectors without places, before and after"),
    hint="What could still tell the model which word came first?",
)
def who_bit_whom() -> Question:
    """Ask if a word's last vector is the same in two orders of the same words, without places."""
    return Question(
        "who-bit-whom",
        "Take away the vectors of all places in BERT. Is the last vector of *dog* in *The dog bit the man.* the same "
        "as in *The man bit the dog.*?",
        (
            Option(
                "Yes: the model gets the same tokens",
                "Nothing else says which token comes first, so both texts are the same to the model.",
                correct=True,
            ),
            Option(
                "No: other words are beside it",
                "A layer reads all tokens of the text, and without places none of them is nearer than another.",
            ),
            Option(
                "No: *dog* is the subject in one of them",
                "It is for you. But the order says so, and without places there is no order.",
            ),
        ),
        mixed=True,
    )


@once
def without(traced: Trace) -> Trace:
    """Run a text without the vectors of the places."""
    return trace_encoding(traced.model, traced.encoding, Interventions(no_positions=True))


def blank_of(traced: Trace) -> int | None:
    """The place of the only blank of a text that the model fills; None without one."""
    blanks = [place for place, label in enumerate(traced.labels) if label == BLANK]
    return blanks[0] if len(blanks) == 1 and not traced.model.no_words else None


def best_words(traced: Trace, place: int, *, places: bool) -> Figure:
    """Draw the most probable words in the blank at ``place``, with the vectors of the places or without."""
    found = candidates(
        prediction_at(traced if places else without(traced), place, None), _WORDS, traced.model.tokenizer
    )
    title = "With places" if places else "Without places, in any order"
    scale = Scale("Probability", (0.0, 1.0), ".2f")
    return bars([each.word for each in found], [each.probability for each in found], scale, title=title)


def last_vectors(traced: Trace, order: Order, token: int = 0) -> Heatmap:
    """Draw the last vector of one token before and after the tokens get another order, without and with places."""
    places, shown = new_order(order, len(traced)), stretch(0, traced.output.shape[1])
    drawn = {}
    for name, changes in (("without", Interventions(no_positions=True)), ("with", Interventions())):
        for when, encoding, at in (
            ("before", traced.encoding, token),
            ("after", in_order(traced.encoding, places), places.index(token)),
        ):
            drawn[f"{name}, {when}"] = trace_encoding(traced.model, encoding, changes).output[at].numpy()[shown]
    title = f"The vector of {traced.labels[token]} after the last layer, without and with places"
    return strips(list(drawn.values()), list(drawn), title=title, dimensions=dimension_names(traced, shown))


def said(trace: Trace, order: Order) -> str:
    """Say how another order of the tokens changes their last vectors, without places and with them."""
    plain, bare = (permutation_gap(trace, order, Interventions(no_positions=off)) for off in (False, True))
    told = READING.format(verb=KEPT if bare.follows else CHANGED, moved=plain.moved[-1])
    if not is_story(trace):
        return told
    place = blank_of(trace)
    assert place is not None
    p = prediction_at(without(trace), place, None).probabilities
    ids = (trace.model.tokenizer.token_to_id(word) for word in ("france", "paris"))
    france, paris = (float(p[each]) for each in ids if each is not None)
    return told + WRITTEN.format(france=france, paris=paris)


def hides(trace: Trace) -> bool:
    """Return whether a mask hides tokens from others, so that the order is not lost without places."""
    config = trace.model.config
    return config.causal or (config.window is not None and config.window < len(trace) - 1)


def _why(trace: Trace) -> str:
    """Say why the order is lost without places, or which mask still tells it."""
    if trace.model.config.causal or not hides(trace):
        return MASKED if hides(trace) else WHY
    return LOCAL.format(window=trace.model.config.window)
