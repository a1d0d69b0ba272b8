"""Numbers about a head on one sentence. Their means over sentences of different lengths can be compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lab.analysis.heads.metrics import METRICS, attention_metrics
from lab.analysis.heads.patterns import PATTERNS, head_patterns, trace_roles
from lab.analysis.heads.specialization import SPECIALIZATIONS, head_specialization
from lab.analysis.heads.values import Mask, Values, Weights, is_causal

if TYPE_CHECKING:
    from lab.models.trace import Trace

# All features are corrected for length, because sentences of different lengths are averaged. The pattern "broad" is
# left out, because it is the same number as the metric "spread".
_METRIC_IDS = tuple(metric.id for metric in METRICS)
_PATTERN_IDS = tuple(pattern.id for pattern in PATTERNS if pattern.id != "broad")
FEATURES = (*_METRIC_IDS, *_PATTERN_IDS, *(dimension.id for dimension in SPECIALIZATIONS))


@dataclass(frozen=True, eq=False)
class HeadSample:
    """A sentence's trace and its tags: part of speech and entity of each token; None for a token without a tag."""

    trace: Trace
    upos: Sequence[str | None]
    entities: Sequence[str | None]


def features_of(groups: Sequence[Weights], sample: HeadSample, keep: Mask | None = None) -> Values:
    """Features of each head from its attention, in groups of :func:`lab.analysis.heads.values.layer_groups`."""
    roles, causal = trace_roles(sample.trace), is_causal(sample.trace)
    rows = []
    for attention in groups:
        metrics = attention_metrics(attention, causal=causal, keep=keep).corrected
        patterns = head_patterns(attention, roles, causal=causal, keep=keep)
        special = head_specialization(attention, sample.upos, sample.entities, causal=causal, keep=keep).corrected
        columns = [metrics[name] for name in _METRIC_IDS]
        columns += [getattr(patterns, name) for name in _PATTERN_IDS]
        rows.append(np.concatenate([np.stack(columns, axis=-1), special], axis=-1))
    return np.concatenate(rows).reshape(sample.trace.model.config.layers, -1, len(FEATURES))
