"""Which dimensions decide: the score difference between a pattern's keys and all other keys, by dimension."""

from __future__ import annotations

from functools import partial

import streamlit as st
from numpy.typing import ArrayLike

from lab.analysis.heads import query_neurons
from lab.analysis.heads.named import CLEARLY
from lab.analysis.heads.patterns import Pattern
from lab.analysis.heads.query_neurons import DECIDED, Decision, Kept, kept_of
from lab.analysis.heads.walk import own_pattern, walk
from lab.benches.neuron_view import DECIDING, NeuronView
from lab.benches.neuron_view.pattern import NO_CASE, carried, decision, leader, pattern_of, show_way
from lab.charts.base.axes import AxisPlaces, Scale
from lab.charts.base.figure import Figure
from lab.charts.marks.bars import bars
from lab.charts.marks.lines import lines
from lab.course.words import escaped
from lab.figures.attention import place
from lab.models.trace import Trace
from lab.ui import parameters, selection
from lab.ui.drawing import code, draw
from lab.ui.screen import meaning

# The number of dimensions that get a separate bar.
NAMED = 10
ONLY, WITHOUT, NEEDED = "Only these", "Without these", "Score needed for the name"


def show(view: NeuronView) -> None:
    """Draw the score difference between a pattern's keys and all other keys, by dimension."""
    pattern = _choose_pattern(view)
    _show_best(view, pattern)
    figure, count = st.container(), _choose_count(view)
    found = query_neurons.decide(view.trace, *view.at, pattern.id)
    without = query_neurons.kept_of(view.trace, view.at, pattern.id, count)
    with figure:
        if found is None or without is None:
            st.info(no_case(view, pattern), icon=":material/filter_alt:")
            return
        left, right = st.columns(2)
        with left:
            draw(partial(deciding, view.trace, *view.at, pattern.id), "neurons-deciding")
        with right:
            draw(partial(kept, view.trace, *view.at, pattern.id, count), "neurons-kept")
        _show_decision(found, pattern)
        st.caption(score_kept(found, without, count))
    with st.expander("The formula", icon=":material/function:"):
        st.latex(
            r"\Delta_d = \operatorname{mean}_i\ \Bigl(\operatorname{mean}_{j \in P(i)} q_{id}\,k_{jd} - "
            r"\operatorname{mean}_{j \notin P(i)} q_{id}\,k_{jd}\Bigr)"
        )
    code(query_neurons.pattern_keys, query_neurons.decide, query_neurons.attention_of)


def _show_decision(found: Decision, pattern: Pattern) -> None:
    """Draw the size of the score difference, and how few dimensions carry it."""
    if (carry := said(found)) is None:
        st.markdown(difference(found, pattern))
        st.info("The other keys score as high or higher, so no dimension carries this pattern here.")
    else:
        meaning(carry)
        st.caption(difference(found, pattern))


def _show_own_pattern(view: NeuronView) -> Pattern:
    """Find the pattern that the head on screen shows most clearly, and state its numbers."""
    own = own_pattern(view.trace, *view.at)
    if own is None:
        st.markdown(
            "This head shows none of the patterns more than a uniform head does. Choose a pattern, or another head."
        )
        return next(pattern for pattern in DECIDED if pattern.id == "delimiter")
    st.markdown(
        f"This head shows **{own.pattern.name}** most clearly. Its score is {own.score:.2f}, and a uniform head has "
        f"the score {own.uniform:.2f}."
    )
    return own.pattern


def _show_best(view: NeuronView, pattern: Pattern) -> None:
    """Offer a way to the head that shows the pattern best, unless this head is on screen."""
    found = walk(view.trace, pattern)
    if found is None or (found.best.layer, found.best.head) == view.at:
        return
    best = found.best
    label = f"Go to layer {best.layer + 1}, head {best.head + 1}, which shows this pattern best: {best.score:.3f}"
    show_way(found, DECIDING, label, "_best_head")


