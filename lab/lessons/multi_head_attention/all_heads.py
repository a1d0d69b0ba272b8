"""All heads: the token at which each head of the model looks most from one token."""

from __future__ import annotations

from functools import partial

import numpy as np

from lab.charts.base.axes import Scale
from lab.charts.cells.categories import word_grid
from lab.charts.cells.grid import Texts
from lab.charts.cells.heatmap import Heatmap
from lab.course.pages import step_name
from lab.course.sentences.looks import is_story_blank
from lab.course.words import head_name, spoken
from lab.figures.attention import other_words
from lab.figures.trace_axes import layers_and_heads
from lab.lessons.multi_head_attention import LESSON, ROWS
from lab.models import forward
from lab.models.trace import Trace
from lab.questions.asking import Spot, asks
from lab.questions.question import Option, Question, bet
from lab.ui.drawing import code, draw
from lab.ui.screen import caption, meaning, say
from lab.ui.shared.one_head import OneHead, show_sentence

IDEA = """
Lesson 3 followed one head. Each head has queries, keys and values of its own. With a single head, a token would have
one set of shares in a layer, and a large share for one word would leave little for the others. Each cell of the
figure is a head: the token at which it looks most from {query}."""
READING = "From {query}, {head} looks most at {first}: **{weight:.2f}**."
STORY = """
Read downwards: in layers 2 to 4, four heads look at *is*; in layer 5, four at *capital*; in layer 6, two at *france*.
All others look most at [CLS], [SEP], the full stop, or the blank itself. **{join}** shows that heads that look at
the same word can bring different things."""


def show(view: OneHead) -> None:
    """Show where every head of the model looks most from one token."""
    at = view.layer.index, view.head, view.query
    say(IDEA.format(query=spoken(view.trace, view.query)))
    show_sentence(view)
    draw(partial(favourites, view.trace, *at), ROWS, clickable=True)
    caption(f"{head_name(at[:2]).capitalize()} is outlined. Click a cell: its head draws the arcs above.")
    found = reading(view.spot)
    story = STORY.format(join=step_name(LESSON, "join"))
    meaning(f"{found} {story}" if is_story_blank(view.trace, view.query) else found)
    code(forward.split_heads, forward.project_qkv)


def reading(spot: Spot) -> str:
    """Name the token at which the head on screen looks most."""
    row = spot.row.weights
    return READING.format(
        query=spoken(spot.trace, spot.query),
        head=head_name((spot.layer, spot.head)),
        first=spoken(spot.trace, int(row.argmax())),
        weight=float(row.max()),
    )


@asks(
    basis=bet(
        "Several heads have more learned numbers than one head.",
        "Each head has its own softmax, so a token can look in several ways at once.",
        "Each head is responsible for a part of the sentence.",
    ),
    hint="Into how many sets of shares does one head divide the attention of a token?",
)
def why_several() -> Question:
    """Ask why a layer has several narrow heads, and not one wide head."""
    return Question(
        "why-several",
        "A layer has 12 heads of 32 numbers each. Why does it not have a single head of 384 numbers?",
        (
            Option(
                "Twelve heads have more learned numbers than one",
                "12 × 32 = 384: W_Q, W_K, W_V and W_O have as many numbers for twelve narrow heads as for a wide one.",
            ),
            Option(
                "Each head works on its own part of the sentence",
                "Every head works on every token, and a token gets the sum of what all heads bring.",
            ),
            Option(
                "One head gives a token only one set of shares",
                "Each head has its own softmax, so twelve heads give a token twelve sets of shares.",
                correct=True,
            ),
        ),
        mixed=True,
    )


def favourites(traced: Trace, layer: int, head: int, query: int) -> Heatmap:
    """Draw the token at which each head of the model looks most from ``query``; one head is outlined.

    A cell is coloured only if this token is another word: marks, punctuation and the query itself stay pale.
    """
    rows = np.array([traced.layer(at).attention[:, query].numpy() for at in range(traced.model.config.layers)])
    best = rows.argmax(axis=-1)
    texts = [[traced.labels[key] for key in row] for row in best.tolist()]
    values = np.where(other_words(traced, query)[best], rows.max(axis=-1), 0)
    title = f"From {traced.labels[query]}: the token at which each head looks most"
    scale = Scale("Weight, if it is another word", (0.0, 1.0), ".2f")
    return word_grid(
        values, Texts("Looks most at", texts), layers_and_heads(values), scale, title=title, highlight=(layer, head)
    )
