"""Find the head: the learner compares all heads by a metric, and looks until a map shows what is wanted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import streamlit as st

from lab.analysis.heads import metrics
from lab.analysis.heads.metrics import METRICS, Metric, Metrics, trace_metrics
from lab.analysis.heads.values import Values
from lab.course.words import capital, head_name, number_of
from lab.figures.metrics import all_heads
from lab.lessons.attention_metrics import SORTED
from lab.models.interventions import Head
from lab.questions.basis import Basis, own
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import change_here
from lab.ui.frame.header import idea
from lab.ui.parameters import HEAD, LAYER, METRIC
from lab.ui.shared.metric_choice import choose_metric, no_choice, unit_told
from lab.ui.shared.one_head import OneHead, draw_map
from lab.ui.taking import tell
from lab.ui.terms import say

IDEA = """
A **metric** turns each map into one number. Then you can compare all heads at a
glance."""

# A head whose number is this near to the best one is as good a find.
NEAR = 0.05


@dataclass(frozen=True)
class Target:
    """A head that the learner looks for.

    Attributes
    ----------
    name
        The target in a few words.
    basis
        What is wanted, in a sentence.
    score
        For each head, the number by which the lab judges it, (L, H); the largest is best.
    told
        What this number says of a head, with the number as ``{}``.
    metric
        The id of the metric that sorts for it.
    least
        The smallest number of a head that is what is wanted; in a toy, no head may have it.
    """

    name: str
    basis: Basis
    score: Callable[[Metrics], Values]
    told: str
    metric: str
    least: float

    @property
    def wanted(self) -> str:
        """What is wanted, in a sentence."""
        return self.basis.of[0]


def _one_link(found: Metrics) -> Values:
    return np.asarray(found.corrected["confidence_max"] - found.corrected["confidence_avg"])


TARGETS = (
    Target(
        "One favourite each",
        own(
            "Find a head in which nearly every token looks at a single token. Each row of its map has one strong cell."
        ),
        lambda found: found.corrected["confidence_avg"],
        "a token gives its favourite {} of its attention, on average",
        "confidence_avg",
        0.6,
    ),
    Target(
        "A little of everything",
        own("Find a head in which every token looks at nearly all tokens. Its map is even."),
        lambda found: found.corrected["spread"],
        "the entropy is {} of the largest possible one, on average",
        "spread",
        0.7,
    ),
    Target(
        "A single strong link",
        own(
            "Find a head with one very strong cell, in which most tokens have no favourite. One number is not "
            "enough for this."
        ),
        _one_link,
        "the largest weight is {} higher than the average weight of a token’s favourite",
        "confidence_max",
        0.3,
    ),
)


def found_it(target: Target, every: Metrics, head: Head) -> bool:
    """Return whether a head is what is wanted, and as good a find as the best one."""
    scores = target.score(every)
    return bool(scores[head] >= max(scores.max() - NEAR, target.least))


def said(target: Target, every: Metrics, head: Head) -> str:
    """Say what the target's number is in a head, and how many heads have a larger one."""
    scores = target.score(every)
    above = int((scores > scores[head]).sum())
    told = f"In {head_name(head)}, {target.told.format(f'**{scores[head]:.2f}**')}."
    if not above:
        return f"{told} No other head has a higher number."
    best = np.unravel_index(int(scores.argmax()), scores.shape)
    top = f" The highest value is {scores[best]:.2f}." if found_it(target, every, head) else ""
    higher = f"{number_of(above, 'head')} of {scores.size} {'has' if above == 1 else 'have'} a higher number"
    return f"{told} {capital(higher)}.{top}"


def show(view: OneHead) -> None:
    """Show all heads by a metric beside the map of the chosen head, and say whether it is the head that was wanted."""
    idea(IDEA)
    every = trace_metrics(view.trace)
    if view.trace.model.config.layers * view.trace.model.config.heads < 2:
        st.info("This model has only one head. Choose a larger model.", icon=":material/info:")
        return
    names = [target.name for target in TARGETS]
    chosen = st.segmented_control("Find the head with", names, default=names[0], required=True, key="_target")
    target = next(each for each in TARGETS if each.name == chosen)
    say(
        f"**{target.wanted}** Choose a metric. The first map shows it for all heads. Click a head to see its own map "
        "in the second."
    )
    verdict = st.container(border=True, key="verdict")
    metric = choose_metric(tau=False)
    if no_choice(every.corrected[metric.id]):
        return
    if told := unit_told(metric):
        st.caption(told)
    with verdict:
        _show_verdict(view, target, every)
    _show_maps(view, metric)
    tell(said(target, every, (view.layer.index, view.head)))
    code(metrics.trace_metrics)


def _show_maps(view: OneHead, metric: Metric) -> None:
    """Draw the metric of all heads, and beside it the map of the chosen head."""
    left, right = st.columns(2)
    with left:
        draw(
            partial(all_heads, view.trace, metric.id, view.layer.index, view.head, corrected=True),
            SORTED,
            clickable=True,
        )
    with right:
        draw_map(view, view.trace, f"Attention weights, {view.place}", "found-map")


def _show_verdict(view: OneHead, target: Target, every: Metrics) -> None:
    """Say whether the head on screen is the one that was wanted; if it is not, offer to show it."""
    head, scores = (view.layer.index, view.head), target.score(every)
    if found_it(target, every, head):
        say(f":material/check: **Found.** {said(target, every, head)}")
        return
    if scores.max() < target.least:
        say(f":material/search_off: **No head here does this.** {said(target, every, head)}")
        return
    say(f":material/search: **{capital(head_name(head))} is not it.** {said(target, every, head)}")
    layer, number = (int(at) for at in np.unravel_index(int(scores.argmax()), scores.shape))
    name = next(metric.name for metric in METRICS if metric.id == target.metric)
    st.button("Show me", key="_show_target", type="tertiary", on_click=_choose, args=(layer, number, name))


def _choose(layer: int, head: int, metric: str) -> None:
    change_here({LAYER: layer + 1, HEAD: head + 1})
    METRIC.set(metric)
