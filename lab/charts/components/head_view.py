"""Head view (after BertViz, Vig 2019): the attention of all heads of a layer as lines, each head in its colour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from lab.charts.base.axes import visible
from lab.charts.base.chart_table import ROWS, unique_names
from lab.charts.components.packing import pack
from lab.charts.kept.file import Live
from lab.charts.kept.keepable import Keepable
from lab.course.words import number_of

# The eight categorical colours of .streamlit/config.toml and eight more. Any two colours differ by at least 0.13 in
# OKLab, and each colour has a contrast of at least 3:1 with the page; a test measures difference and contrast. A head's
# number is always beside its colour, because no set of sixteen colours can be told apart by every eye.
LIGHT = (
    "#0439a1",
    "#cf6401",
    "#08996a",
    "#c978b7",
    "#6d5401",
    "#7960d7",
    "#206b7f",
    "#393d45",
    "#9c1e90",
    "#129cd8",
    "#5a0c78",
    "#72061e",
    "#906072",
    "#9c9600",
    "#ae1e00",
    "#d8366c",
)
DARK = (
    "#1193f4",
    "#d64119",
    "#2f8669",
    "#d790a8",
    "#fbca34",
    "#7a61ac",
    "#79c7fe",
    "#e4e8ef",
    "#36ea84",
    "#d88a00",
    "#b478fc",
    "#b41e78",
    "#845a00",
    "#48a800",
    "#84ae90",
    "#fcaefc",
)


def head_colours(count: int) -> dict[str, Sequence[str]]:
    """Return a colour for each of ``count`` heads, on light and on dark pages.

    After sixteen heads the colours repeat.
    """
    return {
        "light": [LIGHT[head % len(LIGHT)] for head in range(count)],
        "dark": [DARK[head % len(DARK)] for head in range(count)],
    }


# A weight travels as a whole number of ten-thousandths, in two bytes instead of a float32's four. It is rounded only
# here, so that the screen shows the same four decimals as Python prints.
STEPS = 10_000


def in_steps(weights: ArrayLike, *, of: str) -> NDArray[np.uint16]:
    """Attention weights in ten-thousandths. Raises ValueError unless all are in [0, 1]."""
    rounded = np.rint(np.asarray(weights, dtype=np.float64) * STEPS)
    if not (np.isfinite(rounded).all() and rounded.min() >= 0 and rounded.max() <= STEPS):
        raise ValueError(f"{of}: attention weights lie between 0 and 1.")
    return rounded.astype(np.uint16)


@dataclass(frozen=True, eq=False)
class HeadView(Keepable):
    """The data from which the browser draws one layer, for any choice of heads, filters and thresholds.

    attention         (H, n, n), weights in [0, 1]; rows are queries
    labels, special   n, tokens or words of any text, and whether each is a special one
    layer             from 0
    second            the place where the second text begins, None without one
    causal            True if row i has only i + 1 cells
    start             the heads drawn at first, from 0; empty for all
    hide              whether special tokens are hidden at first
    cover             the share of a row, in percent, that the lines cover at first; 0 for as much as usual

    :meth:`payload` raises ValueError for numbers outside [0, 1].
    """

    attention: ArrayLike
    labels: Sequence[str]
    special: Sequence[bool]
    model: str
    layer: int
    second: int | None = None
    causal: bool = False
    start: Sequence[int] = ()
    hide: bool = False
    cover: int = 0

    @cached_property
    def weights(self) -> NDArray[np.uint16]:
        """(H, n, n) weights, in the form in which they are sent to the browser."""
        return in_steps(self.attention, of="head_view")

    @property
    def heading(self) -> str:
        """The name of the figure."""
        return f"Head view of layer {self.layer + 1} of {visible(self.model, None)}"

    @property
    def alt(self) -> str:
        """The view in a sentence."""
        every, n, _ = self.weights.shape
        chosen = [head + 1 for head in self.start or range(every)]
        heads = f"head {chosen[0]}" if len(chosen) == 1 else f"{len(chosen)} of {every} heads"
        told = f"{self.heading}: lines between {number_of(int(n - self._hidden.sum()), 'token')}, {heads}."
        for strongest in self.table(1).to_dict("records"):
            told += (
                f" The heaviest line, {strongest['weight']:.2f}, leads from “{strongest['from']}” to "
                f"“{strongest['to']}” in head {strongest['head']}."
            )
        return told

    @property
    def _hidden(self) -> NDArray[np.bool_]:
        """For each token, whether it is hidden at first, (n,)."""
        return np.asarray(self.special, dtype=bool) & self.hide

    def table(self, most: int = 200) -> pd.DataFrame:
        """Return the ``most`` heaviest lines (head, from, to, weight) of the first view, heaviest first.

        Its lines are those of the heads at the start, however weak, between the tokens that are not hidden.
        """
        chosen = list(self.start) or list(range(len(self.weights)))
        drawn = np.flatnonzero(~self._hidden)
        weights = np.asarray(self.attention)[np.ix_(np.array(chosen), drawn, drawn)]
        names = [unique_names(self.labels)[place] for place in drawn]
        order = np.argsort(-weights, axis=None, kind="stable")[:most]
        head, query, key = np.unravel_index(order, weights.shape)
        found = pd.DataFrame(
            {
                "head": [chosen[i] + 1 for i in head],
                "from": [names[i] for i in query],
                "to": [names[i] for i in key],
                "weight": weights[head, query, key],
            }
        )
        found.attrs[ROWS] = weights.size
        return found

    def drawing(self) -> Live:
        """Return the view as a file draws it."""
        return Live("head_view", [self.payload()])

    def payload(self) -> bytes:
        """Return the bytes that :func:`lab.ui.components.mount` sends to ``head_view.js``."""
        header = {
            "model": visible(self.model, None),
            "layer": self.layer,
            "steps": STEPS,
            "labels": [visible(label) for label in self.labels],
            "second": self.second,
            "causal": self.causal,
            "start": list(self.start),
            "hide": self.hide,
            "cover": self.cover,
            "colours": head_colours(len(self.weights)),
        }
        return pack(header, {"weights": self.weights, "special": np.asarray(self.special, dtype=np.uint8)})
