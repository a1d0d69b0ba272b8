"""Head view (after BertViz, Vig 2019): the attention of all heads of a layer as lines between two columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lab.charts.base.labels import visible
from lab.charts.components.packing import pack
from lab.charts.components.palette import head_colours

# A weight travels as a whole number of these. Rounded here, once, its four decimals on screen are those
# that Python prints; in two bytes instead of the four of a float32.
STEPS = 10_000


@dataclass(frozen=True, eq=False)
class HeadView:
    """What the browser needs to draw one layer, whatever heads, filters and thresholds are chosen there.

    weights                   (H, n, n), attention in ten-thousandths; rows are queries
    labels                    n, tokens or words, fit to be drawn
    special                   n, 1 for a special token
    second                    where the second text begins, None without one
    layer                     from 0
    causal                    whether row i has i + 1 cells only
    start                     the heads drawn at first, from 0; empty for all
    """

    model: str
    layer: int
    weights: NDArray[np.uint16]
    labels: tuple[str, ...]
    special: NDArray[np.uint8]
    second: int | None
    causal: bool
    start: tuple[int, ...]

    def payload(self) -> bytes:
        """What :func:`lab.ui.components.mount` sends to ``head_view.js``."""
        header = {
            "model": visible(self.model, None),
            "layer": self.layer,
            "steps": STEPS,
            "labels": self.labels,
            "second": self.second,
            "causal": self.causal,
            "start": self.start,
            "colours": head_colours(len(self.weights)),
        }
        return pack(header, {"weights": self.weights, "special": self.special})

    def bytes_per_weight(self) -> float:
        """Bytes sent for each attention weight, labels and all; BertViz 1.4 writes 44.5."""
        return len(self.payload()) / self.weights.size


def head_view(  # noqa: PLR0913 - one argument for each thing the figure shows
    attention: ArrayLike,
    labels: Sequence[str],
    *,
    model: str,
    layer: int,
    special: Sequence[bool],
    second: int | None = None,
    causal: bool = False,
    start: Sequence[int] = (),
) -> HeadView:
    """Round the attention of a layer for the browser.

    Parameters
    ----------
    attention : (H, n, n) weights in [0, 1], rows are queries.
    labels, special : n, the tokens and whether each is a special one.
    second : index of the second text's first token.
    start : the heads to draw at first, from 0; all if empty.

    Raises
    ------
    ValueError : numbers outside [0, 1], not one label a token, or a head or second text out of range.
    """
    array = np.asarray(attention, dtype=np.float64)
    n = len(labels)
    if array.ndim != 3 or array.shape[1:] != (n, n) or array.size == 0 or len(special) != n:
        raise ValueError(
            f"head_view: attention has the shape {array.shape}, with {n} labels and {len(special)} marks of "
            "special tokens; it takes (heads, n, n) and n of both."
        )
    rounded = np.rint(array * STEPS)
    if not (np.isfinite(array).all() and rounded.min() >= 0 and rounded.max() <= STEPS):
        raise ValueError("head_view: attention weights lie between 0 and 1.")
    if second is not None and not 0 < second < n:
        raise ValueError(f"head_view: a second text cannot begin at token {second} of {n}.")
    if not all(0 <= head < len(array) for head in start):
        raise ValueError(f"head_view: there are {len(array)} heads, and {list(start)} are to be drawn.")
    return HeadView(
        model=model,
        layer=layer,
        weights=rounded.astype(np.uint16),
        labels=tuple(visible(label) for label in labels),
        special=np.asarray(special, dtype=np.uint8),
        second=second,
        causal=causal,
        start=tuple(start),
    )
