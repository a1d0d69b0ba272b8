"""A list of sentences, each with a button for either label, and what a classifier says of the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lab.charts.base.axes import visible
from lab.charts.components.packing import pack


@dataclass(frozen=True)
class TaughtSentence:
    """A sentence of the list.

    Attributes
    ----------
    text
        The sentence.
    mark
        The label that the learner gave: true for the first one, None for none.
    says
        The probability of the first label, as the classifier says; None before it has learned.
    truth
        The label that counts as right, None if nobody knows it.
    """

    text: str
    mark: bool | None
    says: float | None
    truth: bool | None = None


@dataclass(frozen=True)
class Teach:
    """The list; ``labels`` are the names of the two labels, ``can_drop`` lets the learner take sentences out.

    ``kept`` is what the browser keeps for the next visit, "" for nothing new; ``asks`` wants what the browser has kept.
    """

    labels: tuple[str, str]
    sentences: Sequence[TaughtSentence]
    can_drop: bool
    kept: str = ""
    asks: bool = False

    def payload(self) -> bytes:
        """Return the bytes that :func:`lab.ui.components.mount` sends to ``teach.js``."""
        header = {
            "labels": [visible(label, None) for label in self.labels],
            "rows": [
                [visible(each.text, None), _sign(each.mark), None if each.says is None else round(each.says, 3),
                 _sign(each.truth)]
                for each in self.sentences
            ],
            "drops": self.can_drop,
            "kept": self.kept,
            "asks": self.asks,
        }  # fmt: skip
        return pack(header, {})


def _sign(mark: bool | None) -> int:
    return -1 if mark is None else int(mark)
