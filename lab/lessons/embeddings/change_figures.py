"""Runs with the input changed: other segments, tokens in another order, and how far the vectors move."""

from __future__ import annotations

import numpy as np

from lab.analysis.heads.attention import heaviest
from lab.analysis.layers.embeddings import Movement, Order, SegmentChange, Values, permutation_gap, segment_movement
from lab.charts.base.axes import AxisPlaces, Scale
from lab.charts.base.figure import Figure
from lab.charts.marks.bars import bars
from lab.charts.marks.lines import lines, settled
from lab.figures.attention import BARS
from lab.models.interventions import Interventions
from lab.models.trace import Trace

STATES, DISTANCE = "After layer (0 = before layer 1)", Scale("Distance ÷ length")
WITHOUT, WITH, NO_MASK = "without positions", "with positions", "without both"


def segment_means(traced: Trace, movement: Movement) -> dict[str, Values]:
    """How far the vectors of each segment move, (L+1,), averaged over its tokens."""
    ids = np.array(traced.segment_ids)
    present = sorted(set(traced.segment_ids))
    return {f"segment {'AB'[each % 2]}": movement.distance[:, ids == each].mean(axis=1) for each in present}


def segment_movement_by_layer(traced: Trace, change: SegmentChange) -> Figure:
    """Draw how far vectors move, layer by layer, when the segments are changed.

    Errors: those of ``segment_movement``.
    """
    movement = segment_movement(traced, change)
    places, means = AxisPlaces(STATES, range(len(movement.distance))), segment_means(traced, movement)
    return settled(lines(means, places, DISTANCE, title="How far vectors move, on average"))


def segment_movement_by_token(traced: Trace, change: SegmentChange, token: int = 0) -> Figure:
    """Draw how far each token's last vector moves; in a long text, for ``token`` and the tokens that move farthest."""
    moved, n = segment_movement(traced, change).distance[-1], len(traced)
    shown = heaviest(moved.astype(np.float32), token, min(n, BARS))
    part = "" if n <= BARS else f", the {len(shown)} of {n} that move farthest"
    title = f"How far each token’s last vector moves{part}"
    return bars([traced.labels[i] for i in shown], moved[shown], DISTANCE, title=title)


def ways_to_run(traced: Trace) -> dict[str, Interventions]:
    """The changes for runs in each order: without positions, with them, and, if a mask hides words, without both."""
    runs = {WITHOUT: Interventions(no_positions=True), WITH: Interventions()}
    config = traced.model.config
    if config.causal or (config.window is not None and config.window < len(traced) - 1):
        runs[NO_MASK] = Interventions(no_positions=True, no_causal_mask=True)
    return runs


def reordering(traced: Trace, order: Order) -> Figure:
    """Draw, for each hidden state, how far the outputs are from outputs that only move along with their tokens."""
    gaps = {name: permutation_gap(traced, order, run) for name, run in ways_to_run(traced).items()}
    series, places = (
        {name: gap.moved for name, gap in gaps.items()},
        AxisPlaces(STATES, range(len(gaps[WITHOUT].layers))),
    )
    scale = Scale("Share of the vector’s length", format=".2g")
    return settled(lines(series, places, scale, title="How far vectors differ after each layer, mean over tokens"))
