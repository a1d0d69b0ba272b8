"""The screen about heads that park: the share that they park, and how much the model changes without each head."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from lab.analysis.heads import parked
from lab.analysis.heads.parked import PARKED, parked_share
from lab.analysis.heads.values import keep_others
from lab.analysis.ranks import rank_correlation
from lab.course.words import head_name, resting_place
from lab.figures.parked import parked_and_worth, parked_shares
from lab.lessons.attention_metrics import LESSON, checks, meanings
from lab.models.trace import Trace
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import meaning, try_this
from lab.ui.parameters import HEAD, LAYER
from lab.ui.quiz.predictions import predict
from lab.ui.shared.heads_off import Scene, may_run, scene
from lab.ui.shared.one_head import OneHead
from lab.ui.terms import say

SHARES = "parked-heads"


def show_parked(view: OneHead) -> Trace:
    """Show, for each head, how much attention it parks and how much changes without it."""
    say(
        f"The **parked share** of a head is the share of its attention that words give to {resting_place(view.trace)}. "
        "Compare this share with how much changes when the head is taken away, as in lesson 4."
    )
    now = scene(view)
    if keep_others(now.trace) is None:
        st.info("This text has no other tokens. Write a longer text.", icon=":material/edit:")
    elif may_run(now.trace):
        with now.drawing:
            _show(now)
    return now.trace


def _show(now: Scene) -> None:
    place, word = (None, None) if now.word is None else (now.place, now.word.token_id)
    rho, band = meanings.correlation(now.trace, place, word, now.to_mean)
    question = checks.goes_together(rho, band)
    if not predict(LESSON, question):
        return
    at = (now.layer, now.head)
    draw(partial(parked_and_worth, now.trace, *at, place, word, now.to_mean), "parked-and-worth")
    parked_here = int(np.count_nonzero(parked_share(now.trace) > PARKED))
    st.caption(
        f"Each point is a head. Heads right of the dashed line ({PARKED:.2f}) park: here, {parked_here or 'none'} of "
        f"{parked_share(now.trace).size}. The higher the point, the larger the change without the head."
    )
    meaning(meanings.parked(now.trace, place, word, now.to_mean))
    with st.expander("How the heads are compared", icon=":material/balance:"):
        say(meanings.parked_in_full(now.trace, place, word, now.to_mean))
    _try_a_head(now)
    with st.expander("The share that each head parks", on_change="rerun", key="_shares") as shares:
        if shares.open:
            draw(partial(parked_shares, now.trace, *at), SHARES, clickable=True)
    code(parked.parked_share, parked.effect_sizes, rank_correlation)


def _try_a_head(now: Scene) -> None:
    """Offer the head that parks most; from there, the head that parks least."""
    shares = parked_share(now.trace)
    most, least = meanings.ends(shares)
    at, which = (least, "smallest") if (now.layer, now.head) == most else (most, "largest")
    if np.ptp(shares) > 0:
        try_this(
            f"{head_name(at)} has the {which} share, {shares[at]:.2f}. Where is it in the figure?",
            f"Open the head with the {which} share",
            {LAYER: at[0] + 1, HEAD: at[1] + 1},
        )
