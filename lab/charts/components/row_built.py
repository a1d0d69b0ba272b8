"""Build a row of attention step by step: scores, ÷ √d_k, softmax, times values (Vaswani et al. 2017, eq. 1)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from lab.charts.base.axes import visible
from lab.charts.base.chart_table import unique_names
from lab.charts.components.packing import pack
from lab.charts.kept.file import Live
from lab.charts.kept.keepable import Keepable


@dataclass(frozen=True, eq=False)
class RowBuilt(Keepable):
    """The data from which the browser builds one row, stage by stage.

    query         the token whose row it is
    labels        m keys, only the drawn ones
    scores        (m,), query times key
    weights       (m,), their shares
    hidden        (m,), whether the mask hides a key from the query: its weight is 0
    total         the sum of the weights of all keys
    values        (m, d_k)
    context       (d_k,), the sum over all keys, drawn or not
    rest          the number of keys that are not drawn
    scaled        whether the model divides by √d_k
    place         the layer and the head, in words; "" to leave them out
    means         the meaning of each of the four stages, in plain words; empty to leave it out

    Raises ValueError for numbers that are not finite, or weights outside [0, 1].
    """

    query: str
    labels: Sequence[str]
    scores: ArrayLike
    weights: ArrayLike
    hidden: ArrayLike
    total: float
    values: ArrayLike
    context: ArrayLike
    rest: int = 0
    scaled: bool = True
    means: Sequence[str] = ()
    place: str = ""

    def __post_init__(self) -> None:
        numbers = np.concatenate([np.ravel(part) for part in (self.scores, self.values, self.context)])
        weights = np.asarray(self.weights)
        if not np.isfinite(numbers).all() or not ((weights >= 0) & (weights <= 1)).all():
            raise ValueError("row_built: finite numbers, and weights from 0 to 1.")

    @property
    def heading(self) -> str:
        """The name of the figure."""
        return f"The row of “{visible(self.query)}”, built step by step{self.place and f', {self.place}'}"

    @property
    def alt(self) -> str:
        """The row in a sentence."""
        weights = np.asarray(self.weights)
        most = int(weights.argmax())
        return (
            f"{self.heading}: scores, the division, softmax, and the sum of the values. The largest weight, "
            f"{weights[most]:.2f}, goes to “{visible(self.labels[most])}”."
        )

    def table(self) -> pd.DataFrame:
        """Return a line for each key that is drawn: its score, the same divided, its weight, its value's length."""
        scores, hidden = _sent(self.scores), np.asarray(self.hidden, dtype=bool)
        divided = np.where(hidden, np.float32("-inf"), scores / np.float32(self._root))
        return pd.DataFrame(
            {
                "score q·k": scores,
                "divided": divided.astype(np.float32),
                "weight": _sent(self.weights),
                "length of the value": np.linalg.norm(_sent(self.values), axis=-1),
            },
            unique_names(self.labels),
        )

    def drawing(self) -> Live:
        """Return the row as a file draws it."""
        return Live("row_built", [self.payload()])

    @property
    def _root(self) -> float:
        return math.sqrt(np.shape(self.values)[1]) if self.scaled else 1.0

    def payload(self) -> bytes:
        """Return the bytes that :func:`lab.ui.components.mount` sends to ``row_built.js``."""
        width = np.shape(self.values)[1]
        header = {
            "query": visible(self.query),
            "labels": [visible(label) for label in self.labels],
            "root": self._root,
            "width": width,
            "rest": self.rest,
            "total": self.total,
            "means": list(self.means),
        }
        arrays = {name: _sent(getattr(self, name)) for name in ("scores", "weights", "values", "context")}
        return pack(header, {**arrays, "hidden": np.asarray(self.hidden, dtype=np.uint8)})


def _sent(values: ArrayLike) -> NDArray[np.float32]:
    return np.ascontiguousarray(values, dtype=np.float32)
