"""Model view: what the frames of all heads show, and everything that is measured of each head as a table.

What ends in ``_of`` puts together measurements that are at hand; the function without it measures first.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from lab.analysis.heads.metrics import METRICS, Metrics, trace_metrics
from lab.analysis.heads.named import Chance, name_heads, trace_chance
from lab.analysis.heads.patterns import PATTERNS, Patterns, trace_patterns
from lab.charts.components.model_view import Frames
from lab.figures.metrics import label, unit
from lab.models.trace import Trace

_METRICS = {metric.name: metric for metric in METRICS}
_PATTERNS = {pattern.name: pattern for pattern in PATTERNS}


def metric_frames(every: Metrics, name: str, corrected: bool, threshold: float) -> Frames:
    """Frames coloured by a metric, by its name. Raises KeyError for another name."""
    metric = _METRICS[name]
    return Frames(label(metric, corrected, threshold), unit(metric, corrected), every.values(metric.id, corrected))


def pattern_frames(found: Patterns, name: str) -> Frames:
    """Frames coloured by the score of a pattern, by its name. Raises KeyError for another name."""
    return Frames(name, "score", getattr(found, _PATTERNS[name].id))


def head_numbers(traced: Trace, corrected: bool = False, threshold: float = 0.01) -> pd.DataFrame:
    """One row a head: the six metrics, the scores of the six patterns, and the pattern it is named after.

    Layers and heads count from 1. A value that the text has no case for is nan.
    """
    every = trace_metrics(traced, threshold=threshold)
    return head_numbers_of(every, trace_patterns(traced), trace_chance(traced), corrected, threshold)


def head_numbers_of(
    every: Metrics, found: Patterns, chance: Chance, corrected: bool, threshold: float
) -> pd.DataFrame:  # fmt: skip
    """The same, measured before."""
    layers, heads = every.removed.shape
    columns = {
        "layer": np.repeat(np.arange(1, layers + 1), heads),
        "head": np.tile(np.arange(1, heads + 1), layers),
    }
    for metric in METRICS:
        columns[label(metric, corrected, threshold)] = every.values(metric.id, corrected).ravel()
    for pattern in PATTERNS:
        columns[pattern.name] = getattr(found, pattern.id).ravel()
    return pd.DataFrame({**columns, "named": name_heads(found, chance).ravel()})
