"""The map of the projection: the network's output, which has a vector as wide as the model for each token."""

from __future__ import annotations

from functools import partial

from lab.course.words import named, signed
from lab.lessons.feed_forward import figures
from lab.lessons.feed_forward.view import FeedForwardView
from lab.ui import selection
from lab.ui.drawing import draw
from lab.ui.parameters import FIRST_DIMENSION
from lab.ui.terms import say


def show_projection(view: FeedForwardView) -> None:
    """Draw the network's output, tokens × the first 48 dimensions, or others on demand."""
    width = view.config.width
    bias = " and adds a bias" if view.config.biases else ""
    say(
        f"The second matrix, $W_2$, is the **projection**: it multiplies the {view.config.ffn_width:,} activations of "
        f"a token{bias}. The result has {width:,} numbers again. It is added to the token’s vector."
    )
    first = _chosen_first(width)
    end = min(first + figures.PROJECTED, width)
    draw(partial(figures.projection, view.trace, view.layer.index, first, end, view.token), "projection")
    written = view.layer.ffn_output[view.token]
    most = int(written.abs().argmax())
    say(
        f"At {named(view.trace, view.token)}, the number farthest from 0 is **{signed(float(written[most]), 2)}**, in "
        f"dimension {most + 1:,}. In Python: `trace.layer({view.layer.index}).ffn_output`."
    )


def _chosen_first(width: int) -> int:
    """Return the first dimension to draw, from 0, and offer a choice if not all dimensions fit."""
    if width <= figures.PROJECTED:
        return 0
    asked = FIRST_DIMENSION.chosen()
    if asked > width:
        selection.note(
            f"A vector of this model has only {width:,} dimensions, so the lab shows dimension {width:,} instead "
            f"of {asked:,}."
        )
        FIRST_DIMENSION.set(width)
    first = min(asked, width)
    FIRST_DIMENSION.type_in(f"First of {figures.PROJECTED} dimensions drawn", first, width, figures.PROJECTED)
    return first - 1
