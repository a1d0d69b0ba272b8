"""The screen about heads that park: the number that finds them, beside what the model loses without them."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from lab.analysis.heads import parked
from lab.analysis.heads.parked import PARKED, parked_share
from lab.analysis.heads.values import keep_others
from lab.course.heads import head_name, resting_place
from lab.figures.parked import parked_and_worth, parked_shares
from lab.lessons.attention_metrics import LESSON, checks, meanings
from lab.models.trace import Trace
from lab.ui.drawing import code, draw
from lab.ui.frame.script import meaning, try_this
from lab.ui.parameters import HEAD, LAYER
from lab.ui.quiz.predictions import predict
from lab.ui.shared.heads_off import Scene, may_run, scene
from lab.ui.shared.one_head import OneHead, draw_map

SHARES = "parked-heads"


def show_parked(view: OneHead) -> Trace:
    """How much each head parks, beside how much changes without it."""
    st.markdown(
        f"Add up what the words of your text give to {resting_place(view.trace)}: the **parked share** of a head. "
        "Lesson 4 switched heads off. Here the two numbers meet."
    )
    now = scene(view, first=False)
    if keep_others(now.trace) is None:
        st.info("Nothing else is left of this text. Write a longer one.", icon=":material/edit:")
    elif may_run(now):
        _show(view, now)
    return now.trace


def _show(view: OneHead, now: Scene) -> None:
    place, word = (None, None) if now.word is None else (now.place, now.word.token_id)
    rho, band = meanings.correlation(now.trace, place, word, now.to_mean)
    question = checks.goes_together(rho, band)
    if not predict(LESSON, question):
        return
    at = (now.layer, now.head)
    draw(partial(parked_and_worth, now.trace, *at, place, word, now.to_mean), "parked-and-worth")
    st.markdown(
        f"Each point is a head. A head that gives more than {PARKED:.2f}, the dashed line, is said to park: "
        f"{np.count_nonzero(parked_share(now.trace) > PARKED) or 'none'} of {parked_share(now.trace).size} here. The "
        "higher a point, the more changes without that head, whether up or down."
    )
    meaning(meanings.parked(now.trace, place, word, now.to_mean))
    with st.expander("How the heads are compared", icon=":material/balance:"):
        st.markdown(meanings.parked_in_full(now.trace, place, word, now.to_mean))
    _try_a_head(now)
    draw(partial(parked_shares, now.trace, *at), SHARES, clickable=True)
    draw_map(view, now.trace, f"The chosen head: {view.place}", "chosen-head")
    code(parked.parked_share, parked.effect_sizes, parked.rank_correlation)


def _try_a_head(now: Scene) -> None:
    """The head that parks most; from there, the one that parks least."""
    shares = parked_share(now.trace)
    most, least = meanings.ends(shares)
    at, which = (least, "smallest") if (now.layer, now.head) == most else (most, "largest")
    if np.ptp(shares) > 0:
        try_this(
            f"{head_name(at).capitalize()} has the {which} share, {shares[at]:.2f}. Look at its map below.",
            f"Open the head with the {which} share",
            {LAYER: at[0] + 1, HEAD: at[1] + 1},
        )
