"""Two screens of the neuron view: the row of one query from start to end, and the dimensions that decide the weights.

Vig 2019 calls a dimension of q and k a neuron; in the lessons, a neuron is part of the feed-forward network.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import streamlit as st

from lab.analysis.heads import neurons
from lab.analysis.heads.neurons import DECIDED, Decision, Kept, NeuronRow, neuron_row
from lab.analysis.heads.pattern import own_pattern
from lab.analysis.heads.patterns import Pattern
from lab.analysis.heads.walk import Walk, walk
from lab.benches.neuron_view import figures
from lab.course.pages import step_name
from lab.course.words import escaped, named
from lab.models.trace import Trace
from lab.ui import parameters, selection
from lab.ui.components import mount
from lab.ui.drawing import code, draw, show_numbers
from lab.ui.frame.script import meaning
from lab.ui.parameters import AROUND
from lab.ui.sentence import show_sentence

NEURONS, DECIDING = "dimensions", "deciding"
FORWARD = ":material/arrow_forward:"
_HOW_TO_READ = (
    "Read a row from left to right: a key, its products with the query, their sum, the weight that follows, the value, "
    "and the vector that is added."
)


@dataclass(frozen=True)
class NeuronView:
    """One query of one head, all counted from 0."""

    trace: Trace
    layer: int
    head: int
    query: int

    @property
    def at(self) -> tuple[int, int]:
        return self.layer, self.head

    @property
    def width(self) -> int:
        """d_k, the number of dimensions."""
        return self.trace.model.config.head_width

    def name(self, token: int) -> str:
        """Return a token for Markdown, with its place."""
        return named(self.trace, token)


def show_neurons(view: NeuronView) -> None:
    """Draw the way from the vectors of query and keys to the vector that the head adds."""
    show_sentence(view.trace, view.query, of=view.at)
    st.markdown(_HOW_TO_READ)
    around = len(view.trace) > figures.KEYS and _choose_keys()
    row = neuron_row(view.trace, view.layer, view.head, view.query)
    call = partial(figures.neurons, view.trace, view.layer, view.head, view.query, around)
    chart = call()
    mount("neuron_view", chart.payload, "neuron-view")
    _say_row(view, row, around)
    st.caption(
        "A cell is a dimension of this head; Vig (2019) calls these dimensions neurons. Hover a cell, or use the arrow "
        "keys on a key, to see its dimension in every strip. Click a key, or press Enter, to see its sum term by term."
    )
    show_numbers(chart.table, "neuron-view", call)
    code(neurons.neuron_row)


def _choose_keys() -> bool:
    """Let the learner choose the keys of a long text that get a row; return True for the keys around the query."""
    return parameters.KEYS.choose("Keys") == AROUND


def _say_row(view: NeuronView, row: NeuronRow, around: bool) -> None:
    """Describe the vector that results from the row, and say which share of the row is drawn."""
    top, longest = int(row.weights.argmax()), int(row.lengths.argmax())
    text = f"{view.name(view.query)} gives its largest weight, **{row.weights[top]:.2f}**, to {view.name(top)}"
    if longest != top:
        text += f", but the longest vector comes from {view.name(longest)}: **{row.lengths[longest]:.2f}**"
    meaning(f"{text}. The head adds a vector of length **{np.linalg.norm(row.contribution):.2f}**.")
    keys = figures.drawn_keys(row, view.query, around)
    if len(keys) < len(row.keys):
        which = "around the query" if around else "with the largest weights, the query included"
        st.caption(
            f"{len(keys)} of {len(row.keys)} keys are drawn: the keys {which}. These keys have "
            f"{row.weights[keys].sum():.1%} of the weight. The sums include the keys that are not drawn."
        )


def show_deciding(view: NeuronView) -> None:
    """Draw the score difference between a pattern's keys and all other keys, by dimension."""
    pattern = _choose_pattern(view)
    _say_best(view, pattern)
    figure, count = st.container(), _choose_count(view)
    found = neurons.decide(view.trace, *view.at, pattern.id)
    kept = neurons.kept_of(view.trace, view.at, pattern.id, count)
    with figure:
        if found is None or kept is None:
            _say_no_case(view, pattern)
            return
        left, right = st.columns(2)
        with left:
            draw(partial(figures.deciding, view.trace, *view.at, pattern.id), "neurons-deciding")
        with right:
            draw(partial(figures.kept, view.trace, *view.at, pattern.id, count), "neurons-kept")
        _say_decision(found, pattern)
        _say_kept(found, kept, count)
    with st.expander("The formula", icon=":material/function:"):
        st.latex(
            r"\Delta_d = \operatorname{mean}_i\ \Bigl(\operatorname{mean}_{j \in P(i)} q_{id}\,k_{jd} - "
            r"\operatorname{mean}_{j \notin P(i)} q_{id}\,k_{jd}\Bigr)"
        )
    code(neurons.pattern_keys, neurons.decide, neurons.attention_of)


