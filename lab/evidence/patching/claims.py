"""What is claimed of patches, as two numbers of each pair of sentences of which the first should be larger.

Where what decides is kept, and what brings it on, after Meng et al. 2022, §2; when a gradient foresees a patch, after
Nanda 2023 and Syed et al. 2023. The claims were written down before anything was patched. Three were worded anew in
November 2026, with the results known: the second asks in which layer the lines cross, where it asked for a mean over
the last half of the layers, and the third and the fourth compare layers up to that one alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lab.analysis.heads.parked import rank_correlation
from lab.analysis.heads.values import Values
from lab.evidence.patching.patches import Maps, Patching
from lab.evidence.patching.templates import stacked

SUFFICES, NEEDED = "suffices", "needed"
DIRECTIONS = (SUFFICES, NEEDED)
# Rank correlation from which on two orders are called alike. The line is the lab's own.
ALIKE = 0.5
# Recovered shares below which a part does nothing, but for rounding.
_NOTHING = 1e-5


@dataclass(frozen=True)
class PatchClaim:
    """One claim: ``first`` should be more than ``second``.

    ``direction`` is "" where it is about estimates; ``bound`` is the smallest difference that would count, see
    :class:`lab.evidence.verdicts.Effect`.
    """

    id: str
    says: str
    first: str
    second: str
    direction: str
    bound: float

    @property
    def key(self) -> str:
        return f"{self.id} {self.direction}".strip()


@dataclass(frozen=True)
class Sublayers:
    """A layer (from 0) for the attention output and one for that of the feed-forward network, at one token."""

    attention: int
    ffn: int


@dataclass(frozen=True)
class Chosen:
    """Of one direction: the layers whose sublayers do most on half A, at the asked token and at the subject."""

    asked: Sublayers
    subject: Sublayers


EARLY, LATE, BROUGHT, WORKED, RANKED, FAILED = "early", "late", "brought", "worked out", "ranked", "failed"
# A tenth of what differs between the two runs, of a rank correlation or of what there is to estimate; half a layer.
_TENTH, _HALF_A_LAYER = 0.1, 0.5
_LOCATED = (
    (EARLY, "Early, the subject has it", "subject", "asked token", _TENTH),
    (LATE, "The asked token has it before the last layer", "last layer", "layer of the crossing", _HALF_A_LAYER),
    (BROUGHT, "Attention brings it to the asked token", "attention", "feed-forward", _TENTH),
    (WORKED, "At the subject, the feed-forward network works on it", "feed-forward", "attention", _TENTH),
)
CLAIMS: tuple[PatchClaim, ...] = (
    *(PatchClaim(*each[:4], direction, each[4]) for each in _LOCATED for direction in DIRECTIONS),
    PatchClaim(RANKED, "A gradient ranks the heads as patches do", "rank correlation", f"line at {ALIKE}", "", _TENTH),
    PatchClaim(FAILED, "It errs more for the residual stream than for heads", "residual stream", "heads", "", _TENTH),
)


def carried(found: Patching) -> dict[str, Maps]:
    """By direction, how much of what decides each part carries: 1 is all of it, 0 nothing.

    What suffices is what it brings back into the corrupt run; what is needed is what the clean run loses without it.
    """
    return {SUFFICES: found.clean_into_corrupt, NEEDED: flipped(found.corrupt_into_clean)}


def flipped(maps: Maps) -> Maps:
    """1 less each number."""
    return Maps(1 - maps.residual, 1 - maps.attention, 1 - maps.ffn, 1 - maps.heads)


def mean(each: Sequence[Maps]) -> Maps:
    """The mean over pairs."""
    every = stacked(each)
    return Maps(every.residual.mean(0), every.attention.mean(0), every.ffn.mean(0), every.heads.mean(0))


def early(layers: int) -> slice:
    """States of the residual stream: the first half of those between the embeddings and the last layer.

    At either end one token has all of it by the way a transformer is built. Raises ValueError below three layers.
    """
    if layers < 3:
        raise ValueError(f"A model of {layers} layers has too few to tell early ones from late ones.")
    return slice(1, 1 + (layers - 1) // 2)


def crossing(residual: Values, subject: int, asked: int) -> int:
    """The first layer, from 1, after which the asked token carries as much as the subject, or more.

    ``residual`` is (layers + 1, n). After the last layer the asked token has all of it, so there is always one.
    """
    more = residual[1:, asked] >= residual[1:, subject]
    return 1 + int(more.argmax()) if more.any() else len(residual) - 1


def choose(on_a: Maps, subject: int, asked: int) -> Chosen:
    """The layers of the sublayers that carry most on half A, a mean over its pairs, up to where its lines cross.

    Above the crossing a network only works on what the asked token has already, so it is no rival of what brought it.
    """
    end = crossing(on_a.residual, subject, asked)

    def at(token: int) -> Sublayers:
        return Sublayers(int(on_a.attention[:end, token].argmax()), int(on_a.ffn[:end, token].argmax()))

    return Chosen(at(asked), at(subject))


def compared(found: Patching, chosen: Mapping[str, Chosen], subject: int, asked: int) -> Values:
    """The two numbers of each of :data:`CLAIMS` for one pair, (claims, 2)."""
    numbers: dict[str, tuple[float, float]] = {}
    for direction, maps in carried(found).items():
        layers, own = len(maps.ffn), chosen[direction]
        first = maps.residual[early(layers)].mean(axis=0)
        numbers |= {
            f"{EARLY} {direction}": (first[subject], first[asked]),
            f"{LATE} {direction}": (layers, crossing(maps.residual, subject, asked)),
            f"{BROUGHT} {direction}": (maps.attention[own.asked.attention, asked], maps.ffn[own.asked.ffn, asked]),
            f"{WORKED} {direction}": (
                maps.ffn[own.subject.ffn, subject],
                maps.attention[own.subject.attention, subject],
            ),
        }
    exact, estimated = found.clean_into_corrupt, found.estimated_into_corrupt
    numbers[RANKED] = (agreement(exact.heads, estimated.heads), ALIKE)
    numbers[FAILED] = (error(exact.residual, estimated.residual), error(exact.heads, estimated.heads))
    return np.array([numbers[claim.key] for claim in CLAIMS], dtype=np.float64)


def agreement(exact: Values, estimated: Values) -> float:
    """Spearman's ρ of the parts that do something in either; 0 where there is no order to compare."""
    does = (np.abs(exact) > _NOTHING) | (np.abs(estimated) > _NOTHING)
    if does.sum() < 2:
        return 0.0
    rho = rank_correlation(exact[does], estimated[does])
    return rho if np.isfinite(rho) else 0.0


def error(exact: Values, estimated: Values) -> float:
    """How far the estimates are off, as a share of what there is to estimate: Σ|estimate − exact| / Σ|exact|."""
    return float(np.abs(estimated - exact).sum() / max(float(np.abs(exact).sum()), _NOTHING))