def deciding(traced: Trace, layer: int, head: int, pattern: str) -> Figure:
    """Draw how much more each dimension adds to the scores of the pattern's keys than to others; one bar for the rest.

    Raises ValueError if no query of the text sees both kinds of key.
    """
    found = decision(traced, layer, head, pattern)
    values, rest = found.difference[found.order], max(0, len(found.order) - NAMED)
    labels = [f"dimension {dimension + 1}" for dimension in found.order[:NAMED]]
    shown = values[:NAMED].tolist()
    if rest:
        labels.append(f"the other {rest}")
        shown.append(float(values[NAMED:].sum()))
    title = f"{pattern_of(pattern).name}: what each dimension adds, {place(layer, head)}"
    return bars(labels, shown, Scale("Score of the pattern’s keys − the others’"), title=title)


def kept(traced: Trace, layer: int, head: int, pattern: str, count: int) -> Figure:
    """Draw the pattern's score with only the strongest dimensions, and without them; one point has ``count`` of them.

    Raises ValueError if no query of the text sees both kinds of key.
    """
    found = kept_of(traced, (layer, head), pattern, count)
    if found is None:
        raise ValueError(NO_CASE.format(pattern))
    uniform = found.at(0)[0]  # without any dimension, the head is uniform
    needed = uniform + CLEARLY * (1 - uniform)
    series: dict[str, ArrayLike] = {ONLY: found.only, WITHOUT: found.without, NEEDED: [needed] * len(found.counts)}
    places, scale = AxisPlaces("Strongest dimensions", found.counts.tolist()), Scale("Score", (0.0, 1.0))
    return lines(series, places, scale, title=f"{pattern_of(pattern).name}: score of {place(layer, head)}")


def said(found: Decision) -> str | None:
    """Say how few dimensions carry the score difference; None if no dimension carries the pattern."""
    few, many = found.needed(0.5), found.needed(0.9)
    if few is None:
        return None
    more = f", and {many} carry {found.share(many):.0%}" if many is not None and many > few else ""
    beyond = " The other dimensions reduce the difference." if found.share(few) > 1 else ""
    return f"{carried(found, few)}{more}.{beyond} {leader(found)}"


def difference(found: Decision, pattern: Pattern) -> str:
    """Say how large the score difference is."""
    return (
        f"{pattern.reading} Over {len(found.queries)} queries, the scores q · k of the pattern’s keys are on average "
        f"**{abs(found.total):.2f} {'higher' if found.total > 0 else 'lower'}** than the scores of the other keys."
    )


def score_kept(found: Decision, kept: Kept, count: int) -> str:
    """State the pattern's score with and without the chosen number of dimensions."""
    only, without = kept.at(count)
    every, none = kept.at(len(found.order))
    return (
        f"The head’s score is **{every:.3f}**. With only the {count} strongest dimensions, the score is "
        f"**{only:.3f}**; without them, it is **{without:.3f}**. With no dimension at all, attention is uniform and "
        f"the score is {none:.3f}."
    )


def no_case(view: NeuronView, pattern: Pattern) -> str:
    """Say why the pattern's score cannot be taken apart."""
    if pattern.id == "next_token" and view.trace.model.config.causal:
        return (
            f"{escaped(view.trace.model.id)} is causal, so a query cannot see its next token. Try the previous token."
        )
    if pattern.id == "bag_of_words":
        return "No query of this text sees words both inside and outside its own segment. Add a second sentence."
    return "No query of this text sees both keys of this pattern and other keys. Try another text or pattern."


def _choose_pattern(view: NeuronView) -> Pattern:
    """Ask for the pattern."""
    name = parameters.PATTERN.choose("Pattern", width=280)
    return next((pattern for pattern in DECIDED if pattern.name == name), None) or _show_own_pattern(view)


def _choose_count(view: NeuronView) -> int:
    """Draw, folded, the choice of how many dimensions are kept or left out."""
    with st.expander("More controls", icon=":material/tune:"):
        asked = parameters.DIMENSIONS.choose(
            "Strongest dimensions",
            width=180,
            help="The head keeps only this many of the strongest dimensions, or leaves them out.",
        )
    if asked > view.width:
        selection.note(f"This head has {view.width} dimensions, so you see {view.width} instead of {asked}.")
    return min(asked, view.width)
