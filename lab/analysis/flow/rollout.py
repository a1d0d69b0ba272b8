"""Attention rollout: the product of the matrices of all layers, with the residual path (Abnar & Zuidema 2020)."""

from __future__ import annotations

import numpy as np

from lab.analysis.flow.maps import layer_maps
from lab.analysis.heads.values import Weights, renormalised, row_sums
from lab.models.memo import once
from lab.models.trace import Trace


def with_residual(maps: Weights) -> Weights:
    """Return a + I with each row divided by its sum, (..., n, n): ½A + ½I if the rows of A sum to 1.

    The token's own vector goes past the heads through the residual connection; Abnar & Zuidema 2020, §3,
    give this vector the same share as the heads' output.
    """
    both = np.asarray(maps + np.eye(maps.shape[-1], dtype=np.float32))
    return renormalised(both, row_sums(both))


def rollout(maps: Weights, *, residual: bool = True) -> Weights:
    """Compute the rollout after the last of the given layers, (L, n, n) -> (n, n); rows sum to 1.

    Â_L ⋯ Â_2 · Â_1 with Â = row-normalised (A + I): the share of token i after the last layer that comes along all
    paths from token j before the first layer, if only attention weights counted (Abnar & Zuidema 2020, §3).
    Without ``residual``, Â is A: the residual connection is left out.
    """
    whole = np.eye(maps.shape[-1], dtype=np.float32)
    for one in maps:
        whole = (with_residual(one) if residual else one) @ whole
    return whole


@once
def rollout_after(trace: Trace, layer: int, *, norms: bool = False) -> Weights:
    """:func:`rollout` after ``layer`` (from 0), (n, n), all heads together; ``norms`` as in ``layer_map``."""
    return rollout(layer_maps(trace, None, norms=norms)[: layer + 1])
