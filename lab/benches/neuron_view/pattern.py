"""A pattern taken apart: the dimensions that carry it, and the way to the head that shows it best."""

from __future__ import annotations

import numpy as np
import streamlit as st

from lab.analysis.heads import query_neurons
from lab.analysis.heads.patterns import PATTERNS, Pattern
from lab.analysis.heads.query_neurons import Decision
from lab.analysis.heads.walk import Walk
from lab.course.pages import step_name
from lab.models.trace import Trace
from lab.ui import parameters

NO_CASE = "No query of this text sees both keys of the pattern {!r} and other keys."


def pattern_of(id: str) -> Pattern:
    """Return the pattern with this id. Raises KeyError if there is no such pattern."""
    return {pattern.id: pattern for pattern in PATTERNS}[id]


def decision(traced: Trace, layer: int, head: int, pattern: str) -> Decision:
    """Return how much more each dimension adds to the scores of the pattern's keys than to others.

    Raises ValueError if no query of the text sees both kinds of key.
    """
    found = query_neurons.decide(traced, layer, head, pattern)
    if found is None:
        raise ValueError(NO_CASE.format(pattern))
    return found


def carried(found: Decision, count: int) -> str:
    """State the share of the score difference that the first ``count`` dimensions carry."""
    verb = "dimensions carry" if count > 1 else "dimensions carries"
    return f"**{count} of {len(found.order)}** {verb} {found.share(count):.0%} of the difference"


def leader(found: Decision) -> str:
    """Say whether the same dimension decides for every query."""
    dimension, share = found.leader()
    queries, leaders = len(found.queries), len(np.unique(found.by_query.argmax(axis=1)))
    if leaders == 1:
        return f"Dimension {dimension + 1} adds the most for every query."
    if leaders == queries:
        return "A different dimension adds the most for each query."
    others = "one other does" if leaders == 2 else f"{leaders - 1} others do"
    return (
        f"Dimension {dimension + 1} adds the most for {round(share * queries)} of {queries} queries, and {others} so "
        "for the "
        "rest."
    )


def show_way(walk: Walk, step: str, label: str, key: str) -> None:
    """Draw a button that goes to the head of a walk, and opens a step."""

    def go() -> None:
        parameters.LAYER.set(walk.best.layer + 1)
        parameters.HEAD.set(walk.best.head + 1)
        parameters.TOKEN.set(walk.query + 1)
        parameters.PATTERN.set(walk.best.pattern.name)
        parameters.STEP.set(step_name("neuron-view", step))

    st.button(label, key=key, icon=":material/arrow_forward:", on_click=go)
