"""Heads that rest: they give their attention to tokens that are not words of the text.

A row of attention adds up to 1. Clark et al. (2019, §3.2) suppose that a head of BERT that finds nothing gives its
weight to [SEP]; in GPT-2, it goes to the first token (Xiao et al. 2024, §3.1).
"""

from __future__ import annotations

import numpy as np

from lab.analysis.heads.metrics import trace_metrics
from lab.analysis.heads.switched_off import each_head_off, log_change
from lab.analysis.heads.values import Values
from lab.models.trace import Trace


def resting_share(trace: Trace) -> Values:
    """Return the share of attention that each head sends from words to special tokens, averaged over the words, (L, H).

    In a model without special tokens, the share sent to the first token; 0 for a text of one token.
    """
    return trace_metrics(trace, only_words=True).removed


def effect_sizes(trace: Trace, place: int | None, word: int | None, to_mean: bool = False) -> Values:
    """Return the size of the change with each head off, (L, H): |change of ln P| of ``word``, a token id, at ``place``.

    If there is no word, the size is the distance that the last layer's vectors move, as a share of their length.
    """
    if place is None or word is None:
        return each_head_off(trace, None, None, to_mean).moved
    return np.abs(log_change(trace, place, word, to_mean))
