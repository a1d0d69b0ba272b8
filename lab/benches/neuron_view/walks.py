"""A screen of the neuron view: three patterns, each on the head that shows it best, and what makes it."""

from __future__ import annotations

from functools import partial

import streamlit as st

from lab.analysis.heads.neurons import DECIDED, decide
from lab.analysis.heads.walk import Walk, best_head, neighbour, walk
from lab.benches.neuron_view import figures
from lab.benches.neuron_view.view import DECIDING, FORWARD, NEURONS, NeuronView, carried, leader, take
from lab.course.words import escaped, signed
from lab.ui.drawing import code, draw


def show_walks(view: NeuronView) -> None:
    """Delimiter, bag of words, next token: each on the head of this model that shows it best."""
    by_id = {pattern.id: pattern for pattern in DECIDED}
    for id in ("delimiter", "bag_of_words", neighbour(view.trace)):
        with st.container(border=True):
            st.markdown(f"### {by_id[id].name}")
            if id == "previous_token":
                st.markdown(
                    f"{escaped(view.trace.model.id)} is causal: no query sees the next token. Its mirror image is "
                    "the previous token."
                )
            found = walk(view.trace, by_id[id])
            if found is None:
                st.markdown("This text has no case of the pattern.")
            else:
                _show_walk(view, found)
    code(best_head, decide)


def _show_walk(view: NeuronView, walk: Walk) -> None:
    """What is true of the head, its dimensions, and the ways to it."""
    _say_walk(walk)
    at, id = (walk.best.layer, walk.best.head), walk.best.pattern.id
    if walk.decision is not None and walk.best.score > walk.best.uniform:
        draw(partial(figures.dimensions, view.trace, *at, id), f"neurons-{id.replace('_', '-')}")
    _ways(walk)


def _say_walk(walk: Walk) -> None:
    """The head, whether it has the pattern, and what makes it: nothing is taken apart that is not there."""
    best, pattern = walk.best, walk.best.pattern
    heads = "head" if best.left_out == 1 else "heads"
    aside = f" (but for {best.left_out} {heads} that attend nearly alike to all)" if best.left_out else ""
    where = f"layer {best.layer + 1}, head {best.head + 1}"
    st.markdown(
        f"{pattern.reading} The head that shows it best{aside} is **{where}**: score **{best.score:.3f}**. On this "
        f"text a uniform head scores {best.uniform:.3f}, and the best head of the same architecture with random "
        f"weights {best.untrained:.3f}."
    )
    if best.score <= best.uniform:
        st.markdown(
            "It scores no more than a uniform head, so the score shows no choice here: there is nothing to take apart."
        )
        return
    if not best.named:
        st.markdown("That is not clearly above both: a name needs half of what the uniform head leaves to 1.")
    _say_made(walk)


def _say_made(walk: Walk) -> None:
    """The few dimensions that carry half of a pattern, and what it is with and without them."""
    found = walk.decision
    if found is None:
        st.markdown("No query sees the pattern’s keys and others besides, so no score can be taken apart.")
    elif walk.count is None:
        st.markdown("On average its other keys score as high or higher: no dimension carries the pattern.")
    else:
        first = found.order[: walk.count]
        inside, outside = (signed(part[first].sum(), plus=True) for part in (found.pattern, found.others))
        names = ", ".join(str(dimension + 1) for dimension in first)
        st.markdown(
            f"{carried(found, walk.count)}: {names}. Together they add {inside} to the score of a key of the pattern "
            f"and {outside} to that of another key. {leader(found)} Alone they give the pattern a score of "
            f"{walk.only:.3f}; without them it is {walk.without:.3f}.{_either(walk)}"
        )


def _either(walk: Walk) -> str:
    """Whether the dimensions and the rest each make the pattern alone, or neither does."""
    enough = [walk.best.would_name(score) for score in (walk.only, walk.without)]
    if not walk.best.named or enough[0] != enough[1]:
        return ""
    if enough[0]:
        return " Either part alone is enough for the name."
    return " Neither part alone is enough for the name."


def _ways(walk: Walk) -> None:
    """To the head: its dimensions at the query that shows the pattern best, and the dimensions that decide."""
    best = walk.best
    with st.container(horizontal=True):
        for step, label in ((NEURONS, "See its dimensions"), (DECIDING, "See which decide")):
            key = f"_walk.{best.pattern.id}.{step}"
            st.button(label, key=key, icon=FORWARD, on_click=take, args=(walk, step))
