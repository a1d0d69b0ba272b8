"""The sentence as the control of a page: its tokens, and the attention from each token to each other token."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lab.analysis.heads.one_row import attention_map, window
from lab.charts.base.axes import direction
from lab.charts.components.sentence_control import Relation, SentenceRow
from lab.models.trace import Trace

# A layer, and one of its heads, from 0, or None for the mean over its heads.
Looking = tuple[int, int | None]
# The most tokens in a row; for a longer text, the row is a window around the chosen token.
DRAWN = 48


def sentence(
    traced: Trace,
    query: int,
    key: int | None = None,
    *,
    of: Looking | None = None,
    relations: Sequence[Relation] = (),
) -> SentenceRow:
    """The row of tokens with arcs from ``query``.

    Parameters
    ----------
    traced
        The run.
    query, key
        The token that attends, and the token that it attends to, from 0; without ``key``, only the first is chosen.
    of
        The layer and head whose arcs are drawn, from 0, or None for the mean over the layer's heads. Without ``of``,
        no arcs.
    relations
        Arcs below the row, between places in the text; arcs that leave the window are left out.
    """
    seen = window(query, len(traced), DRAWN)
    weights = None if of is None else weights_of(traced, *of)[seen, seen]
    return SentenceRow(
        labels=traced.labels[seen],
        special=traced.encoding.special[seen],
        chosen=query,
        other=key,
        weights=weights,
        first=seen.start,
        count=len(traced),
        place="" if of is None else _place(*of),
        relations=_inside(relations, seen),
        direction=direction(traced.text),
    )


def weights_of(traced: Trace, layer: int, head: int | None = None) -> NDArray[np.float32]:
    """The weights of a head, (n, n), or their mean over the heads of the layer."""
    if head is not None:
        return attention_map(traced.layer(layer), head)
    mean: NDArray[np.float32] = np.asarray(traced.layer(layer).attention).mean(axis=0)
    return mean


def _place(layer: int, head: int | None) -> str:
    return f"layer {layer + 1}, " + ("mean over its heads" if head is None else f"head {head + 1}")


def _inside(relations: Sequence[Relation], seen: slice) -> list[Relation]:
    """The relations between tokens of the window, by their places in it."""
    return [
        Relation(each.head - seen.start, each.dependent - seen.start, each.name)
        for each in relations
        if all(seen.start <= place < seen.stop for place in (each.head, each.dependent))
    ]
