"""Build a row: one token’s query, keys and values become its weights and its context, in four computations."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from lab.analysis.heads.one_row import attention_row, heaviest
from lab.charts.components.row_built import RowBuilt
from lab.course.pages import bench_of
from lab.course.words import signed, spoken, unmarked
from lab.figures.attention import place
from lab.lessons.self_attention import LESSON
from lab.models import forward
from lab.models.trace import Trace
from lab.questions.asking import Spot, asks
from lab.questions.question import Option, Question, bet, derivable
from lab.ui.components import mount
from lab.ui.drawing import code, framed, show_numbers
from lab.ui.parameters import TOKEN
from lab.ui.screen import say, try_this, way_to
from lab.ui.shared.one_head import OneHead, show_sentence

# The most rows of the figure: more rows make a page long.
ROWS = 16

IDEA = """
How does {query} come to look there? {before} its vector *x*, {width:,} numbers. Times a learned **matrix**
$W_Q${bias}, *x* {scaled}becomes its **query**: {d_k} numbers for this head. $W_K$ and $W_V$ make the **key** and the
**value** of every token in the same way. The rest you have computed by hand: press Play."""
FIRST, LATER = "The table of words and places has made", "The layers before this one have made"
# One sentence for each of the four stages of the figure.
SCORES = (
    "A score is the dot product of the query and a key, {d_k} products added up. The largest, {score}, is of {first}."
)
DIVISION = "√{d_k} ≈ {root:.2f}, because a query has {d_k} numbers here. The order of the scores stays the same."
NO_DIVISION = "This model leaves the scores as they are."
SOFTMAX = "Softmax turns the scores into shares that add up to 1. {first} gets {weight:.2f}."
CONTEXT = (
    "The values, added up in these shares, are the context: the vector that arrives. A last matrix makes as many "
    "numbers of it as *x* has, and they are added to *x*."
)
READING = (
    "The longest part of what arrives at {query} comes from {longest}: {weight:.2f} × a value of length {length:.2f}."
)
# {lead}, {times}: how far the score of *france* leads after the division, and e to the power of it.
STORY = """
After the division, *france* leads by {lead:.2f}. Softmax makes a weight of this lead that is about {times:.0f} times
as large as the next: nearly the value of *france* alone arrives at the blank."""


def show(view: OneHead) -> None:
    """Show the whole row, stage by stage."""
    config, spot = view.trace.model.config, view.spot
    show_sentence(view)
    say(
        IDEA.format(
            query=spoken(view.trace, view.query),
            before=LATER if view.layer.index else FIRST,
            width=config.width,
            bias=", plus a learned vector" * config.biases,
            d_k=config.head_width,
            scaled="(on one scale, by LayerNorm: lesson 8) "
            * (config.pre_norm and view.layer.weights.norm_1 is not None),
        )
    )
    call = view.figure(row_built)
    story = spot.in_story_row
    figure = replace(call(), means=tuple(map(unmarked, stages(spot, story=story))))
    with framed("row-built"):
        mount("row_built", figure.payload(), "row-built")
        show_numbers(figure.table, "row-built", call, figure)
    if story:
        capital = view.trace.labels.index("capital")
        why = "*capital* looks at [CLS] and [SEP], whose values are short."
        try_this(why, "Look from capital", {TOKEN: capital + 1}, leaves=True)
    way_to("On the bench", bench_of("neuron-view"))
    code(forward.project_qkv, forward.attend, forward.mix_values)


def stages(spot: Spot, *, story: bool) -> tuple[str, str, str, str]:
    """Write a sentence for each stage of a row: its scores, the division, its weights, and the vector that arrives."""
    row, config = spot.row, spot.trace.model.config
    best = int(row.weights.argmax())
    first, d_k = spoken(spot.trace, best), config.head_width
    return (
        SCORES.format(d_k=d_k, score=signed(float(row.scores[best])), first=first),
        DIVISION.format(d_k=d_k, root=d_k**0.5) if config.scaled_scores else NO_DIVISION,
        SOFTMAX.format(first=first, weight=float(row.weights[best])),
        f"{CONTEXT} {reading(spot)}" + (f" {told(spot)}" if story else ""),
    )


def reading(spot: Spot) -> str:
    """Name the token from which the longest part of the context comes."""
    row = spot.row
    longest = int(np.linalg.norm(row.weighted_values, axis=-1).argmax())
    return READING.format(
        query=spoken(spot.trace, spot.query),
        longest=spoken(spot.trace, longest),
        weight=float(row.weights[longest]),
        length=float(np.linalg.norm(row.values[longest])),
    )


def told(spot: Spot) -> str:
    """Say how the lead of the largest score over the next becomes a lead of the weights."""
    second, first = np.sort(spot.row.scaled)[-2:].tolist()
    return STORY.format(lead=first - second, times=math.exp(first - second)).strip()


@asks(
    basis=derivable(LESSON, "build-a-row", "the four stages of the row"),
    hint="Which of query, key and value are the weights made of?",
)
def value_gone() -> Question:
    """Ask what changes if the value with the most attention becomes 0; the weights stay, as they need no values."""
    return Question(
        "value-gone",
        "A head gives a word most of its attention. Now all numbers of the value of this word become 0. What happens "
        "in this head?",
        (
            Option(
                "The weight becomes 0, too",
                "The weight is made of a query and a key, and neither has changed.",
            ),
            Option(
                "The weight stays, and the word adds nothing",
                "Query and key make the weight, and they are as before. The value is what arrives, and it is 0 now.",
                correct=True,
            ),
            Option(
                "Nothing: a weight says how much arrives",
                "A weight says in which share a value is added. A share of 0 is 0, however large the share is.",
            ),
        ),
        mixed=True,
    )


@asks(
    basis=derivable(LESSON, "build-a-row", "the softmax of the row"),
    hint="To which number do all weights of a row add up?",
)
def one_score_up() -> Question:
    """Ask what happens to the other weights if one score grows: all add up to 1, so the others shrink."""
    return Question(
        "one-score-up",
        "A token looks at all words. The score of one word grows, and all other scores stay the same. What happens to "
        "the weights of the other words?",
        (
            Option(
                "They get smaller",
                "The weights of a row add up to 1. Softmax divides by the sum of all powers, and this sum has grown.",
                correct=True,
            ),
            Option(
                "They stay the same, because their own scores did not change",
                "A weight is a share: its own power of e, divided by the sum of all. The sum has changed.",
            ),
            Option(
                "They grow a little, because the row pays more attention",
                "A row has no more than 1 to give. A word that gets more takes it from the others.",
            ),
        ),
        mixed=True,
    )


@asks(
    basis=bet(
        "The model uses the word at which a head looks most.", "The model may collect something and then ignore it."
    ),
    hint="What does the head do with a weight?",
)
def what_a_weight_says() -> Question:
    """Ask what a large weight makes certain: a head may collect something that the model then ignores."""
    return Question(
        "what-a-weight-says",
        "A head gives *france* the weight 0.96. You know this weight, and nothing else. What is certain?",
        (
            Option(
                "Without *france*, the model would say another word than *paris*",
                "Other parts may ignore what this head brings, or get it in another way. Lesson 4 cuts words off.",
            ),
            Option(
                "The head has understood that a country is asked for",
                "A weight comes from scores, which are dot products. It does not show what the model does with it.",
            ),
            Option(
                "The value of *france* goes into the head’s sum, times 0.96",
                "That is what a weight does. It does not say how long the value is, or whether the model uses it.",
                correct=True,
            ),
        ),
        mixed=True,
    )


def row_built(traced: Trace, layer: int, head: int, query: int, key: int) -> RowBuilt:
    """Draw one query's row, built stage by stage; in a long text, only with its heaviest keys."""
    row, n = attention_row(traced.layer(layer), head, query), len(traced)
    seen = heaviest(row.weights, key, min(n, ROWS))
    return RowBuilt(
        traced.labels[query],
        [traced.labels[i] for i in seen],
        row.scores[seen],
        row.weights[seen],
        np.isneginf(row.scaled[seen]),
        float(row.weights.sum(dtype=np.float64)),
        row.values[seen],
        row.context,
        rest=n - len(seen),
        scaled=traced.model.config.scaled_scores,
        place=place(layer, head),
    )
