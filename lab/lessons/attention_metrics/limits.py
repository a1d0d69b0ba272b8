"""What moves a metric besides the head: special tokens, the threshold, the length of the text."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from lab.analysis.heads import metric_parts
from lab.analysis.heads.values import is_causal
from lab.figures import metrics
from lab.lessons.attention_metrics import LESSON, checks
from lab.ui.drawing import draw
from lab.ui.quiz.predictions import predict
from lab.ui.shared.metric_choice import choose_metric, found, no_choice, threshold, uniform
from lab.ui.shared.one_head import OneHead


def show_limits(view: OneHead) -> None:
    """A head without preference scores otherwise on a longer text."""
    n, causal = len(view.trace), is_causal(view.trace)
    question = checks.doubled(n, causal)
    if not predict(LESSON, question):
        return
    metric = choose_metric()
    by_length = metric_parts.uniform_by_length(causal, threshold())
    at = (view.layer.index, view.head)
    if no_choice(found(view.trace).values(metric.id, True)):
        return
    for corrected in (False, True):
        asked = (metric.id, *at, corrected, threshold())
        draw(partial(metrics.by_length, view.trace, *asked), f"by-length-{'corrected' if corrected else 'raw'}")
    raw, mended = (by_length.values(metric.id, each)[:, 0] for each in (False, True))
    even, own = uniform(view.trace), float(found(view.trace).values(metric.id, False)[at])
    shown = [f"{line[0]:.4g} to {line[-1]:.4g}" for line in (raw, mended)]
    same = np.allclose(mended, mended[0])
    st.markdown(
        f"The line is a uniform head on {metric_parts.LENGTHS[0]} to {metric_parts.LENGTHS[-1]} tokens, the point is "
        f"{view.place} on your {n}. From the shortest text to the longest, the line’s raw value goes from {shown[0]}. "
        + (
            f"Corrected, it is {mended[0]:.4g} at every length. "
            if same
            else f"The corrected one goes from {shown[1]}. "
        )
        + f"On {n} tokens, the raw value of the uniform head is {even.values(metric.id, False)[0]:.4g}, that of this "
        f"head {own:.4g}."
    )
