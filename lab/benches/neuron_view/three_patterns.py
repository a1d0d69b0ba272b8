"""Three patterns, each on the head that shows it best, with the dimensions that produce it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st

from lab.analysis.heads.patterns import trace_roles
from lab.analysis.heads.query_neurons import DECIDED, decide, neuron_row
from lab.analysis.heads.walk import Walk, best_head, neighbour, walk
from lab.benches.neuron_view import DECIDING, DIMENSIONS, NeuronView
from lab.benches.neuron_view.delimiter_keys import show_delimiter_keys
from lab.benches.neuron_view.pattern import carried, decision, leader, pattern_of, show_way
from lab.charts.cells.heatmap import Heatmap
from lab.charts.cells.strips import VALUE, strips
from lab.course.words import escaped, number_of, signed
from lab.figures.attention import place
from lab.models.trace import Trace
from lab.ui.drawing import code, draw

# The patterns of neighbours, each with the distance to the neighbour.
_STEPS = {"next_token": 1, "previous_token": -1}
_STRONGEST = 5  # the most dimensions that are named for each token
_COUNTS = 0.01  # share of a token's largest product from which a dimension is named: a toy's head uses only a few


def show(view: NeuronView) -> None:
    """Draw three patterns, each on this model's best head for the pattern."""
    by_id, chosen = {pattern.id: pattern for pattern in DECIDED}, patterns_of(view.trace)
    if "delimiter" not in chosen:
        st.markdown("This text has no delimiters, such as [SEP], so you see three patterns that it can have.")
    for id in chosen:
        with st.container(border=True):
            st.markdown(f"### {by_id[id].name}")
            if id == "previous_token" and "next_token" not in chosen:
                st.markdown(
                    f"{escaped(view.trace.model.id)} is causal, so no query sees the next token. Try the mirror "
                    "image, the previous token."
                )
            found = walk(view.trace, by_id[id])
            if found is None:
                st.markdown("The pattern does not occur in this text.")
            else:
                _show_walk(view, found)
    code(best_head, decide)


def _show_walk(view: NeuronView, walk: Walk) -> None:
    """State the finding, draw a head's dimensions and, folded, the dimensions behind the pattern; link to the head."""
    best = walk.best
    at, id, shows = (best.layer, best.head), best.pattern.id, best.score > best.uniform
    _show_finding(walk)
    if walk.decision is not None and shows:
        draw(partial(dimensions, view.trace, *at, id), f"neurons-{id.replace('_', '-')}")
    if shows:
        with st.expander("What makes the pattern", icon=":material/notes:"):
            st.markdown(said(walk))
            if id in _STEPS:
                _show_neighbours(view, walk, _STEPS[id])
    if id == "delimiter":
        show_delimiter_keys(view.trace, *at)
    _show_ways(walk)


def _show_finding(walk: Walk) -> None:
    """Name the head that shows the pattern, or say that even a uniform head shows it, so its score is not split."""
    best = walk.best
    where = f"layer {best.layer + 1}, head {best.head + 1}"
    st.markdown(
        f"The head that shows the pattern best is **{where}**, with a score of **{best.score:.3f}**. On this text a "
        f"uniform head scores {best.uniform:.3f}."
    )
    if best.score <= best.uniform:
        st.markdown("So this head scores no higher than a uniform head, and there is nothing to take apart.")
    elif not best.named:
        st.markdown("This score is too low for a name. It would have to be at least halfway from a uniform head to 1.")
    st.caption(
        f"{best.pattern.reading} The best head of the same architecture with random weights scores "
        f"{best.untrained:.3f}.{left_out(best.left_out)}"
    )


def _show_neighbours(view: NeuronView, walk: Walk, step: int) -> None:
    """Draw the products at three tokens: a head that looks at a neighbour needs other dimensions at other places."""
    layer, head = walk.best.layer, walk.best.head
    queries = neighbour_queries(view.trace, step)
    if len(queries) < 2 or walk.best.score <= walk.best.uniform:
        return
    draw(partial(neighbour_products, view.trace, layer, head, step), f"neurons-at-three-tokens-{walk.best.pattern.id}")
    st.markdown(at_places(view.trace, (layer, head), queries, step))


def _show_ways(walk: Walk) -> None:
    """Offer two ways to the head: its dimensions at the clearest query, and the dimensions that decide."""
    with st.container(horizontal=True):
        for step, label in ((DIMENSIONS, "See its dimensions"), (DECIDING, "See which decide")):
            show_way(walk, step, label, f"_walk.{walk.best.pattern.id}.{step}")


def dimensions(traced: Trace, layer: int, head: int, pattern: str) -> Heatmap:
    """List the mean score that every dimension adds to the pattern's keys and to other keys, and the difference.

    Raises ValueError if no query of the text sees both kinds of key.
    """
    found = decision(traced, layer, head, pattern)
    vectors, names = [found.pattern, found.others, found.difference], ["its keys", "other keys", "difference"]
    title = f"{pattern_of(pattern).name}: mean of q_d · k_d, {place(layer, head)}"
    return strips(vectors, names, replace(VALUE, title="Product"), title=title)


