"""All heads: from one word, the shares that every head of the layer gives to the other words."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from lab.analysis.heads import comparing
from lab.analysis.heads.values import places_left_out
from lab.charts.base.axes import Axis
from lab.charts.cells.heatmap import Heatmap, heatmap
from lab.course.words import aside, escaped, head_name, listed, named, number_of
from lab.figures import multi_head
from lab.figures.axes import WEIGHT, counted, tokens
from lab.lessons.multi_head_attention import LESSON, MAPS, ROWS
from lab.models import forward
from lab.models.trace import Trace
from lab.questions.asking import asks
from lab.questions.basis import bet, derivable
from lab.questions.question import MARGIN, Option, Question, shuffled
from lab.questions.returning import Spot
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import meaning, try_this
from lab.ui.parameters import HEAD, LAYER
from lab.ui.quiz.predictions import ask_beside
from lab.ui.shared.one_head import OneHead, show_sentence
from lab.ui.terms import say

COLUMNS = 40  # the number of tokens that the figure shows
_NAMED = 3  # the number of places that a sentence lists
_MUCH = 0.2  # a weight that is worth a look
_ONE = "This layer has only one head, so there is no other head to compare it with."


def said(spot: Spot) -> str:
    """Say whether other heads of the layer look at the same token as the head, or where they look."""
    trace, at, head = spot.trace, spot.traced, spot.head
    me, key = named(trace, spot.query), comparing.favourite(at, head, spot.query)
    weights, it = comparing.given(at, spot.query, key), named(trace, key)
    if len(weights) < 2:
        return _ONE
    favourites = at.attention[:, spot.query].argmax(dim=-1).tolist()
    same = favourites.count(key)
    if same == len(favourites):
        least, most = float(weights.min()), float(weights.max())
        return f"All {same} heads look most at {it} from {me}, with weights from {least:.2f} to {most:.2f}."
    if same > 1:
        told = f"From {me}, {same} of the {len(favourites)} heads look most at {it}."
        return f"{told} {_elsewhere(trace, favourites, key)}"
    others = np.delete(weights, head)
    return (
        f"Only head {head + 1} looks most at {it} from {me}: it gives {weights[head]:.2f}, and no other head of this "
        f"layer gives more than {others.max():.2f}. {_elsewhere(trace, favourites, key)}"
    )


def _elsewhere(trace: Trace, favourites: list[int], key: int) -> str:
    """Say where the heads look that do not look most at ``key``; the most frequent places come first."""
    rest = [each for each in favourites if each != key]
    places = sorted(set(rest), key=lambda place: (-rest.count(place), place))[:_NAMED]
    first, *others = [(number_of(rest.count(place), "head"), named(trace, place)) for place in places]
    verb = "looks" if first[0] == number_of(1, "head") else "look"
    told = [f"{first[0]} {verb} most at {first[1]}", *(f"{count} at {place}" for count, place in others)]
    return f"{listed(told)}."


def resting(spot: Spot) -> str:
    """Say why many heads look most at a special or first token; "" if fewer than half of them do."""
    out, _ = places_left_out(spot.trace)
    count = int(out[spot.traced.attention[:, spot.query].argmax(dim=-1).numpy()].sum())
    of = spot.trace.model.config.heads
    if 2 * count < of or of < 2:
        return ""
    return (
        "A word’s weights in a head must add up to 1. Some authors suppose that a head rests at "
        f"{escaped(aside(spot.trace))} when it finds nothing else to look at (Clark et al. 2019, §3.2). Lesson 5 is "
        "about such heads."
    )


@asks(
    "layer",
    "token",
    basis=derivable(LESSON, "all-heads", "the rows and columns of the figure"),
    hint="Where does the softmax of a head act, in a row of the figure or in a column?",
    returns=3,
)
def shares_of_heads(spot: Spot) -> Question | None:
    """Ask why the weights that all heads give to one token add up to more than 1."""
    trace, count = spot.trace, spot.trace.model.config.heads
    received = spot.traced.attention[:, spot.query].sum(dim=0).numpy()
    key = int(received.argmax())
    if count < 2 or received[key] < 1 + MARGIN or (trace.model.config.causal and spot.query == 0):
        return None
    me, it = named(trace, spot.query), named(trace, key)
    own = f"Each head has its own softmax, so the weights of each head add up to 1. Together they add up to {count}."
    return shuffled(
        "shares-of-heads",
        f"The weights of one word add up to 1. But from {me}, the {count} heads together give {it} "
        f"{received[key]:.2f}. How is that possible?",
        [
            Option("In each head, the weights of the word add up to 1", own, correct=True),
            Option("The layers before have already given it some", f"All of these weights belong to one layer. {own}"),
            Option(f"{it} gets the attention that other words lack", f"No head knows about another head. {own}"),
        ],
    )


@asks(
    basis=bet(
        "Several heads have more learned numbers than one head.",
        "Each head has its own softmax, so a token can look in several ways at once.",
        "Each head is responsible for a part of the sentence.",
    ),
    hint="Into how many sets of shares does one head divide the attention of a token?",
    returns=1,
)
def why_several(spot: Spot) -> Question | None:
    """Ask why a layer has several narrow heads, and not one wide head."""
    config = spot.trace.model.config
    if config.heads < 2:
        return None
    count, width, d = config.heads, config.head_width, config.width
    return shuffled(
        "why-several",
        f"A layer has {count} heads of {width} numbers each. Why does it not have a single head of {d} numbers?",
        [
            Option(
                "One head gives a token one set of shares, and several heads give it several sets at once",
                f"Each head has its own softmax, so a token has {count} sets of shares in this layer.",
                correct=True,
            ),
            Option(
                "Several heads have more learned numbers, so they can learn more",
                f"They have as many learned numbers as one head would have: {count} × {width} = {d}. Each of W_Q, "
                f"W_K, W_V and W_O is {d} × {d} either way.",
            ),
            Option(
                "Each head is responsible for its own part of the sentence",
                "Every head works on every token, and a token gets the sum of all heads.",
            ),
        ],
    )


def drawn(traced: Trace, layer: int, query: int) -> list[int]:
    """The tokens that :func:`rows_of_heads` draws, from 0: those that the query may see.

    If there are too many, the query, each head's favourite, and those with the largest weights.
    """
    rows = traced.layer(layer).attention[:, query, : query + 1 if traced.model.config.causal else None].numpy()
    first = list(dict.fromkeys([query, *rows.argmax(axis=1).tolist()]))
    rest = [key for key in np.argsort(-rows.max(axis=0), kind="stable").tolist() if key not in first]
    return sorted([*first, *rest][:COLUMNS])


def rows_of_heads(traced: Trace, layer: int, head: int, query: int) -> Heatmap:
    """Draw the weights that each head of a layer gives from ``query``: a row is a head, which adds up to 1.

    The row of ``head`` is outlined; :func:`drawn` says which tokens are drawn.
    """
    shown = drawn(traced, layer, query)
    rows = traced.layer(layer).attention[:, query, shown].numpy()
    if shown == list(range(len(shown))):
        looked_at = tokens(traced, "Looks at", slice(0, len(shown)))
    else:
        names = [f"{traced.labels[key]} ({key + 1})" for key in shown]
        looked_at = Axis("Looks at", names, things="tokens", count=len(traced))
    axes = counted("Head", len(rows)), looked_at
    title = f"From {traced.labels[query]}: every head of layer {layer + 1}"
    return heatmap(rows, axes, WEIGHT, title=title, highlight=(head, None))


def show(view: OneHead) -> None:
    """Show where every head of the layer looks from one word, ask why a column is not 1, and fold the whole maps."""
    count, layer = view.trace.model.config.heads, view.layer.index
    me = view.token(view.query)
    say(
        f"Lesson 3 followed one head. Layer {layer + 1} has {count} heads side by side, and each head has its own "
        "queries, keys and values. So from one word, each head can look at another token. Do they? Each row of the "
        f"figure shows the shares that one head gives from {me}."
        if count > 1
        else f"Layer {layer + 1} of this model has only one head. The figure shows its shares from {me}."
    )
    show_sentence(view)
    draw(partial(rows_of_heads, view.trace, layer, view.head, view.query), ROWS, clickable=True)
    st.caption(f"Head {view.head + 1} is outlined. Click a row to choose another head.{_part(view)}")
    meaning(said(view.spot))
    if told := resting(view.spot):
        say(told)
    ask_beside(LESSON, shares_of_heads(view.spot))
    _show_another(view)
    with st.expander("The whole maps of all heads", icon=":material/grid_view:", on_change="rerun", key="_maps") as x:
        if x.open:
            show_maps(view)
    code(forward.split_heads, forward.project_qkv)


def _part(view: OneHead) -> str:
    """Say which tokens the figure leaves out; "" if it has all."""
    n, me = len(view.trace), view.token(view.query)
    seen = view.query + 1 if view.trace.model.config.causal else n
    shown = len(drawn(view.trace, view.layer.index, view.query))
    hidden = f" A mask hides the tokens after {me}." if seen < n else ""
    most = f" The figure shows the {shown} of {seen} tokens with the largest weights." if shown < seen else ""
    return most + hidden


def show_maps(view: OneHead) -> None:
    """Draw the maps of all heads of the layer on one scale; a click chooses a head."""
    call = partial(multi_head.all_heads, view.trace, view.layer.index, view.head, view.query)
    draw(call, MAPS, clickable=True)
    n, block = len(view.trace), comparing.block_size(len(view.trace), multi_head.CELLS)
    if block > 1:
        st.caption(f"The text has {n} tokens, so each cell shows the largest weight of a block of {block} × {block}.")
    st.caption(
        f"The row of {view.token(view.query)} is framed in each map, and the arrow names the token at which the head "
        "looks most from there. Click a map to choose its head."
    )


def _show_another(view: OneHead) -> None:
    """Offer the head of another layer that gives the largest weight to the same word."""
    layer, head, weight = comparing.strongest_elsewhere(view.trace, view.layer.index, view.head, view.query)
    if weight < _MUCH:
        return
    key = view.token(comparing.favourite(view.layer, view.head, view.query))
    why = f"{head_name((layer, head))} looks from {view.token(view.query)} at {key}, too ({weight:.2f})."
    try_this(why, head_name((layer, head)).capitalize(), {LAYER: layer + 1, HEAD: head + 1})
