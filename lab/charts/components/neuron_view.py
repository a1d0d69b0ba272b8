"""The data of the neuron view for the browser: the row of one query, which ``neuron_view.js`` draws."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd

from lab.analysis.heads.query_neurons import NeuronRow
from lab.charts.base.axes import visible
from lab.charts.base.chart_table import unique_names
from lab.charts.components.packing import pack
from lab.charts.kept.keepable import LiveChart


def neuron_chart(row: NeuronRow, tokens: Sequence[str], query: int, drawn: Sequence[int], *, title: str) -> LiveChart:
    """Pack ``row``, of the query at place ``query``, against the keys at the places ``drawn``.

    ``tokens`` are n labels of any text; places count from 0. A key takes 8·d_k + 16 bytes.
    """
    keys = list(drawn)
    alt = _alt(row, tokens, query, keys)
    header = {
        "title": title,
        "query_label": visible(tokens[query]),
        "place": query + 1,
        "labels": [visible(tokens[key]) for key in keys],
        "places": [key + 1 for key in keys],
        "total": len(tokens),
        "root": len(row.query) if row.divisor != 1 else None,
        "logsum": float(np.logaddexp.reduce(row.scaled, dtype=np.float64)),
        "alt": alt,
    }
    listed = ("keys", "values", "scores", "scaled", "weights", "lengths")
    of_keys = {name: getattr(row, name)[keys] for name in listed}
    arrays = {"query": row.query, **of_keys, "context": row.context, "contribution": row.contribution}
    return LiveChart(
        "neuron_view", title, alt, pack(header, arrays), partial(neuron_table, row, tokens, query, tuple(keys))
    )


def _alt(row: NeuronRow, tokens: Sequence[str], query: int, keys: Sequence[int]) -> str:
    top = int(row.weights.argmax())
    return (
        f"Neuron view of the query “{visible(tokens[query])}”, token {query + 1}: {len(keys)} of {len(tokens)} keys, "
        f"{len(row.query)} dimensions. The largest weight goes to “{visible(tokens[top])}”, token {top + 1}: "
        f"{row.weights[top]:.4f}."
    )


def neuron_table(row: NeuronRow, tokens: Sequence[str], query: int, drawn: Sequence[int]) -> pd.DataFrame:
    """One line for each key, preceded by the query and followed by the sum over all keys; missing values are empty."""
    every, keys = unique_names(tokens), list(drawn)
    d_k, nothing = len(row.query), np.nan
    numbers = np.full((len(keys) + 2, 4 + 4 * d_k), nothing, dtype=np.float32)
    numbers[1:-1, :4] = np.stack([each[keys] for each in (row.scores, row.scaled, row.weights, row.lengths)], axis=1)
    numbers[1:-1, 4:] = np.concatenate([each[keys] for each in (row.keys, row.products, row.values, row.weighted)], 1)
    numbers[0, 4 : 4 + d_k] = row.query
    numbers[-1, 2:4] = row.weights.sum(), np.linalg.norm(row.contribution)
    numbers[-1, -d_k:] = row.context
    names = [f"{name} {place}" for name in ("k", "q∘k", "v", "αv") for place in range(1, d_k + 1)]
    columns = ["score q·k", "scaled score", "weight α", "‖αvW_O‖", *names]
    rows = [f"query {every[query]}", *(f"{key + 1} · {every[key]}" for key in keys), "sum over all keys"]
    return pd.DataFrame(numbers, rows, columns)
