"""How much both sublayers change one token from layer to layer, beside the same model with random weights."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

from lab.analysis.layers.feed_forward import active_on_words
from lab.analysis.layers.sublayers import SUBLAYERS, SublayerChanges, changes_untrained, sublayer_changes
from lab.charts.base.axes import AxisPlaces, Scale
from lab.charts.base.figure import Figure
from lab.charts.marks.lines import lines
from lab.figures import sublayers
from lab.figures.choices import CHANGE_COSINE
from lab.lessons.feed_forward.changes import beside_untrained, much_added, silent_for_words
from lab.lessons.feed_forward.view import FeedForwardView
from lab.models.trace import Trace
from lab.ui import runs
from lab.ui.drawing import draw
from lab.ui.parameters import RESIDUAL, TWIN_SEED
from lab.ui.tables import show_table
from lab.ui.terms import say

# Whether a LayerNorm changes a correction on the way past the sublayers, in a post-norm and in a pre-norm model.
_ON_THE_WAY = {
    False: "In this model, a LayerNorm after each sum still changes the correction on its way.",
    True: "In this model, there is no LayerNorm on this way, so nothing changes the correction.",
}


def changes_of_token(traced: Trace, measure: str, token: int, seed: int | None = None) -> Figure:
    """Draw how much both sublayers change one token, from layer to layer.

    With a ``seed``, also draw the changes in :func:`lab.models.twin.random_twin`, the model with random weights.
    """
    every = {"": sublayer_changes(traced)}
    if seed is not None:
        every[", random"] = changes_untrained(traced, seed)
    values = {
        f"{name}{whose}": (of.cosine if measure == CHANGE_COSINE else of.relative)[:, at, token]
        for whose, of in every.items()
        for at, name in enumerate(SUBLAYERS)
    }
    log = measure != CHANGE_COSINE and all(line.min() > 0 for line in values.values())
    title = f"{measure} at {traced.labels[token]}, layer by layer{' (log scale)' if log else ''}"
    return lines(values, AxisPlaces("Layer"), Scale(measure), title=title, log=log)


def show_by_layer(view: FeedForwardView) -> None:
    """Draw the additions to one token, by length or by angle, beside those of the same model with random weights."""
    changes, seed = sublayer_changes(view.trace), _chosen_seed(view)
    before = None if seed is None else changes_untrained(view.trace, seed)
    after_network = changes.relative[:, 1, view.token]
    before_network = None if before is None else before.relative[:, 1, view.token]
    measure = RESIDUAL.choose("Measure")
    if measure == CHANGE_COSINE:
        say("The cosine is 1 if x and x + Δ point the same way, and 0 if they are at a right angle.")
        draw(partial(sublayers.changes, view.trace, measure, view.token), "changes-cosine")
    if view.config.layers > 1:  # a model with one layer has no line to draw
        draw(partial(changes_of_token, view.trace, measure, view.token, seed), "changes-of-token")
    said = (
        beside_untrained(view.name, after_network, before_network),
        much_added(after_network, before_network, changes.cosine[:, 1, view.token]),
        silent_for_words(active_on_words(view.trace)),
        "Why does a sublayer add to x instead of replacing it? Training sends corrections back through the model, "
        "from the last layer to the first. Because of the sum, a correction can go around each sublayer, so deep "
        f"networks are easier to train (He et al. 2016). {_ON_THE_WAY[view.config.pre_norm]}",
    )
    say("\n\n".join(sentence for sentence in said if sentence))
    if before is not None:
        _show_table(changes, before, view.token)
        seed_shown = view.page.selection[TWIN_SEED]
        st.caption(
            f"“Random weights” is a model of the same shape whose weights are drawn at random (seed {seed_shown})."
        )


def _chosen_seed(view: FeedForwardView) -> int | None:
    """The seed of the random weights to compare with; None for a toy, or if random weights are on screen."""
    return view.page.selection[TWIN_SEED] if view.trace.model.id in runs.model_ids() else None


def _show_table(after: SublayerChanges, before: SublayerChanges, token: int) -> None:
    """List ‖Δ‖ / ‖x‖ of both sublayers in each layer, with trained and with random weights."""
    columns = {
        f"{name}, {weights}": of.relative[:, at, token]
        for at, name in enumerate(SUBLAYERS)
        for weights, of in (("trained", after), ("random weights", before))
    }
    table = pd.DataFrame({"layer": range(1, len(after.relative) + 1), **columns})
    numbers = dict.fromkeys(columns, "%.2f")
    show_table(table, formats=numbers)
