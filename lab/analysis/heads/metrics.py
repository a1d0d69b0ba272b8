"""Six numbers for every head: how sure, how spread out, how sparse, how uneven its attention is.

The formulas are those of Golshanrad & Faghih 2024, "From Attention to Assurance". Most of them move
with the length of the text even for a head that prefers nothing, so each comes twice: raw, as
published, and corrected, so that two texts can be compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lab.analysis.heads.median import median
from lab.analysis.heads.values import (
    Mask,
    Values,
    Weights,
    as_heads,
    chunks,
    even_spread,
    is_causal,
    keep_others,
    kept_mask,
    layers,
    row_entropy,
    row_lengths,
    row_sums,
    stack,
    uniform_attention,
    without,
)
from lab.models.memo import once

if TYPE_CHECKING:
    from torch import Tensor

    from lab.models.trace import Trace

# Weights that differ by less than float32 rounding from 1/(row length) are not below it.
ROUNDING = 1e-5


@dataclass(frozen=True)
class Metric:
    """How a metric is shown. Formulas are LaTeX; ``high`` None: no upper end.

    ``corrected`` is the formula after correction, ``note`` what the correction is for, ``reading``
    what a high value says. The name says what a high value means; ``also`` is another name in use.
    """

    id: str
    name: str
    formula: str
    corrected: str
    unit: str
    high: float | None
    corrected_high: float | None
    reading: str
    note: str
    also: str = ""


METRICS = (
    Metric(
        "confidence_max", "Confidence (max)",
        r"\max_{i,j} A_{ij}", r"\max_{i:\,\ell_i>1}\ \max_j A_{ij}", "weight", 1, 1,
        "High: at least one token looks almost entirely at one token.",
        "Corrected leaves out rows with a single key: a causal model's first token can only score 1.",
    ),
    Metric(
        "confidence_avg", "Confidence (average)",
        r"\frac1n \sum_i \max_j A_{ij}", r"\operatorname{mean}_{i:\,\ell_i>1}\ \max_j A_{ij}", "weight", 1, 1,
        "High: most tokens have one clear favourite.",
        "Corrected leaves out rows with a single key: a causal model's first token can only score 1.",
    ),
    Metric(
        "spread", "Spread (entropy)",
        r"-\sum_{i,j} A_{ij} \ln A_{ij}",
        r"\operatorname{mean}_i\ \frac{-\sum_j A_{ij} \ln A_{ij}}{\ln \ell_i}", "nats", None, 1,
        "High: attention is spread over many tokens. Low: it is on a few.",
        "Raw adds up all rows, so it grows with the text. Corrected is the mean row over its maximum: "
        "0 one key, 1 all keys alike.", "focus",
    ),
    Metric(
        "sparsity", "Sparsity",
        r"\frac{\#\{A_{ij} < \tau\}}{\#\{A_{ij}\}}", r"\frac{\#\{A_{ij} < 1/\ell_i\}}{\#\{A_{ij}\}}",
        "share of cells", 1, 1,
        "High: most pairs of tokens get next to nothing.",
        "In a text of more than 1/τ tokens even a uniform head is all below τ. Corrected compares with "
        "the uniform weight of the row.",
    ),
    Metric(
        "distribution", "Distribution (median)",
        r"\operatorname{median}_{i,j} A_{ij}", r"\operatorname{median}_{i,j} (\ell_i A_{ij})", "weight", 1, None,
        "High: the typical pair of tokens gets something. Low: a few pairs get nearly all.",
        "A uniform head scores 1/n raw and 1 corrected.",
    ),
    Metric(
        "unevenness", "Unevenness (standard deviation)",
        r"\operatorname{std}_{i,j} A_{ij}", r"\operatorname{std}_{i,j} (\ell_i A_{ij})", "weight", None, None,
        "High: a few weights are much larger than the others. 0: all are the same.",
        "Weights shrink as the text grows, and their differences too. Corrected counts in uniform weights.",
        "uniformity",
    ),
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class SixMetrics:
    """One value a head in each: (H,) for a layer, (L, H) for a trace. The ids of :data:`METRICS`."""

    confidence_max: Values
    confidence_avg: Values
    spread: Values
    sparsity: Values
    distribution: Values
    unevenness: Values


@dataclass(frozen=True, eq=False)
class Metrics:
    """The metrics as published and corrected for the length of the rows.

    ``removed`` is the attention that the kept queries had spent on tokens left out, mean over them.
    Corrected confidence and spread are nan where no row has a choice: a text of one token.
    """

    raw: SixMetrics
    corrected: SixMetrics
    removed: Values

    def values(self, metric: str, corrected: bool) -> Values:
        """The values of one metric by its id."""
        found: Values = getattr(self.corrected if corrected else self.raw, metric)
        return found


def attention_metrics(
    attention: NDArray[Any] | Tensor,
    *,
    causal: bool,
    threshold: float = 0.01,
    keep: Sequence[bool] | Mask | None = None,
) -> Metrics:
    """The six metrics of every head of a layer, raw and corrected.

    Args:
        attention: (H, n, n), rows sum to 1.
        causal: Whether only the lower triangle exists; means, medians and counts then run over its
            n(n+1)/2 cells.
        threshold: τ of the raw sparsity, a weight.
        keep: (n,), false for tokens to leave out as queries and keys; rows are renormalised.

    Returns:
        Arrays (H,).

    Raises:
        ValueError: For attention of another shape, or a ``keep`` that keeps nothing.
    """
    whole = as_heads(attention)
    inside, removed = without(whole, kept_mask(keep, whole.shape[1]))
    cells = _Cells.of(inside.shape[1], causal)
    found = np.concatenate([_measure(part, cells, threshold) for part in chunks(inside)], axis=1)
    return Metrics(SixMetrics(*found[:6]), SixMetrics(*found[6:]), removed)


@once
def trace_metrics(trace: Trace, threshold: float = 0.01, *, only_words: bool = False) -> Metrics:
    """The same for every layer of a trace: arrays (L, H).

    ``only_words`` leaves out special tokens, or the first token where a model has none.
    """
    causal, keep = is_causal(trace), keep_others(trace) if only_words else None
    return stack([attention_metrics(a, causal=causal, threshold=threshold, keep=keep) for a in layers(trace)])


def uniform_metrics(
    n: int, causal: bool, *, threshold: float = 0.01, keep: Sequence[bool] | Mask | None = None
) -> Metrics:
    """What a head without any preference scores on n tokens: the line to compare with. Arrays (1,)."""
    return attention_metrics(uniform_attention(n, causal), causal=causal, threshold=threshold, keep=keep)


@once
def metrics_by_chance(trace: Trace, threshold: float = 0.01) -> Metrics:
    """The same on as many tokens as a trace has."""
    return uniform_metrics(len(trace), is_causal(trace), threshold=threshold)


@dataclass(frozen=True, eq=False)
class _Cells:
    """Which cells of an (n, n) matrix are real, and the length of each one's row."""

    lengths: NDArray[np.int64]  # (n,), by row
    places: NDArray[np.intp] | None  # (c,), flat places of the lower triangle; None: all of them
    scale: NDArray[np.float32] | float  # by cell: (c,), or one number for all

    @classmethod
    def of(cls, n: int, causal: bool) -> _Cells:
        lengths = row_lengths(n, causal)
        if not causal:
            return cls(lengths, None, float(n))
        return cls(lengths, np.flatnonzero(np.tri(n)), np.repeat(lengths, lengths).astype(np.float32))

    def of_heads(self, attention: Weights) -> Weights:
        """(h, n, n) -> (h, c)."""
        flat = attention.reshape(len(attention), -1)
        return flat if self.places is None else np.take(flat, self.places, axis=1)


