"""Compare the orders in which the methods put tokens, and test the published claims about these orders."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lab.analysis.heads.values import Values
from lab.analysis.ranks import kendall, partial_rank_correlation, rank_correlations
from lab.evidence.published import ABNAR
from lab.evidence.tables import Single
from lab.experiments.explanation.methods import ATTENTION, GRADIENT, NEAR, RARE, ROLLOUT, Importance

WEAK, TELLS, ROLLED = "weak", "tells", "rolled"


def upper(layers: int) -> slice:
    """Return the upper half of ``layers`` layers; the larger half if the number is odd."""
    return slice(layers // 2, layers)


# The smallest difference of two correlations that would count if nothing comparable was published.
BOUND = 0.1
_RAW, _ROLLED = (float(np.mean(line[upper(len(line))])) for line in ABNAR)
# The claims, each with the published difference of its two numbers; None if nobody published a comparable one. The
# numbers are correlations with leave-one-out: of gradients and attention (τ), of attention beyond nearness and rarity,
# compared with 0 (ρ), of rollout and raw attention in the upper layers (ρ).
CLAIMS: Mapping[str, float | None] = {WEAK: None, TELLS: None, ROLLED: _ROLLED - _RAW}


@dataclass(frozen=True, eq=False)
class OrderAgreement:
    """The agreement of each order with leave-one-out, text by text; 0 if either order has all tokens equal.

    Attributes
    ----------
    rho
        Spearman's ρ by method or control, (texts, layers), or (texts, 1) if the method has no layers.
    terms
        The two numbers of each claim, (texts, 2).
    """

    rho: Mapping[str, Single]
    terms: Mapping[str, Single]


def reading(each: Sequence[Importance]) -> OrderAgreement:
    """Return the agreement of every order with leave-one-out."""
    names = tuple(each[0].scores) if each else ()
    rho = {name: np.array([_rho(one, name) for one in each]) for name in names}
    terms = {name: np.array([term(one) for one in each]) for name, term in _TERMS.items()}
    return OrderAgreement(rho, terms)


def _rho(one: Importance, name: str) -> Values:
    """Spearman's ρ of a method with leave-one-out, (layers,), or (1,) if the method has no layers."""
    return rank_correlations([*one.sizes(name), np.abs(one.left_out)])[-1, :-1]


def beyond(one: Importance, name: str) -> float:
    """Spearman's ρ of a method's last layer with leave-one-out, with the influence of nearness and rarity removed."""
    controls = [one.scores[NEAR][0], one.scores[RARE][0]]
    return _known(partial_rank_correlation(one.sizes(name)[-1], np.abs(one.left_out), controls))


def _known(correlation: float) -> float:
    """Return the correlation, or 0 if it is nan, because an order in which all tokens are equal says nothing."""
    return float(np.nan_to_num(correlation))


def _weak(one: Importance) -> tuple[float, float]:
    first, second = (_known(kendall(one.sizes(name)[-1], np.abs(one.left_out))) for name in (GRADIENT, ATTENTION))
    return first, second


def _rolled(one: Importance) -> tuple[float, float]:
    first, second = (float(np.mean(_rho(one, name)[upper(len(one.scores[name]))])) for name in (ROLLOUT, ATTENTION))
    return first, second


_TERMS: Mapping[str, Callable[[Importance], tuple[float, float]]] = {
    WEAK: _weak,
    TELLS: lambda one: (beyond(one, ATTENTION), 0.0),
    ROLLED: _rolled,
}
