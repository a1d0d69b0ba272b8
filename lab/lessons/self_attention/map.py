"""Where does it look? One token’s attention as arcs, with its name, and the attention of all tokens as a map."""

from __future__ import annotations

import math

import numpy as np

from lab.analysis.heads.one_row import attention_map
from lab.charts.base.figure import Figure
from lab.course.pages import step_name
from lab.course.words import named, spoken, told_apart
from lab.figures import attention
from lab.lessons.self_attention import LESSON
from lab.models.encoding import BLANK
from lab.questions.asking import Spot, asks
from lab.questions.question import Option, Question, bet, derivable, ranked
from lab.ui.parameters import HEAD
from lab.ui.quiz.step_questions import predict
from lab.ui.screen import caption, meaning, say, say_more, try_this
from lab.ui.shared import one_head
from lab.ui.shared.one_head import OneHead

IDEA = """
A model is a row of **layers**. In each layer, several **heads** look from every token at others, and collect
something there: this is **attention**. You see one head, {head} of layer {layer}, or {layer}-{head} for short: the
stronger an arc is, the more the head looks there."""
READING = "From {query}, head {layer}-{head} gives {first} most: **{weight:.2f}** of its attention{next}."
ARCS = "On the first page, this look is a part of the link that lights up in layer 6."
MAP = "Here is the whole map of this head. Each row is a token that looks, and the **weights** of a row add up to 1."
# {least}: the least share that a row of the words and the full stop gives to [CLS] and [SEP].
RESTING = """
In the rows of the other words and of the full stop, [CLS] and [SEP] together get {least:.2f} or more."""
CLS = """
**[CLS]** is the mark at the beginning of every text, and belongs to no word. Why do heads look at it? A row has to add
up to 1, also if a head finds nothing to look for. Clark et al. (2019, §3.2) suppose that it then rests at [CLS] or
[SEP]. (BERT was also trained to read from [CLS] whether a second text follows: lesson 9, **Next sentence**.)"""
CAVEAT = """
Where a head looks is not yet what arrives, and not yet what matters. **{build}** shows the one, lesson 4 the
other."""


def show(view: OneHead) -> None:
    """Show one token's look as arcs, ask about the way back, then show the looks of all tokens as a map."""
    spot = view.spot
    say(IDEA.format(layer=spot.layer + 1, head=spot.head + 1))
    one_head.show_sentence(view)
    meaning(f"{reading(spot)} {ARCS}" if spot.in_story_row else reading(spot))
    if not predict(LESSON, looks_back()):
        return
    say(MAP)
    one_head.show_map(view)
    if spot.in_story_head:
        say_more(RESTING.format(least=math.floor(100 * least_at_marks(spot)) / 100))
    if view.trace.labels[0] == "[CLS]":
        say(CLS)
    caption(CAVEAT.format(build=step_name(LESSON, "build-a-row")))
    if view.trace.model.config.heads > 1:
        other = (view.head + 2) % view.trace.model.config.heads
        try_this("Another head of this layer: where does it look?", f"Head {other + 1}", {HEAD: other + 1})


def reading(spot: Spot) -> str:
    """State the two largest weights of the row."""
    weights = spot.row.weights
    order = [int(key) for key in np.argsort(-weights, kind="stable") if np.isfinite(spot.row.scaled[key])]
    first, second = order[0], order[1] if len(order) > 1 else None
    then = "" if second is None else f"; next is {spoken(spot.trace, second)} with {weights[second]:.2f}"
    return READING.format(
        query=spoken(spot.trace, spot.query),
        layer=spot.layer + 1,
        head=spot.head + 1,
        first=spoken(spot.trace, first),
        weight=float(weights[first]),
        next=then,
    )


def least_at_marks(spot: Spot) -> float:
    """Return the least share that a row of the words and the full stop gives to [CLS] and [SEP] together."""
    weights, marks = attention_map(spot.traced, spot.head), np.array(spot.trace.encoding.special)
    rows = ~marks
    rows[spot.trace.labels.index(BLANK)] = False
    return float(weights[rows][:, marks].sum(axis=1).min())


@asks(
    basis=bet(
        "Attention is mutual: both tokens give each other the same weight.",
        "Each token has its own row, so the two weights are independent.",
        "The two weights of a pair add up to 1.",
    ),
    hint="Now *france* looks. Which shares add up to 1?",
)
def looks_back() -> Question:
    """Ask how much *france* gives back to the blank in head 6-4."""
    return Question(
        "looks-back",
        "In *The capital of France is ▢.*, head 6-4 of lab-minilm gives *france* 0.96 of the blank’s "
        "attention. How much does the same head give in the other direction, from *france* to the blank?",
        (
            Option(
                "0.96: they look at each other",
                "Attention has a direction. *france* has a query of its own, and its own row in the map.",
            ),
            Option(
                "0.04: both shares together make 1, so this is left",
                "The shares that one token gives add up to 1. The two shares of a pair belong to two rows.",
            ),
            Option(
                "Less than 0.01: *france* looks in its own way",
                "*france* has a row of its own, and gives [CLS] and [SEP] most of it. Attention need not be mutual.",
                correct=True,
            ),
        ),
        mixed=True,
    )


def _arcs(spot: Spot) -> Figure:
    """Draw the weights that the arcs show, as bars."""
    return attention.weights_from(spot.trace, spot.layer, spot.head, spot.query)


def _map(spot: Spot) -> Figure:
    """Draw the map, without a mark on any word."""
    return attention.attention_map(spot.trace, spot.layer, spot.head)


@asks("layer", "head", "token", basis=derivable(LESSON, "map", "the arcs"), figure=_arcs)
def most_attended(spot: Spot) -> Question | None:
    """Ask to which token the query attends most."""
    trace, query, row = spot.trace, spot.query, spot.row
    weights = row.weights.tolist()

    def why(key: int, best: int) -> str:
        tail = "more than any other token." if key == best else f"less than {named(trace, best)} ({weights[best]:.2f})."
        return f"It gets {weights[key]:.2f} of the attention of {told_apart(trace, query)}, {tail}"

    prompt = f"At which token does this head look most from {named(trace, query)}?"
    return ranked("most-attended", prompt, weights, lambda key: named(trace, key), why)


@asks("layer", "head", basis=derivable(LESSON, "map", "the rows of the map"), figure=_map)
def most_even(spot: Spot) -> Question | None:
    """Ask which token spreads its attention most evenly, which is the token with the smallest largest weight."""
    trace = spot.trace
    largest = attention_map(spot.traced, spot.head).max(axis=1)

    def why(query: int, best: int) -> str:
        tail = ", the smallest of all rows." if query == best else f"; row {best + 1} has {largest[best]:.3f}."
        return f"Its largest weight is {largest[query]:.3f}{tail}"

    prompt = "Which token spreads its attention most widely? Look for the row whose largest weight is the smallest."
    return ranked("most-even", prompt, (-largest).tolist(), lambda query: named(trace, query), why)
