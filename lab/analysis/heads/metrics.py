"""Numbers for every head: how sure, how spread out, how sparse and how uneven the head's attention is.

The formulas come from Golshanrad & Faghih 2024, "From Attention to Assurance". Most metrics change
with the length of the text even for a head without preference, so each metric is given twice: raw, as
published, and corrected, so that two texts can be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lab.analysis.heads.formulas import mean_of, sum_of, tex
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


# Relative tolerance: a weight counts as below 1/(row length) only if it is lower by more than float32 rounding.
ROUNDING = 1e-5


@dataclass(frozen=True, eq=False)
class Cells:
    """The heads of a layer, and intermediate numbers that several metrics use.

    ``attention`` is (h, n, n), ``lengths`` (n,) the number of keys that each query may see, ``threshold`` τ.
    """

    attention: Weights
    lengths: NDArray[np.int64]
    causal: bool
    threshold: float

    @cached_property
    def weights(self) -> Weights:
        """The cells that exist, (h, c): all cells, or the lower triangle."""
        flat = self.attention.reshape(len(self.attention), -1)
        return np.take(flat, _triangle(len(self.lengths))[0], axis=1) if self.causal else flat

    @cached_property
    def scaled(self) -> Weights:
        """The weights in units of the row's uniform weight, ℓA, (h, c)."""
        return self.weights * (_triangle(len(self.lengths))[1] if self.causal else np.float32(self.lengths[0]))

    @cached_property
    def largest(self) -> Weights:
        """The largest weight of each row, (h, n)."""
        return np.asarray(self.attention.max(axis=-1))

    @cached_property
    def entropy(self) -> Weights:
        """The entropy of each row in nats, (h, n)."""
        return row_entropy(self.attention)

    @property
    def free(self) -> Mask:
        """A mask of the rows with more than one key, (n,)."""
        return self.lengths > 1

    @property
    def below(self) -> NDArray[np.int64]:
        """The number of each head's cells below τ, (h,)."""
        return _below(self.weights, self.threshold)

    @property
    def below_even(self) -> NDArray[np.int64]:
        """The number of each head's cells below 1/(row length), (h,)."""
        even = 1 - ROUNDING
        if self.causal:
            return _below(self.scaled, even)
        return _below(self.weights, even / float(self.lengths[0]))

    def of_scaled(self, statistic: Callable[[Weights], Values], found: Values) -> Values:
        """Return a statistic, proportional to the cells, of the scaled cells.

        ``found`` is the statistic of the weights.
        """
        # If all rows are equally long, scaling the statistic gives the same result as scaling the cells.
        return statistic(self.scaled) if self.causal else found * float(self.lengths[0])


@lru_cache(4)
def _triangle(n: int) -> tuple[NDArray[np.intp], Weights]:
    """Return the places of a causal head's cells in the flattened matrix, and their rows' lengths, (c,) each."""
    return np.flatnonzero(np.tri(n)), np.repeat(np.arange(1, n + 1), np.arange(1, n + 1)).astype(np.float32)


def one_head(weights: Weights, *, causal: bool, threshold: float = 0.01) -> Cells:
    """Return the cells of one map (n, n), with which a metric fills in its formula."""
    return Cells(weights[None], row_lengths(len(weights), causal), causal, threshold)


# One value for each head, raw and corrected: two arrays (h,).
Measured = tuple[Values, Values]
# Writes a formula with the numbers of one head, as LaTeX that ends in "= value": raw, or corrected if the second
# argument is true. Raises ValueError where the value is nan, because no row has more than one key.
Fill = Callable[[Cells, bool], str]


@dataclass(frozen=True)
class Metric:
    """A metric: the function that measures it for all heads, its formula, and the texts that explain it.

    ``fill`` writes the formula with the numbers of one head (:func:`one_head`); ``symbols`` explains the symbols that
    mean something else there than in the formula above it. ``formula`` is LaTeX, and ``corrected`` is the formula after
    correction. ``note`` gives the reason for the correction, ``reading`` the meaning of a high value, ``use`` a way to
    use the metric. ``name`` names a high value; ``also`` is another name. ``high`` is the largest possible value; None
    if there is no limit.
    """

    id: str
    name: str
    measure: Callable[[Cells], Measured]
    fill: Fill
    formula: str
    corrected: str
    unit: str
    high: float | None
    corrected_high: float | None
    reading: str
    note: str
    use: str
    also: str = ""
    corrected_unit: str = ""  # as before the correction
    uses_threshold: bool = False  # the raw value depends on τ
    symbols: str = ""