def _measure(attention: Weights, real: _Cells, threshold: float) -> Values:
    """(12, h): the six raw values of each head, then the six corrected ones."""
    cells = real.of_heads(attention)
    largest, entropy, free = attention.max(axis=-1), row_entropy(attention), real.lengths > 1
    middle, unevenness = _medians(cells), _deviations(cells)
    raw = [largest.max(-1), largest.mean(-1, dtype=np.float64), entropy.sum(-1, dtype=np.float64)]
    raw += [_share_below(cells, threshold), middle, unevenness]
    nothing = np.full(len(attention), np.nan)
    corrected = [largest[:, free].max(-1), largest[:, free].mean(-1, dtype=np.float64)] if free.any() else [nothing] * 2
    corrected.append(even_spread(entropy, real.lengths))
    if isinstance(real.scale, float):
        # All rows are equally long, so correcting the cells or their statistic is the same.
        corrected += [_share_below(cells, (1 - ROUNDING) / real.scale), middle * real.scale, unevenness * real.scale]
    else:
        cells = cells * real.scale
        corrected += [_share_below(cells, 1 - ROUNDING), _medians(cells), _deviations(cells)]
    return np.array(raw + corrected, dtype=np.float64)


def _share_below(cells: Weights, threshold: float) -> Values:
    """The share of each head's cells that are smaller than the threshold, (h, c) -> (h,)."""
    return np.array([np.count_nonzero(head < np.float32(threshold)) for head in cells]) / cells.shape[1]


def _medians(cells: Weights) -> Values:
    return np.array([median(head) for head in cells])


def _deviations(cells: Weights) -> Values:
    """Standard deviation of each head's cells, (h, c) -> (h,)."""
    # Around the mean: sums of squares alone would leave rounding where a uniform head has 0.
    around = cells - (row_sums(cells) / np.float32(cells.shape[1]))[:, None]
    return np.sqrt(np.vecdot(around, around).astype(np.float64) / cells.shape[1])
