"""How much each sublayer of one layer adds to each token, as bars: two rows of the map of additions."""

from __future__ import annotations

from functools import partial

import streamlit as st

from lab.analysis.layers.sublayers import sublayer_changes
from lab.course.words import told_apart
from lab.figures import sublayers
from lab.lessons.feed_forward.changes import SUBLAYER_NAMES
from lab.lessons.feed_forward.view import FeedForwardView
from lab.models.trace import Trace
from lab.ui.drawing import draw
from lab.ui.terms import say


def said(trace: Trace, layer: int) -> str:
    """Say for both sublayers of a layer (from 0) to which token they add most and least, compared with x."""
    told = []
    for name, values in zip(SUBLAYER_NAMES, sublayer_changes(trace).relative[layer], strict=True):
        most, least = int(values.argmax()), int(values.argmin())
        if f"{values[most]:.2f}" == f"{values[least]:.2f}":
            told.append(
                f"In layer {layer + 1}, {name} adds a vector {values[most]:.2f} times as long as x to each token."
            )
            continue
        told.append(
            f"In layer {layer + 1}, {name} adds most to {told_apart(trace, most)}: Δ is **{values[most]:.2f}** times "
            f"as long as x. It adds least to {told_apart(trace, least)}, where Δ is **{values[least]:.2f}** times as "
            "long as x."
        )
    return "\n\n".join(told)


def show_by_token(view: FeedForwardView) -> None:
    """Draw the bars of both sublayers of the layer on screen."""
    layer = view.layer.index
    for column, sublayer in zip(st.columns(2), range(len(SUBLAYER_NAMES)), strict=True):
        with column:
            draw(partial(sublayers.changes_by_token, view.trace, layer, sublayer, view.token), f"by-token-{sublayer}")
    say(said(view.trace, layer))
