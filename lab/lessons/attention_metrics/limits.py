"""The screen about things besides the head that change a metric: special tokens, the threshold, the text's length."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from lab.analysis.heads.metrics import LENGTHS, uniform_by_length
from lab.analysis.heads.values import is_causal
from lab.figures import metrics
from lab.lessons.attention_metrics import LESSON, checks
from lab.ui.drawing import draw
from lab.ui.frame.closing import meaning
from lab.ui.quiz.predictions import predict
from lab.ui.shared.metric_choice import choose_metric, found, no_choice, threshold, uniform
from lab.ui.shared.one_head import OneHead


def show_limits(view: OneHead) -> None:
    """Show that a head without preference gets other scores on a longer text."""
    n, causal = len(view.trace), is_causal(view.trace)
    question = checks.doubled(n, causal)
    if not predict(LESSON, question):
        return
    metric = choose_metric()
    by_length = uniform_by_length(causal, threshold())
    at = (view.layer.index, view.head)
    if no_choice(found(view.trace).values(metric.id, True)):
        return
    for corrected in (False, True):
        asked = (metric.id, *at, corrected, threshold())
        draw(partial(metrics.by_length, view.trace, *asked), f"by-length-{'corrected' if corrected else 'raw'}")
    raw, mended = (by_length.values(metric.id, each)[:, 0] for each in (False, True))
    even, own = uniform(view.trace), float(found(view.trace).values(metric.id, False)[at])
    same = np.allclose(mended, mended[0])
    lengths = LENGTHS
    meaning(
        f"For a head without a preference, the raw value goes from {raw[0]:.4g} on {lengths[0]} tokens to "
        f"{raw[-1]:.4g} on {lengths[-1]}, although the head does not change. "
        + (
            f"The corrected value is {mended[0]:.4g} at every length."
            if same
            else f"The corrected value goes from {mended[0]:.4g} to {mended[-1]:.4g}."
        )
    )
    st.caption(
        f"The line shows a uniform head. The point shows {view.place} on your {n} tokens: {own:.4g}, where a uniform "
        f"head has {even.values(metric.id, False)[0]:.4g}."
    )