def _confidence_max(cells: Cells) -> Measured:
    free = cells.largest[:, cells.free]
    return cells.largest.max(-1), free.max(-1) if free.size else _nothing(cells)


def _fill_largest(cells: Cells, corrected: bool) -> str:
    rows = np.flatnonzero(cells.free) if corrected else np.arange(len(cells.lengths))
    if not len(rows):
        raise ValueError("no row has more than one key, so there is nothing to choose between.")
    query = int(rows[cells.largest[0, rows].argmax()])
    key = int(cells.attention[0, query].argmax())
    return rf"A_{{{query + 1},{key + 1}}} = {tex(float(cells.largest[0, query]))}"


def _confidence_avg(cells: Cells) -> Measured:
    free = cells.largest[:, cells.free]
    return cells.largest.mean(-1, dtype=np.float64), free.mean(-1, dtype=np.float64) if free.size else _nothing(cells)


def _fill_mean_largest(cells: Cells, corrected: bool) -> str:
    largest = cells.largest[0, cells.free] if corrected else cells.largest[0]
    return mean_of([tex(float(value)) for value in largest], float(largest.sum()))


def _spread(cells: Cells) -> Measured:
    return cells.entropy.sum(-1, dtype=np.float64), even_spread(cells.entropy, cells.lengths)


def _fill_entropy(cells: Cells, corrected: bool) -> str:
    entropy, lengths = cells.entropy[0], cells.lengths
    if not corrected:
        return rf"{sum_of([tex(float(value)) for value in entropy])} = {tex(float(entropy.sum()))}"
    entropy, lengths = entropy[cells.free], lengths[cells.free]
    terms = [rf"\tfrac{{{tex(value)}}}{{\ln {n}}}" for value, n in zip(entropy.tolist(), lengths.tolist(), strict=True)]
    return mean_of(terms, float((entropy / np.log(lengths)).sum()))


def _sparsity(cells: Cells) -> Measured:
    count = cells.weights.shape[1]
    return cells.below / count, cells.below_even / count


def _fill_count(cells: Cells, corrected: bool) -> str:
    below, count = int((cells.below_even if corrected else cells.below)[0]), cells.weights.shape[1]
    return rf"\frac{{{below}}}{{{count}}} = {tex(below / count)}"


def _distribution(cells: Cells) -> Measured:
    middle = _medians(cells.weights)
    return middle, cells.of_scaled(_medians, middle)


def _fill_median(cells: Cells, corrected: bool) -> str:
    value = float(_distribution(cells)[corrected][0])
    symbol, count = r"(\ell A)" if corrected else "A", cells.weights.shape[1]
    low, high = (count + 1) // 2, count // 2 + 1
    if low == high:
        return rf"{symbol}_{{({low})}} = {tex(value)}"
    return rf"\frac{{{symbol}_{{({low})}} + {symbol}_{{({high})}}}}{{2}} = {tex(value)}"


def _unevenness(cells: Cells) -> Measured:
    deviation = _deviations(cells.weights)
    return deviation, cells.of_scaled(_deviations, deviation)


def _fill_deviation(cells: Cells, corrected: bool) -> str:
    values = (cells.scaled if corrected else cells.weights)[0].astype(np.float64)
    squares, count = float(((values - values.mean()) ** 2).sum()), len(values)
    weight, centre = (r"\ell_i A_{ij}", "1") if corrected else ("A_{ij}", tex(float(values.mean())))
    return (
        rf"\begin{{aligned}} &\sqrt{{\tfrac{{1}}{{{count}}} \textstyle\sum ({weight} - {centre})^2}} \\"
        rf"&= \sqrt{{\tfrac{{{tex(squares)}}}{{{count}}}}} = {tex((squares / count) ** 0.5)} \end{{aligned}}"
    )


