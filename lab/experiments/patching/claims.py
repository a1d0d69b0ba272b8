"""Claims about patches: each gives two numbers for each pair of sentences, and the first number should be larger.

Four claims are about the places that keep or pass on the deciding information, after Meng et al. 2022, §2. Two are
about gradients that predict patches, after Nanda 2023 and Syed et al. 2023. All were written down before anything was
patched, and three were worded anew since (:data:`lab.experiments.patching.page.REWORDED`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lab.analysis.heads.values import Values
from lab.analysis.ranks import rank_correlation
from lab.experiments.patching.patches import Maps, Patching, stacked

SUFFICES, NEEDED = "suffices", "needed"
DIRECTIONS = (SUFFICES, NEEDED)
# The least rank correlation at which two orders are called alike; this threshold is the lab's own.
ALIKE = 0.5
# The recovered share below which a part's effect is only rounding.
_NOTHING = 1e-5


@dataclass(frozen=True)
class PatchClaim:
    """One claim: of its two numbers, the first should be larger.

    ``direction`` is "" if the claim is about estimates. ``bound`` is the smallest difference that would count, see
    :class:`lab.evidence.verdicts.Effect`. Its ``unit`` is :data:`LOGITS`, :data:`LAYERS`, or "" for a number without
    one; the bound of logits is a share of the difference between the two runs.
    """

    id: str
    direction: str
    bound: float
    unit: str

    @property
    def key(self) -> str:
        return f"{self.id} {self.direction}".strip()


@dataclass(frozen=True)
class Sublayers:
    """Two layers (from 0), chosen for the attention output and for the feed-forward output at one token."""

    attention: int
    ffn: int


@dataclass(frozen=True)
class Chosen:
    """For one direction, the layers with the most information on half A: at the asked token and at the subject."""

    asked: Sublayers
    subject: Sublayers


EARLY, LATE, BROUGHT, WORKED, RANKED, FAILED = "early", "late", "brought", "worked out", "ranked", "failed"
LOGITS, LAYERS = "logits", "layers"
# The smallest differences that would count: a tenth of the difference between the two runs, 0.1 for rank correlations
# and relative errors, half a layer.
_TENTH, _HALF_A_LAYER = 0.1, 0.5
CLAIMS: tuple[PatchClaim, ...] = (
    *(
        PatchClaim(claim, direction, *((_HALF_A_LAYER, LAYERS) if claim == LATE else (_TENTH, LOGITS)))
        for claim in (EARLY, LATE, BROUGHT, WORKED)
        for direction in DIRECTIONS
    ),
    PatchClaim(RANKED, "", _TENTH, ""),
    PatchClaim(FAILED, "", _TENTH, ""),
)
# The reason why a claim cannot be tested: the lines cross only in the last layer.
LAST_LAYER = "last layer"


def carried(found: Patching) -> dict[str, Maps]:
    """The share of the deciding information that each part carries, by direction, from 0 for nothing to 1 for all.

    A part suffices for the share that it restores in the corrupt run, and is needed for the share that the clean run
    loses without it.
    """
    return {SUFFICES: found.clean_into_corrupt, NEEDED: flipped(found.corrupt_into_clean)}


def flipped(maps: Maps) -> Maps:
    """Return 1 minus each number of ``maps``."""
    return Maps(1 - maps.residual, 1 - maps.attention, 1 - maps.ffn, 1 - maps.heads)


def mean(each: Sequence[Maps]) -> Maps:
    """Return the mean of the maps over pairs."""
    every = stacked(each)
    return Maps(every.residual.mean(0), every.attention.mean(0), every.ffn.mean(0), every.heads.mean(0))


def early(layers: int) -> slice:
    """Return the first half of the residual stream's states between the embeddings and the last layer.

    In the first and the last state, one token has all the information simply because of a transformer's architecture.
    Raises ValueError below three layers.
    """
    if layers < 3:
        raise ValueError(f"A model of {layers} layers has too few to tell early ones from late ones.")
    return slice(1, 1 + (layers - 1) // 2)


def crossing(residual: Values, subject: int, asked: int) -> int:
    """Return the first layer, from 1, after which the asked token carries at least as much as the subject.

    ``residual`` is (layers + 1, n). There is always such a layer, because after the last layer the asked token has all
    the information.
    """
    more = residual[1:, asked] >= residual[1:, subject]
    return 1 + int(more.argmax()) if more.any() else len(residual) - 1


def choose(on_a: Maps, subject: int, asked: int) -> Chosen:
    """Choose the layers, up to the crossing, whose sublayers carry most information in ``on_a``, the mean over half A.

    Above the crossing, a network only works on information that the asked token already has, so it does not compete
    with the attention that brought the information.
    """
    end = crossing(on_a.residual, subject, asked)

    def at(token: int) -> Sublayers:
        return Sublayers(int(on_a.attention[:end, token].argmax()), int(on_a.ffn[:end, token].argmax()))

    return Chosen(at(asked), at(subject))


def compared(found: Patching, chosen: Mapping[str, Chosen], subject: int, asked: int) -> Values:
    """Return the two numbers of each of :data:`CLAIMS` for one pair, (claims, 2).

    A share of a difference near 0 is mostly noise. So what parts carry is compared in logits: the share times the size
    of the difference between the two runs.
    """
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
    gap = abs(found.clean - found.corrupt)
    sizes = np.array([gap if claim.unit == LOGITS else 1.0 for claim in CLAIMS])
    return np.array([numbers[claim.key] for claim in CLAIMS], dtype=np.float64) * sizes[:, None]


def agreement(exact: Values, estimated: Values) -> float:
    """Spearman's ρ over the parts with an effect in ``exact`` or ``estimated``; 0 if there is no order to compare."""
    does = (np.abs(exact) > _NOTHING) | (np.abs(estimated) > _NOTHING)
    if does.sum() < 2:
        return 0.0
    rho = rank_correlation(exact[does], estimated[does])
    return rho if np.isfinite(rho) else 0.0


def error(exact: Values, estimated: Values) -> float:
    """Return the relative error of the estimates: Σ|estimate − exact| / Σ|exact|."""
    return float(np.abs(estimated - exact).sum() / max(float(np.abs(exact).sum()), _NOTHING))
