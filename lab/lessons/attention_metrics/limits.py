"""Limits: in a longer text more tokens share the attention, so most metrics change although the head does not."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import streamlit as st

from lab.analysis.heads.metrics import LENGTHS, uniform_by_length
from lab.analysis.heads.values import is_causal
from lab.figures import metrics
from lab.lessons.attention_metrics import LESSON
from lab.questions.asking import asks
from lab.questions.basis import derivable
from lab.questions.question import Option, Question, shuffled
from lab.questions.returning import Spot
from lab.ui.drawing import draw
from lab.ui.frame.closing import meaning
from lab.ui.frame.header import idea
from lab.ui.shared.metric_choice import choose_metric, found, no_choice, threshold, uniform
from lab.ui.shared.one_head import OneHead

IDEA = """
Can you compare texts of different length? In a longer text, more tokens share the attention, so the weights get smaller
in every head. Then a metric changes with the length alone."""


@asks(
    basis=derivable(LESSON, "numbers", "what corrected means"),
    hint="Think of an even row over a few tokens and of an even row over many tokens.",
    returns=3,
)
def why_divided(spot: Spot) -> Question | None:
    """Ask why the entropy of a row is divided by the logarithm of its length."""
    n = len(spot.trace)
    if n < 2:
        return None
    now, then = math.log(n), math.log(2 * n)
    return shuffled(
        "why-divided",
        f"A row can look at {n} tokens. Its corrected entropy is its entropy divided by ln {n}. Why?",
        [
            Option(
                "So that texts of different length can be compared",
                f"The entropy of an even row is {now:.2f} over {n} tokens, and {then:.2f} over {2 * n} tokens. After "
                "the division, both are 1.",
                correct=True,
            ),
            Option(
                "So that the weights of the row add up to 1",
                "The weights already add up to 1 after softmax. The entropy is computed from these weights.",
            ),
            Option(
                "So that a row that looks at only one token gets 1",
                "The entropy of such a row is 0, and 0 divided by anything is 0. An even row gets 1.",
            ),
        ],
    )


def said(trace_is_causal: bool, metric: str, tau: float) -> str:
    """Say how a metric of a head without preference changes with the length of the text, raw and corrected."""
    by_length = uniform_by_length(trace_is_causal, tau)
    raw, mended = (by_length.values(metric, corrected)[:, 0] for corrected in (False, True))
    told = (
        f"For a head without a preference, the raw value goes from {raw[0]:.4g} with {LENGTHS[0]} tokens to "
        f"{raw[-1]:.4g} with {LENGTHS[-1]} tokens, although the head does not change."
    )
    if np.allclose(mended, mended[0]):
        return f"{told} The corrected value is {mended[0]:.4g} at every length."
    return f"{told} The corrected value goes from {mended[0]:.4g} to {mended[-1]:.4g}."


def show(view: OneHead) -> None:
    """Show that a head without preference gets other values on a longer text."""
    idea(IDEA)
    metric = choose_metric()
    at = (view.layer.index, view.head)
    if no_choice(found(view.trace).values(metric.id, True)):
        return
    for corrected in (False, True):
        asked = (metric.id, *at, corrected, threshold())
        draw(partial(metrics.by_length, view.trace, *asked), f"by-length-{'corrected' if corrected else 'raw'}")
    even, own = uniform(view.trace), float(found(view.trace).values(metric.id, False)[at])
    st.caption(
        f"The line shows a uniform head. The point shows the value of {view.place} on your {len(view.trace)} tokens, "
        f"{own:.4g}. A uniform head would have the value {even.values(metric.id, False)[0]:.4g}."
    )
    meaning(said(is_causal(view.trace), metric.id, threshold()))
