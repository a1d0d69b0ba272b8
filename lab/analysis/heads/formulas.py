"""Formulas as LaTeX: a number, a sum and a mean, with the numbers of one head filled in."""

from __future__ import annotations

from collections.abc import Sequence

# The number of terms of a long sum that are written out.
_TERMS = 3


def tex(value: float, digits: int = 3) -> str:
    """Write a number in LaTeX; a number that is too small for its digits gets a power of ten."""
    if value == 0 or abs(value) >= 10.0**-digits:
        return f"{value + 0.0:.{digits}f}"  # to turn −0 into 0
    mantissa, exponent = f"{value:.1e}".split("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}"


def sum_of(terms: Sequence[str]) -> str:
    """Write a sum; of a long one, only its first terms."""
    shown = list(terms[:_TERMS])
    return " + ".join([*shown, r"\dots"] if len(terms) > _TERMS else shown)


def mean_of(terms: Sequence[str], total: float) -> str:
    """Write the mean of ``terms``, whose sum is ``total``. Raises ValueError if there are none."""
    count = len(terms)
    if not count:
        raise ValueError("no row has more than one key, so there is nothing to average.")
    return (
        rf"\begin{{aligned}} &\tfrac{{1}}{{{count}}} \left({sum_of(terms)}\right) \\"
        rf"&= \tfrac{{{tex(total)}}}{{{count}}} = {tex(total / count)} \end{{aligned}}"
    )