def neighbour_queries(traced: Trace, step: int) -> tuple[int, ...]:
    """Return the queries, from 0, whose products with a neighbour are shown: tokens 2, 8 and 14, as in Vig (2019).

    In a shorter text, take the first, the middle and the last word for which the token ``step`` places on is a word.
    """
    n, special = len(traced), traced.encoding.special
    able = [i for i in range(n) if not special[i] and 0 <= i + step < n and not special[i + step]]
    wanted = tuple(i for i in (1, 7, 13) if i in able)
    if len(wanted) == 3 or not able:
        return wanted
    return tuple(dict.fromkeys((able[0], able[len(able) // 2], able[-1])))


def neighbour_products(traced: Trace, layer: int, head: int, step: int) -> Heatmap:
    """Draw the products q_d · k_d of a few queries with the token ``step`` places on, one row for each query.

    Raises ValueError for a text without two words beside each other.
    """
    queries = neighbour_queries(traced, step)
    if not queries:
        raise ValueError("No word of this text has a word beside it.")
    rows = [neuron_row(traced, layer, head, i).products[i + step] for i in queries]
    names = [f"{i + 1} {traced.labels[i]} → {traced.labels[i + step]}" for i in queries]
    title = f"q_d · k_d of three tokens with their neighbours, {place(layer, head)}"
    return strips(rows, names, replace(VALUE, title="Product"), title=title)


def said(walk: Walk) -> str:
    """Name the few dimensions that carry half of a pattern, and its score with and without them."""
    found = walk.decision
    if found is None:
        return "No query sees both the pattern’s keys and other keys, so no score can be taken apart."
    if walk.count is None:
        return "On average, keys outside the pattern score as high or higher, so no dimension carries the pattern."
    first = found.order[: walk.count]
    inside, outside = (signed(part[first].sum(), plus=True) for part in (found.pattern, found.others))
    names = ", ".join(str(dimension + 1) for dimension in first)
    adds, gives, them = ("It adds", "it gives", "it") if walk.count == 1 else ("Together they add", "they give", "them")
    return (
        f"{carried(found, walk.count)}: {names}. {adds} {inside} to the score of a key of the pattern and {outside} to "
        f"the score of another key. {leader(found)} Alone, {gives} the pattern a score of {walk.only:.3f}. Without "
        f"{them}, the score is {walk.without:.3f}.{_either(walk)}"
    )


def _either(walk: Walk) -> str:
    """Say whether these dimensions alone and the rest alone are both enough for the pattern, or neither is."""
    enough = [walk.best.would_name(score) for score in (walk.only, walk.without)]
    if not walk.best.named or enough[0] != enough[1]:
        return ""
    if enough[0]:
        return " Each of the two parts alone is enough to give the head its name."
    return " Neither of the two parts alone is enough to give the head its name."


def at_places(trace: Trace, head: tuple[int, int], queries: Sequence[int], step: int) -> str:
    """Name the strongest dimensions at each of a few queries, and say how many dimensions they share."""
    strongest = []
    for query in queries:
        products = neuron_row(trace, *head, query).products[query + step]
        first = np.argsort(-products, kind="stable")[:_STRONGEST]
        strongest.append([int(each) + 1 for each in first if products[each] > max(0, _COUNTS * products.max())])
    listed = "; ".join(
        f"at token {query + 1}: {', '.join(map(str, own)) or 'none'}"
        for query, own in zip(queries, strongest, strict=True)
    )
    same = len(set(strongest[0]).intersection(*strongest[1:]))
    told = (
        "No dimension is among the strongest at all of these tokens"
        if not same
        else f"{same} of them {'is' if same == 1 else 'are'} among the strongest at all of these tokens"
    )
    return (
        f"These dimensions add the most: {listed}. {told}. In BERT base, the dimensions of such a head "
        "differ from place to place, because the head must know which place comes next (Vig 2019)."
    )


def patterns_of(trace: Trace) -> tuple[str, str, str]:
    """Return the ids of the three patterns of Vig (2019), or of three that a text without delimiters can show.

    A toy's text has no delimiters and a single segment: every head would show a bag of words.
    """
    if not trace_roles(trace).delimiters.any():
        return "previous_token", "next_token", "same_word"
    return "delimiter", "bag_of_words", neighbour(trace)


def left_out(heads: int) -> str:
    """Say how many heads were left out of the search for the best one; "" if none was."""
    verb, end = ("attends", "is") if heads == 1 else ("attend", "are")
    told = f" {number_of(heads, 'head')} that {verb} nearly alike to all tokens {end} left out."
    return told if heads else ""
