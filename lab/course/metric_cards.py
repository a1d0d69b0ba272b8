"""The six formulas with the numbers of one head filled in, as LaTeX."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lab.analysis.heads.metric_parts import MetricParts

# The number of terms of a long sum that are written out.
_TERMS = 3


def tex(value: float, digits: int = 3) -> str:
    """Write a number in LaTeX; a number that is too small for its digits gets a power of ten."""
    if value == 0 or abs(value) >= 10.0**-digits:
        return f"{value + 0.0:.{digits}f}"  # to turn −0 into 0
    mantissa, exponent = f"{value:.1e}".split("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}"


def filled(metric: str, parts: MetricParts, corrected: bool) -> str:
    """Write the metric's formula with this head's numbers, from its sum or count to its value.

    Parameters
    ----------
    metric
        An id of :data:`lab.analysis.heads.metrics.METRICS`.
    parts
        The summands and counts of the head.
    corrected
        Whether to fill in the corrected formula instead of the raw formula.

    Raises
    ------
    KeyError
        If the metric does not exist.
    ValueError
        If corrected confidence or spread is wanted, and no row has a choice.
    """
    return _CARDS[metric](parts, corrected)


def _largest(parts: MetricParts, corrected: bool) -> str:
    top = parts.free_top if corrected else parts.top
    if top is None:
        raise ValueError("no row has more than one key, so there is nothing to choose between.")
    return rf"A_{{{top[0] + 1},{top[1] + 1}}} = {tex(float(parts.largest[top[0]]))}"


def _mean_largest(parts: MetricParts, corrected: bool) -> str:
    largest = parts.largest[parts.lengths > 1] if corrected else parts.largest
    return _mean([tex(float(value)) for value in largest], float(largest.sum()))


def _entropy(parts: MetricParts, corrected: bool) -> str:
    if not corrected:
        total = float(parts.entropy.sum())
        return rf"{_sum([tex(float(value)) for value in parts.entropy])} = {tex(total)}"
    free = parts.lengths > 1
    rows = list(zip(parts.entropy[free].tolist(), parts.lengths[free].tolist(), strict=True))
    ratios = parts.even_spread()
    return _mean([rf"\tfrac{{{tex(value)}}}{{\ln {length}}}" for value, length in rows], float(ratios.sum()))


def _sparsity(parts: MetricParts, corrected: bool) -> str:
    below = parts.below_even if corrected else parts.below
    return rf"\frac{{{below}}}{{{parts.count}}} = {tex(below / parts.count)}"


def _median(parts: MetricParts, corrected: bool) -> str:
    value = parts.middle_scaled if corrected else parts.middle
    symbol = r"(\ell A)" if corrected else "A"
    low, high = (parts.count + 1) // 2, parts.count // 2 + 1
    if low == high:
        return rf"{symbol}_{{({low})}} = {tex(value)}"
    return rf"\frac{{{symbol}_{{({low})}} + {symbol}_{{({high})}}}}{{2}} = {tex(value)}"


def _deviation(parts: MetricParts, corrected: bool) -> str:
    squares, mean = (parts.squares_scaled, 1.0) if corrected else (parts.squares, parts.mean)
    weight, centre = (r"\ell_i A_{ij}", "1") if corrected else ("A_{ij}", tex(mean))
    value = (squares / parts.count) ** 0.5
    return (
        rf"\begin{{aligned}} &\sqrt{{\tfrac{{1}}{{{parts.count}}} \textstyle\sum ({weight} - {centre})^2}} \\"
        rf"&= \sqrt{{\tfrac{{{tex(squares)}}}{{{parts.count}}}}} = {tex(value)} \end{{aligned}}"
    )


def _sum(terms: Sequence[str]) -> str:
    shown = list(terms[:_TERMS])
    return " + ".join([*shown, r"\dots"] if len(terms) > _TERMS else shown)


def _mean(terms: Sequence[str], total: float) -> str:
    count = len(terms)
    if not count:
        raise ValueError("no row has more than one key, so there is nothing to average.")
    return (
        rf"\begin{{aligned}} &\tfrac{{1}}{{{count}}} \left({_sum(terms)}\right) \\"
        rf"&= \tfrac{{{tex(total)}}}{{{count}}} = {tex(total / count)} \end{{aligned}}"
    )


_CARDS: dict[str, Callable[[MetricParts, bool], str]] = {
    "confidence_max": _largest,
    "confidence_avg": _mean_largest,
    "spread": _entropy,
    "sparsity": _sparsity,
    "distribution": _median,
    "unevenness": _deviation,
}
# The meanings of symbols that mean something else in a filled-in formula than in the formula above it.
SYMBOLS = {
    "spread": "Each term is the entropy of one row.",
    "distribution": "The number in brackets is the value’s place in the order of size.",
}