def _choose_pattern(view: NeuronView) -> Pattern:
    """Ask for the pattern."""
    name = parameters.PATTERN.choose("Pattern", width=280)
    return next((pattern for pattern in DECIDED if pattern.name == name), None) or _own_pattern(view)


def _choose_count(view: NeuronView) -> int:
    """Draw, folded, the choice of how many dimensions are kept or left out."""
    with st.expander("More controls", icon=":material/tune:"):
        asked = parameters.DIMENSIONS.choose(
            "Strongest dimensions", width=180, help="This many of the strongest dimensions are kept alone, or left out."
        )
    if asked > view.width:
        selection.note(f"This head has {view.width} dimensions, so you see {view.width} instead of {asked}.")
    return min(asked, view.width)


def _own_pattern(view: NeuronView) -> Pattern:
    """Find the pattern that the head on screen shows most clearly, and state its numbers."""
    own = own_pattern(view.trace, *view.at)
    if own is None:
        st.markdown(
            "This head shows none of the patterns more than a uniform head does. Choose a pattern, or another head."
        )
        return next(pattern for pattern in DECIDED if pattern.id == "delimiter")
    st.markdown(
        f"This head shows **{own.pattern.name}** most clearly: its score is {own.score:.2f}; a uniform head has "
        f"{own.uniform:.2f}."
    )
    return own.pattern


def _say_best(view: NeuronView, pattern: Pattern) -> None:
    """Offer a way to the head that shows the pattern best, unless this head is on screen."""
    found = walk(view.trace, pattern)
    if found is None or (found.best.layer, found.best.head) == view.at:
        return
    best = found.best
    label = f"Go to layer {best.layer + 1}, head {best.head + 1}, which shows this pattern best: {best.score:.3f}"
    st.button(label, key="_best_head", icon=FORWARD, on_click=take, args=(found, DECIDING))


def _say_no_case(view: NeuronView, pattern: Pattern) -> None:
    """Say why the pattern's score cannot be taken apart."""
    if pattern.id == "next_token" and view.trace.model.config.causal:
        reason = f"{escaped(view.trace.model.id)} is causal: a query cannot see its next token. Try the previous token."
    elif pattern.id == "bag_of_words":
        reason = "No query of this text sees words both inside and outside its own segment. Add a second sentence."
    else:
        reason = "No query of this text sees both keys of this pattern and other keys. Try another text or pattern."
    st.info(reason, icon=":material/filter_alt:")


def _say_decision(found: Decision, pattern: Pattern) -> None:
    """Say how large the score difference is, and how few dimensions carry it."""
    said = (
        f"{pattern.reading} Over {len(found.queries)} queries, the scores q · k of the pattern’s keys are on average "
        f"**{abs(found.total):.2f} {'higher' if found.total > 0 else 'lower'}** than the scores of the other keys."
    )
    few, many = found.needed(0.5), found.needed(0.9)
    if few is None:
        st.markdown(said)
        st.info("The other keys score as high or higher: no dimension carries this pattern here.")
        return
    more = f", {many} carry {found.share(many):.0%}" if many is not None and many > few else ""
    beyond = " The other dimensions reduce the difference." if found.share(few) > 1 else ""
    meaning(f"{carried(found, few)}{more}.{beyond} {leader(found)}")
    st.caption(said)


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
        f"Dimension {dimension + 1} adds most for {round(share * queries)} of {queries} queries; {others} so for the "
        "rest."
    )


def _say_kept(found: Decision, kept: Kept, count: int) -> None:
    """State the pattern's score with and without the chosen number of dimensions."""
    only, without = kept.at(count)
    every, none = kept.at(len(found.order))
    st.caption(
        f"The head’s score is **{every:.3f}**. With only the {count} strongest dimensions, the score is "
        f"**{only:.3f}**; without them, it is **{without:.3f}**. With no dimension at all, attention is uniform and "
        f"the score is {none:.3f}."
    )


def take(walk: Walk, step: str) -> None:
    """Go to the head of a walk, and open a step."""
    parameters.LAYER.set(walk.best.layer + 1)
    parameters.HEAD.set(walk.best.head + 1)
    parameters.TOKEN.set(walk.query + 1)
    parameters.PATTERN.set(walk.best.pattern.name)
    parameters.STEP.set(step_name("neuron-view", step))
