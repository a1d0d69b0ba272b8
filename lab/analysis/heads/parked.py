"""Heads that park their attention: how much of it rests on tokens that are no words of the text.

A row of attention adds up to 1, so a head that finds nothing must put its weight somewhere. In BERT that is mostly
[SEP] (Clark et al. 2019, §3.2), in GPT-2 the first token (Xiao et al. 2024, §3.1).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from lab.analysis.heads.ablation import each_head_off, log_change
from lab.analysis.heads.metrics import trace_metrics
from lab.analysis.heads.values import Values
from lab.models.trace import Trace

# From this share on the lab says that a head parks. The line is the lab's own.
PARKED = 0.9


def parked_share(trace: Trace) -> Values:
    """The share of attention, (L, H), that each head's words give to the special tokens, as a mean over the words.

    To the first token where a model has no special tokens; 0 for a text that has no other.
    """
    return trace_metrics(trace, only_words=True).removed


def effect_sizes(trace: Trace, place: int | None, word: int | None, to_mean: bool = False) -> Values:
    """How much changes, (L, H), with each head off: |change of ln P| of ``word``, a token id, at ``place``.

    Without a word, how far the vectors of the last layer move, as a share of their length.
    """
    if place is None or word is None:
        return each_head_off(trace, None, None, to_mean).moved
    return np.abs(log_change(trace, place, word, to_mean))


def rank_correlation(first: ArrayLike, second: ArrayLike) -> float:
    """Spearman's ρ, from −1 to 1: whether two numbers of the same things put them into the same order.

    It is the correlation of the ranks; equal numbers share theirs. nan where one of them is the same everywhere.
    """
    one, two = (ranks(np.asarray(values).ravel()) for values in (first, second))
    if np.ptp(one) == 0 or np.ptp(two) == 0:
        return float("nan")
    return float(np.corrcoef(one, two)[0, 1])


def ranks(values: Values) -> Values:
    """The place of each number in their order, from 1; equal ones get the mean of theirs."""
    _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[which]
