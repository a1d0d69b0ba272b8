"""The sentence as a control: a row of tokens, and arcs from the chosen token to the others."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from lab.charts.base.axes import visible
from lab.charts.base.chart_table import unique_names
from lab.charts.components.packing import pack
from lab.charts.kept.file import Live
from lab.charts.kept.keepable import Keepable
from lab.course.words import number_of

_CHOOSE = "Click a word to choose it."
_ONE = "Click a word to look from it. The number below a word is its share of attention."
_TWO = f"{_ONE} Hold Shift and click to choose a second word."
# The hint on a touch screen.
_TOUCHED = "Tap a word to look from it. To choose a second word, tap the first one again, then the second."


@dataclass(frozen=True)
class Relation:
    """An arc below the row, from the word ``head`` to the word ``dependent`` (places in the row), with its name."""

    head: int
    dependent: int
    name: str


@dataclass(frozen=True, eq=False)
class SentenceRow(Keepable):
    """A row of m tokens of a text, with the weights that the browser needs to draw arcs without asking the server.

    Attributes
    ----------
    labels
        The m tokens that are drawn.
    special
        m, whether the model added the token, as it does with [CLS].
    count
        The number of tokens of the text.
    chosen
        The token that attends, counted in the text from 0.
    first
        The place in the text at which the row begins.
    other
        The token to which the chosen token attends; None if a page chooses only one token.
    weights
        (m, m), shares from 0 to 1: how much each token attends to each token. If it is None, the row has no arcs.
    place
        The layer and head of the weights, in words: "layer 5, head 11".
    across
        True if the arcs of all tokens are drawn at once; otherwise only the arcs of the token under the pointer are
        drawn. The largest weight has the widest arc.
    relations
        Arcs below the row.
    hidden
        Tokens of the text that the model does not see, from 0: each is drawn as a blank.
    read
        The number of tokens of the text that the model reads; the others are pale. None: all of them.
    hint
        The effect of a click, in words; if it is "", the figure shows its own hint on choosing one token, or two.
    direction
        The direction of the text: "ltr" or "rtl".

    Raises
    ------
    ValueError
        Weights that are not (m, m) shares, or a chosen token that is not drawn.
    """

    labels: Sequence[str]
    special: Sequence[bool]
    count: int
    chosen: int
    first: int = 0
    other: int | None = None
    weights: ArrayLike | None = None
    place: str = ""
    across: bool = False
    relations: Sequence[Relation] = ()
    hidden: Collection[int] = ()
    read: int | None = None
    hint: str = ""
    direction: str = "ltr"

    def __post_init__(self) -> None:
        drawn = len(self.labels)
        if not self.first <= self.chosen < self.first + drawn:
            raise ValueError(f"sentence: token {self.chosen} is chosen, and {drawn} from {self.first} on are drawn.")
        if self.weights is None:
            return
        weights = np.asarray(self.weights)
        if weights.shape != (drawn, drawn) or not ((weights >= 0) & (weights <= 1 + 1e-5)).all():
            raise ValueError(f"sentence: {drawn} tokens need ({drawn}, {drawn}) shares from 0 to 1.")

    def _hint(self) -> str:
        if self.hint:
            return self.hint
        if self.weights is None:
            return _CHOOSE
        return _ONE if self.other is None else _TWO

    @property
    def heading(self) -> str:
        """The name of the figure."""
        return "The sentence" if self.weights is None else f"Where tokens look, {self.place}"

    @property
    def alt(self) -> str:
        """The row in a sentence."""
        at = int(self.chosen) - self.first
        told = f"{number_of(len(self.labels), 'token')}; “{visible(self.labels[at])}” is chosen."
        if self.weights is None:
            return told
        row = np.asarray(self.weights)[at]
        most = int(row.argmax())
        return f"{told} It looks most at “{visible(self.labels[most])}”, {row[most]:.2f}."

    def table(self) -> pd.DataFrame:
        """Return the weights, a line for each token that attends; without weights, the tokens that are drawn."""
        names = unique_names(self.labels)
        if self.weights is None:
            return pd.DataFrame({"place": range(self.first + 1, self.first + len(names) + 1), "token": names})
        return pd.DataFrame(np.asarray(self.weights, dtype=np.float32), names, names)

    def drawing(self) -> Live:
        """Return the row as a file draws it."""
        return Live("sentence", [self.payload()])

    def payload(self) -> bytes:
        """The bytes that :func:`lab.ui.components.mount` sends to ``sentence.js``."""
        header = {
            "labels": [visible(label) for label in self.labels],
            "special": [bool(each) for each in self.special],
            "chosen": int(self.chosen) - self.first,
            "other": None if self.other is None else int(self.other) - self.first,
            "first": self.first,
            "count": self.count,
            "place": self.place,
            "arcs": self.weights is not None,
            "across": self.across,
            "relations": [[each.head, each.dependent, each.name] for each in self.relations],
            "hidden": [place in self.hidden for place in range(self.first, self.first + len(self.labels))],
            "read": self.count - self.first if self.read is None else self.read - self.first,
            "hint": self._hint(),
            "touched": _TOUCHED if self._hint() == _TWO else "",
            "direction": self.direction,
        }
        shown = {} if self.weights is None else {"weights": np.asarray(self.weights, np.float32)}
        return pack(header, shown)