def _nothing(cells: Cells) -> Values:
    return np.full(len(cells.attention), np.nan)


def _below(cells: Weights, threshold: float) -> NDArray[np.int64]:
    """Count each head's cells below the threshold, (h, c) -> (h,)."""
    return np.array([np.count_nonzero(head < np.float32(threshold)) for head in cells])


def _medians(cells: Weights) -> Values:
    return np.array([median(head) for head in cells])


def _deviations(cells: Weights) -> Values:
    """Standard deviation of each head's cells, (h, c) -> (h,)."""
    # Subtract the mean first, because sums of squares alone would give a uniform head a rounding error instead of 0.
    around = cells - (row_sums(cells) / np.float32(cells.shape[1]))[:, None]
    return np.sqrt(np.vecdot(around, around).astype(np.float64) / cells.shape[1])


# The six of Golshanrad & Faghih 2024, by which lesson 5 cites the paper, whatever else is in METRICS.
PAPER = ("confidence_max", "confidence_avg", "spread", "sparsity", "distribution", "unevenness")
METRICS = (
    Metric(
        "confidence_max", "Confidence (max)", _confidence_max, _fill_largest,
        r"\max_{i,j} A_{ij}", r"\max_{i:\,\ell_i>1}\ \max_j A_{ij}", "weight", 1, 1,
        "High: at least one token looks almost entirely at one token.",
        "Corrected leaves out rows with a single key: a causal model's first token can only score 1.",
        "Open a high one to look for one very strong link. In a low one, no link is that strong.",
    ),
    Metric(
        "confidence_avg", "Confidence (average)", _confidence_avg, _fill_mean_largest,
        r"\frac1n \sum_i \max_j A_{ij}", r"\operatorname{mean}_{i:\,\ell_i>1}\ \max_j A_{ij}", "weight", 1, 1,
        "High: most tokens have one clear favourite.",
        "Corrected leaves out rows with a single key: a causal model's first token can only score 1.",
        "Open a high one to read the map token by token: who looks at whom.",
    ),
    Metric(
        "spread", "Spread (entropy)", _spread, _fill_entropy,
        r"-\sum_{i,j} A_{ij} \ln A_{ij}",
        r"\operatorname{mean}_i\ \frac{-\sum_j A_{ij} \ln A_{ij}}{\ln \ell_i}", "nats", None, 1,
        "High: attention is spread over many tokens. Low: it is on a few.",
        "Raw adds up all rows, so it grows with the text. Corrected divides the entropy of each row by the largest "
        "that row could have, and takes the mean: 0 for all weight on one key, 1 for the same weight on all.",
        "Open a low one: it often rests, in BERT at [CLS] or [SEP]. A high one mixes many.",
        "focus", "share of the maximum",
        symbols="Each term is the entropy of one row.",
    ),
    Metric(
        "sparsity", "Sparsity", _sparsity, _fill_count,
        r"\frac{\#\{A_{ij} < \tau\}}{\#\{A_{ij}\}}", r"\frac{\#\{A_{ij} < 1/\ell_i\}}{\#\{A_{ij}\}}",
        "share of cells", 1, 1,
        "High: most weights are small.",
        "In a text of more than 1/τ tokens even a uniform head is all below τ. Corrected compares with "
        "the uniform weight of the row.",
        "Open a high one to draw it as a few lines: the rest is next to nothing.", uses_threshold=True,
    ),
    Metric(
        "distribution", "Typical weight (median)", _distribution, _fill_median,
        r"\operatorname{median}_{i,j} A_{ij}", r"\operatorname{median}_{i,j} (\ell_i A_{ij})", "weight", 1, None,
        "High: the typical pair of tokens gets something. Low: a few pairs get nearly all.",
        "A uniform head scores 1/n raw and 1 corrected.",
        "Open a high one to find a head that takes a little from everywhere.", "distribution",
        corrected_unit="× uniform weight",
        symbols="The number in brackets is the value’s place in the order of size.",
    ),
    Metric(
        "unevenness", "Unevenness (standard deviation)", _unevenness, _fill_deviation,
        r"\operatorname{std}_{i,j} A_{ij}", r"\operatorname{std}_{i,j} (\ell_i A_{ij})", "weight", None, None,
        "High: a few weights are much larger than the others. 0: all are the same.",
        "Weights shrink as the text grows, and their differences too. Corrected counts in uniform weights.",
        "Open a high one to find single cells or columns that stand out.", "uniformity", "× uniform weight",
    ),
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Metrics:
    """The metrics as published and corrected for the length of the rows, by id: (H,) of a layer, (L, H) of a trace.

    ``removed`` is the attention that kept queries gave to tokens left out, averaged over the kept queries. In a text
    of one token, corrected confidence and spread are nan.
    """

    raw: Mapping[str, Values]
    corrected: Mapping[str, Values]
    removed: Values

    def values(self, metric: str, corrected: bool) -> Values:
        """Return the values of the metric with the id ``metric``, one for each head."""
        return (self.corrected if corrected else self.raw)[metric]


def attention_metrics(
    attention: NDArray[Any] | Tensor,
    *,
    causal: bool,
    threshold: float = 0.01,
    keep: Sequence[bool] | Mask | None = None,
) -> Metrics:
    """Return the metrics of every head of a layer, raw and corrected, each (H,).

    Raises ValueError for attention of another shape, or if ``keep`` does not keep any token.

    Parameters
    ----------
    attention
        (H, n, n), rows sum to 1.
    causal
        True if only the lower triangle exists; means, medians and counts then run over its n(n+1)/2 cells.
    threshold
        τ of the raw sparsity, a weight.
    keep
        (n,), false for tokens to leave out as queries and keys; rows are renormalised.
    """
    whole = as_heads(attention)
    inside, removed = without(whole, kept_mask(keep, whole.shape[1]))
    lengths = row_lengths(inside.shape[1], causal)
    parts = [Cells(part, lengths, causal, threshold) for part in chunks(inside)]
    found = {metric.id: [metric.measure(part) for part in parts] for metric in METRICS}
    raw, corrected = (
        {name: np.concatenate([pair[way] for pair in pairs], dtype=np.float64) for name, pairs in found.items()}
        for way in (0, 1)
    )
    return Metrics(raw, corrected, removed)


@once
def trace_metrics(trace: Trace, threshold: float = 0.01, *, only_words: bool = False) -> Metrics:
    """The metrics of every head of a trace: arrays (L, H).

    ``only_words`` leaves out special tokens, or the first token in a model without special tokens.
    """
    causal, keep = is_causal(trace), keep_others(trace) if only_words else None
    return stack([attention_metrics(a, causal=causal, threshold=threshold, keep=keep) for a in layers(trace)])


def uniform_metrics(
    n: int, causal: bool, *, threshold: float = 0.01, keep: Sequence[bool] | Mask | None = None
) -> Metrics:
    """Return the metrics of a head without any preference on n tokens, as a baseline. Arrays (1,)."""
    return attention_metrics(uniform_attention(n, causal), causal=causal, threshold=threshold, keep=keep)


@once
def metrics_by_chance(trace: Trace, threshold: float = 0.01) -> Metrics:
    """Return the metrics of a head without any preference on the tokens of a trace. Arrays (1,)."""
    return uniform_metrics(len(trace), is_causal(trace), threshold=threshold)


# Text lengths at which a head without preference is measured, each about 15 % longer than the one before.
LENGTHS = tuple(sorted({round(4 * 2 ** (step / 5)) for step in range(36)}))


@lru_cache(maxsize=16)
def uniform_by_length(causal: bool, threshold: float) -> Metrics:
    """Return the metrics of a head without preference at each of :data:`LENGTHS`, arrays (len(LENGTHS), 1)."""
    return stack([uniform_metrics(n, causal, threshold=threshold) for n in LENGTHS])


def effective_keys(attention: NDArray[Any] | Tensor) -> NDArray[np.float64]:
    """Return the effective number of keys of each row of weights, (..., n) -> (...).

    The number is 1 for a row with all weight on one key, and k for a row spread evenly over k keys.
    """
    return np.exp(row_entropy(np.asarray(attention, np.float32)).astype(np.float64))
