"""The head view's numbers: the strongest edges of a layer."""

from __future__ import annotations

import numpy as np
import pandas as pd

from lab.analysis.words.words import reduce_to_words, words_of
from lab.charts.base.tables import unique_names
from lab.models.trace import Trace


def strongest_edges(
    traced: Trace, layer: int, heads: tuple[int, ...] = (), words: bool = False, most: int = 200
) -> pd.DataFrame:
    """Return the ``most`` heaviest edges (from, to, weight) of ``heads`` (from 0; all if empty), the heaviest first.

    With ``words``, edges run between words: columns are added up, and rows averaged, over the tokens of a word.
    """
    attention, labels = np.asarray(traced.layer(layer).attention), traced.labels
    if words:
        cut = words_of(traced.encoding)
        attention, labels = reduce_to_words(attention, cut.groups), cut.labels
    chosen = list(heads) or list(range(len(attention)))
    weights, names = attention[chosen], unique_names(labels)
    order = np.argsort(-weights, axis=None, kind="stable")[:most]
    head, query, key = np.unravel_index(order, weights.shape)
    return pd.DataFrame(
        {
            "head": [chosen[i] + 1 for i in head],
            "from": [names[i] for i in query],
            "to": [names[i] for i in key],
            "weight": weights[head, query, key],
        }
    )
