"""Heads at rest: how much each head rests, and the change of an answer without it."""

from __future__ import annotations

import numpy as np

from lab.analysis.heads.ablation import log_change
from lab.analysis.heads.resting import effect_sizes, resting_share
from lab.analysis.heads.values import Values
from lab.charts.base.axes import Scale
from lab.charts.base.figure import Figure
from lab.charts.marks.scatter import scatter
from lab.figures.attention import place as place_of
from lab.models.trace import Trace


def changes(traced: Trace, place: int | None, word: int | None) -> Values:
    """Return the change with each head at its mean, as :func:`rest_and_effect` draws it, (L, H)."""
    if place is None or word is None:
        return effect_sizes(traced, None, None, to_mean=True)
    return log_change(traced, place, word, to_mean=True)


def rest_and_effect(traced: Trace, layer: int, head: int, place: int | None = None, word: int | None = None) -> Figure:
    """Draw the share that every head rests against the change with the head at its mean; one head has a ring.

    The change is that of ln P of ``word`` (a token id) at ``place``, below 0 if the word gets less probable, or without
    them, the distance that the last layer's vectors move. The dashed line is the median share: half of the heads rest
    more.
    """
    shares, effects = resting_share(traced), changes(traced, place, word)
    heads = shares.shape[1]
    names = [place_of(*divmod(at, heads)) for at in range(shares.size)]
    of = "last vectors" if word is None else f"ln P({traced.model.tokenizer.id_to_token(word)})"
    scales = (
        Scale("Attention from words to resting places", (0.0, 1.0), ".2f"),
        Scale(f"Change of {of} with the head at its mean", format=".2f"),
    )
    points = shares.ravel(), effects.ravel()
    title, at = "How much a head rests, and what changes without it", layer * heads + head
    return scatter(names, points, scales, title=title, rule=float(np.median(shares)), highlight=at)
