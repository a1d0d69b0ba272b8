"""Model view (after BertViz, Vig 2019): every head of a model as a thumbnail of its attention."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lab.analysis.heads.comparing import Thumbnails
from lab.charts.base.axes import visible
from lab.charts.base.chart_table import unique_names
from lab.charts.components.head_view import STEPS, in_steps
from lab.charts.components.packing import pack
from lab.charts.kept.file import Live
from lab.charts.kept.keepable import Keepable
from lab.course.words import number_of


@dataclass(frozen=True, eq=False)
class Frames:
    """The values by which the frame of each head is coloured.

    name      the quantity, as the legend names it
    unit      of the values
    values    (L, H); nan if a head has none
    """

    name: str
    unit: str
    values: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ModelView(Keepable):
    """The data from which the browser draws all heads; the reader chooses scale and order there.

    thumbnails   maps (L, H, m, m) of weights in [0, 1], and the tokens that a cell stands for
    labels       n tokens of any text
    causal       whether cells above the diagonal do not exist
    frames       None: no frames
    opened       the layer and head marked as open, from 0
    told         how often Python has chosen the open head; a head that the reader opened later stays open
    jobs         the job of a head, by layer and head from 0; such a head has a mark
    numbers      makes the table; without it, the table has each head's strongest cell

    :meth:`payload` raises ValueError for numbers outside [0, 1].
    """

    thumbnails: Thumbnails
    labels: Sequence[str]
    model: str
    causal: bool = False
    frames: Frames | None = None
    opened: tuple[int, int] = (0, 0)
    told: int = 0
    jobs: Mapping[tuple[int, int], str] = field(default_factory=dict)
    numbers: Callable[[], pd.DataFrame] | None = None

    @cached_property
    def maps(self) -> NDArray[np.uint16]:
        """(L, H, m, m) maps, in the form in which they are sent to the browser."""
        return in_steps(self.thumbnails.maps, of="model_view")

    @property
    def heading(self) -> str:
        """The name of the figure."""
        return f"All heads of {visible(self.model, None)}"

    @property
    def alt(self) -> str:
        """The view in a sentence."""
        layers, heads = self.maps.shape[:2]
        tokens = number_of(len(self.labels), "token")
        return f"{self.heading}: {layers} × {heads} small maps of attention between {tokens}."

    def table(self) -> pd.DataFrame:
        """Return a line for each head, counted from 1: its strongest cell, and the value that colours its frame.

        If the view has other ``numbers``, these are returned.
        """
        if self.numbers is not None:
            return self.numbers()
        layers, heads, side = self.maps.shape[:3]
        maps, names = np.asarray(self.thumbnails.maps), unique_names(self.labels)[:: self.thumbnails.block]
        query, key = np.divmod(maps.reshape(layers * heads, -1).argmax(-1), side)
        columns: dict[str, Any] = {
            "layer": np.repeat(np.arange(1, layers + 1), heads),
            "head": np.tile(np.arange(1, heads + 1), layers),
            "looks most from": [names[place] for place in query],
            "at": [names[place] for place in key],
            "weight": maps.reshape(layers * heads, -1).max(-1),
        }
        if self.frames is not None:
            columns[self.frames.name] = self.frames.values.ravel()
        return pd.DataFrame(columns)

    def drawing(self) -> Live:
        """Return the view as a file draws it."""
        return Live("model_view", [self.payload()])

    def payload(self) -> bytes:
        """Return the bytes that :func:`lab.ui.components.mount` sends to ``model_view.js``: two bytes for each cell."""
        header = {
            "model": visible(self.model, None),
            "steps": STEPS,
            "block": self.thumbnails.block,
            "labels": [visible(label) for label in self.labels],
            "causal": self.causal,
            "frames": None if self.frames is None else {"name": self.frames.name, "unit": self.frames.unit},
            "opened": self.opened,
            "told": self.told,
            "jobs": {str(layer * self.maps.shape[1] + head): does for (layer, head), does in self.jobs.items()},
        }
        arrays: dict[str, NDArray[Any]] = {"maps": self.maps}
        if self.frames is not None:
            arrays["values"] = self.frames.values.astype(np.float32)
        return pack(header, arrays)
