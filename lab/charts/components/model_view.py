"""Model view (after BertViz, Vig 2019): every head of a model as a thumbnail of its attention."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lab.charts.base.labels import visible
from lab.charts.components.head_view import STEPS
from lab.charts.components.packing import pack


@dataclass(frozen=True, eq=False)
class Frames:
    """What colours the frame of each head.

    name      what is measured, as the legend says it
    unit      of the values
    values    (L, H); nan where a head has none
    """

    name: str
    unit: str
    values: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ModelView:
    """What the browser needs to draw all heads; scale and order are chosen there.

    maps      (L, H, m, m), attention in ten-thousandths; rows are queries
    block     tokens that a cell stands for, of which it holds the largest weight
    labels    n tokens, fit to be drawn
    causal    whether cells above the diagonal do not exist
    frames    None: no frames
    opened    the layer and head marked as open, from 0
    told      counts how often Python has decided which head is open: what the reader opened since stays open
    """

    model: str
    maps: NDArray[np.uint16]
    block: int
    labels: tuple[str, ...]
    causal: bool
    frames: Frames | None
    opened: tuple[int, int]
    told: int

    def payload(self) -> bytes:
        """What :func:`lab.ui.components.mount` sends to ``model_view.js``: two bytes a cell."""
        header = {
            "model": visible(self.model, None),
            "steps": STEPS,
            "block": self.block,
            "labels": self.labels,
            "causal": self.causal,
            "frames": None if self.frames is None else {"name": self.frames.name, "unit": self.frames.unit},
            "opened": self.opened,
            "told": self.told,
        }
        arrays = {"maps": self.maps}
        if self.frames is None:
            return pack(header, arrays)
        return pack(header, {**arrays, "values": self.frames.values.astype(np.float32)})


def model_view(  # noqa: PLR0913 - one argument for each thing the figure shows
    maps: ArrayLike,
    labels: Sequence[str],
    *,
    model: str,
    block: int,
    causal: bool = False,
    frames: Frames | None = None,
    opened: tuple[int, int] = (0, 0),
    told: int = 0,
) -> ModelView:
    """Round the small maps of all heads for the browser.

    Parameters
    ----------
    maps : (L, H, m, m) weights in [0, 1], rows are queries; see :func:`lab.analysis.heads.thumbnails.thumbnails`.
    labels : n, the tokens; a cell stands for ``block`` of them.

    Raises
    ------
    ValueError : numbers outside [0, 1], maps that are not of n tokens in blocks, not one value a head, or no
        such head to open.
    """
    array = np.asarray(maps, dtype=np.float64)
    m = -(-len(labels) // block)
    if array.ndim != 4 or array.shape[2:] != (m, m) or array.size == 0:
        raise ValueError(
            f"model_view: maps have the shape {array.shape}; of {len(labels)} tokens in blocks of {block} they "
            f"have (layers, heads, {m}, {m})."
        )
    rounded = np.rint(array * STEPS)
    if not (np.isfinite(array).all() and rounded.min() >= 0 and rounded.max() <= STEPS):
        raise ValueError("model_view: attention weights lie between 0 and 1.")
    if frames is not None and frames.values.shape != array.shape[:2]:
        raise ValueError(f"model_view: {frames.values.shape} values cannot frame {array.shape[:2]} heads.")
    if not all(0 <= place < count for place, count in zip(opened, array.shape[:2], strict=True)):
        raise ValueError(f"model_view: there is no layer and head {opened} among {array.shape[:2]}.")
    return ModelView(
        model=model,
        maps=rounded.astype(np.uint16),
        block=block,
        labels=tuple(visible(label) for label in labels),
        causal=causal,
        frames=frames,
        opened=opened,
        told=told,
    )
