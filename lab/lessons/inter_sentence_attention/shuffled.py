"""In order or shuffled: what lets two sentences look at each other, that they are near or that they belong together?"""

from __future__ import annotations

from functools import partial

import streamlit as st

from lab.analysis.sentences.orders import LEAST, MOST, TOKENS, Orders, orders
from lab.charts.base.axes import Scale
from lab.charts.base.figure import Figure
from lab.charts.marks.bars import bars
from lab.course.words import capital
from lab.lessons.inter_sentence_attention import LESSON
from lab.lessons.inter_sentence_attention.row import show_tokens
from lab.lessons.inter_sentence_attention.shares import (
    counted,
    percents,
    read_for_question,
    sentence_name,
    sentences_of,
)
from lab.lessons.inter_sentence_attention.view import SentencesView
from lab.models.trace import Trace
from lab.questions.asking import asks
from lab.questions.basis import bet
from lab.questions.question import Option, Question, shuffled
from lab.questions.spot import Spot
from lab.text.sentences.unavailable import SentencesUnavailable
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import caption, meaning
from lab.ui.quiz.predictions import predict
from lab.ui.terms import say

# A smaller difference, in multiples of a uniform head's share, is called none; a lead must be twice as large.
_SMALL = 0.05
_GROUPS = (
    "neighbours, close",
    "neighbours, apart",
    "others, close",
    "others, apart",
)


def in_every_order(traced: Trace) -> Figure:
    """Draw the attention between two sentences, by whether they follow each other in the text, and are side by side.

    Raises ValueError for a text whose sentences cannot be put into other orders.
    """
    found = orders(traced)
    if found is None:
        raise ValueError(f"This step needs a text of {LEAST} to {MOST} sentences, with at most {TOKENS} tokens.")
    values = [found.beside, found.away, found.others_beside, found.others_away]
    scale = Scale("× uniform head", format=".2f")
    return bars(
        _GROUPS, values, scale, title="How much two sentences look at each other", highlight=(0, 2), reference=1.0
    )


def said(found: Orders) -> str:
    """Say which of the two differences is larger, with its numbers."""
    near, far = (found.beside + found.others_beside) / 2, (found.away + found.others_away) / 2
    place = (
        f"Two sentences that are side by side give each other {near:.2f} times the share of a uniform head. Two "
        f"sentences that are apart give each other {far:.2f} times that share."
    )
    if abs(found.by_text) < _SMALL:
        return f"{place} It hardly matters whether they follow each other in your text."
    more = "more" if found.by_text > 0 else "less"
    return f"{place} Sentences that follow each other in your text give {abs(found.by_text):.2f} {more} than others."


def _more(difference: float) -> str:
    """Write a difference as “0.17 more”."""
    return f"{abs(difference):.2f} {'more' if difference > 0 else 'less'}"


@asks(
    basis=bet(
        "Heads look from a word to a related word, so sentences that belong together look at each other anywhere.",
        "Heads look at tokens that are near, so a sentence looks at its neighbours, whatever they say.",
    ),
    hint="Which bars are longer, the bars of neighbours in your text or the bars of sentences that are side by side?",
)
def near_or_related(spot: Spot) -> Question | None:
    """Ask whether nearness or the text decides more; None if neither leads clearly."""
    try:
        found = orders(spot.trace)
    except SentencesUnavailable:
        return None
    if found is None or abs(found.by_nearness - found.by_text) < 2 * _SMALL:
        return None
    near = found.by_nearness > found.by_text
    why = (
        f"Side by side, two sentences give each other {_more(found.by_nearness)} than apart. If they follow each other "
        f"in your text, they give each other {_more(found.by_text)} than other sentences do. (A uniform head gives 1.)"
    )
    return shuffled(
        "near-or-related",
        "Put these sentences into other orders. What matters more for how much two sentences look at each other?",
        [
            Option("Where they are: heads look at near tokens, whatever these say", why, correct=near),
            Option("What they say: a word finds the words that belong to it, near or far", why, correct=not near),
        ],
    )


@asks(
    basis=bet(
        "A large share shows that two sentences belong together.",
        "It shows where heads look, whatever the reason is.",
    ),
    hint="When unrelated sentences were side by side, how much did they look at each other?",
)
def what_a_share_proves(spot: Spot) -> Question | None:
    """Ask what a large share makes certain: only that heads look there."""
    sentences = sentences_of(spot)
    if sentences is None:
        return None
    found = read_for_question(spot.trace, sentences)
    a, b = 1, 0
    share = percents(float(found.mass[a, b]))
    why = (
        "The number says how much the heads look there, as a mean over all of them, and nothing more. Heads may look "
        "at a sentence because it is near or long, or only at its full stop, or at the one word that matters. Only a "
        "test can tell these cases apart, for example another order of the sentences."
    )
    asked = shuffled(
        "what-a-share-proves",
        f"{capital(sentence_name(a))} gives {share} of its attention to {sentence_name(b)}. What is certain?",
        [
            Option("Heads look there, but the number does not say why", why, correct=True),
            Option("The two sentences are about the same thing", why),
            Option(f"The model needs {sentence_name(b)} to understand {sentence_name(a)}", why),
        ],
    )
    return counted(spot.trace, sentences, asked)


def show(view: SentencesView) -> None:
    """Run the sentences in several orders, and compare what lets two of them look at each other."""
    show_tokens(view)
    say(
        "Two sentences of a text belong together, and they are also near each other. Some heads look at the token "
        "before or after, whatever it is (lesson 6, **Named patterns**). Others look at a related word, such as from "
        "*she* at *girl* in the step before. Which counts more? Put the sentences into other orders and run the model "
        "again."
    )
    found = orders(view.trace)
    if found is None:
        st.info(
            f"To try other orders, write a text of {LEAST} to {MOST} sentences, with at most {TOKENS} tokens.",
            icon=":material/edit:",
        )
        return
    if not predict(LESSON, near_or_related(view.spot)):
        return
    draw(partial(in_every_order, view.trace), "orders")
    st.caption(
        f"The bars are means over {found.count} orders of your sentences. “Neighbours” are sentences that follow each "
        "other in your text, and “close” sentences are side by side in the order that was tried. The dashed line is a "
        "uniform head."
    )
    meaning(said(found))
    caption("These are a few sentences in a few orders. The result describes your text and is not a rule of language.")
    code(orders)
