"""A softmax in which the reader moves one logit and sees the probabilities of all words change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from lab.charts.base.axes import visible
from lab.charts.components.packing import pack


@dataclass(frozen=True, eq=False)
class Softmax:
    """The words that are drawn, and the sum of all others.

    Attributes
    ----------
    words
        k words.
    logits
        (k,), their logits, divided by the temperature.
    others
        The number of words of the vocabulary that are not drawn.
    rest
        ln of the sum of e to the power of their logits; -inf if all words are drawn.
    chosen
        The word whose logit moves, from 0.
    temperature
        The number by which the logits were divided; if it is not 1, the figure says so.

    Raises
    ------
    ValueError
        Numbers that are not finite, a wrong number of logits, or no word at ``chosen``.
    """

    words: Sequence[str]
    logits: ArrayLike
    others: int
    rest: float
    chosen: int
    temperature: float = 1.0

    def __post_init__(self) -> None:
        logits = np.asarray(self.logits, dtype=np.float64)
        if logits.shape != (len(self.words),) or not np.isfinite(logits).all():
            raise ValueError(f"softmax: {len(self.words)} words need as many finite logits.")
        if not 0 <= self.chosen < len(self.words):
            raise ValueError(f"softmax: there is no word {self.chosen} among {len(self.words)}.")

    def payload(self) -> bytes:
        """The bytes that :func:`lab.ui.components.mount` sends to ``softmax.js``: the logits minus the largest one."""
        logits = np.asarray(self.logits, dtype=np.float64)
        header = {
            "words": [visible(word) for word in self.words],
            "largest": float(logits.max()),
            "others": self.others,
            "rest": None if np.isneginf(self.rest) else float(self.rest - logits.max()),
            "chosen": self.chosen,
            "called": "Logit" if self.temperature == 1 else f"Logit ÷ {self.temperature:g}",
        }
        return pack(header, {"logits": (logits - logits.max()).astype(np.float32)})
