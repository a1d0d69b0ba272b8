"""Tables of tokenization: the tokens that the model reads, one per row, and the pairs of a toy's corpus."""

from __future__ import annotations

import pandas as pd

from lab.charts.base.axes import Scale
from lab.charts.base.figure import Figure
from lab.charts.marks.bars import bars
from lab.charts.tokens.token_tables import token_table as table_of
from lab.models.trace import Trace
from lab.toy.merges import BPE, learn, made_up

_PAIRS = 10


def token_table(traced: Trace) -> pd.DataFrame:
    """List every token with its id, its segment and its characters in the text."""
    return table_of(traced.encoding)


def next_pairs(seed: int, trainer: str, made: int) -> Figure:
    """Draw the pairs of neighbours in a toy's corpus after some merges, the best first, with the next merge marked."""
    found = learn(made_up(seed).times, trainer).next(made)[:_PAIRS]
    what, form = ("Count", ".0f") if trainer == BPE else ("Score", ".3f")
    values, labels = [each.worth(trainer) for each in found], [" + ".join(each.pair) for each in found]
    title = f"Which pair is merged next, after {made} merge{'s' * (made != 1)}"
    return bars(labels, values, Scale(what, format=form), title=title, highlight=0)
