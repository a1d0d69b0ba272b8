"""Model view: the values in the frames of all heads, and a table of all measurements of each head."""

from __future__ import annotations

import numpy as np
import pandas as pd

from lab.analysis.heads.metrics import METRICS, trace_metrics
from lab.analysis.heads.named import trace_names
from lab.analysis.heads.patterns import PATTERNS, trace_patterns
from lab.charts.components.model_view import Frames
from lab.figures.metrics import label, unit
from lab.models.trace import Trace

_METRICS = {metric.name: metric for metric in METRICS}
_PATTERNS = {pattern.name: pattern for pattern in PATTERNS}


def metric_frames(traced: Trace, name: str, corrected: bool, threshold: float) -> Frames:
    """Draw frames coloured by the metric with this name. Raises KeyError for an unknown name."""
    metric = _METRICS[name]
    values = trace_metrics(traced, threshold).values(metric.id, corrected)
    return Frames(label(metric, corrected, threshold), unit(metric, corrected), values)


def pattern_frames(traced: Trace, name: str) -> Frames:
    """Draw frames coloured by the score of the pattern with this name. Raises KeyError for an unknown name."""
    return Frames(name, "score", getattr(trace_patterns(traced), _PATTERNS[name].id))


def head_numbers(traced: Trace, corrected: bool = False, threshold: float = 0.01) -> pd.DataFrame:
    """One row for each head: the metrics, the scores of the patterns, and the pattern that names the head.

    Layers and heads count from 1. If the text has no case for a value, the value is nan.
    """
    every, found = trace_metrics(traced, threshold), trace_patterns(traced)
    layers, heads = every.removed.shape
    columns = {
        "layer": np.repeat(np.arange(1, layers + 1), heads),
        "head": np.tile(np.arange(1, heads + 1), layers),
    }
    for metric in METRICS:
        columns[label(metric, corrected, threshold)] = every.values(metric.id, corrected).ravel()
    for pattern in PATTERNS:
        columns[pattern.name] = getattr(found, pattern.id).ravel()
    return pd.DataFrame({**columns, "named": trace_names(traced).ravel()})
