"""The flow of attention through the layers: one matrix for each layer, strong links, and rollout.

A link leads from token j before a layer to token i after the layer: in the layer, i attends to j, so information flows
from j to i. Rollout is the product of the matrices (Abnar & Zuidema 2020).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lab.analysis.heads.values import Mask, Weights, kept_mask, renormalised, row_sums
from lab.models.memo import once
from lab.models.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.models.layer_trace import LayerTrace


@torch.inference_mode()
def squares_by_head(layer: LayerTrace) -> Tensor:
    """Head h's part of a link's squared length, Σ_g α_g·α_h·⟨f_g(x_j), f_h(x_j)⟩, (H, q, n) in float64.

    The sum over heads is the squared length ‖Σ_h α_h·f_h(x_j)‖² of the vector that token j adds to token i. So the n²
    vectors of d numbers need not be held in memory. ``layer`` may have only q of its queries.
    """
    heads = len(layer.value)
    weighted = (layer.value @ layer.weights.w_o.unflatten(0, (heads, -1))).double()  # f: (H, n, d)
    by_token = weighted.transpose(0, 1)
    products = by_token @ by_token.transpose(1, 2)  # (n, H, H)
    shares = layer.attention.double().permute(2, 1, 0)  # (key, query, head)
    return ((shares @ products) * shares).permute(2, 1, 0)


def contribution_norms(layer: LayerTrace) -> Tensor:
    """The length ‖Σ_h α_h·f_h(x)‖ of the vector that token j adds to token i through all heads of a layer, (q, n).

    As in Kobayashi et al. 2020, §3, the heads' vectors are added before the length is taken.
    """
    return squares_by_head(layer).sum(dim=0).clamp(min=0).sqrt().float()


def layer_map(layer: LayerTrace, head: int | None, *, norms: bool = False) -> Weights:
    """Return one layer as a matrix (n, n) whose rows sum to 1: the share that each token receives from each token.

    Parameters
    ----------
    layer
        The layer.
    head
        The head, from 0; None takes all heads together.
    norms
        False for attention weights (their mean over heads); true for the lengths of the vectors that are added
        (Kobayashi et al. 2020), each row divided by its sum. A row to which nothing is added stays 0.
    """
    if not norms:
        chosen = layer.attention.mean(dim=0) if head is None else layer.attention[head]
        return np.asarray(chosen, dtype=np.float32)
    lengths = np.asarray(contribution_norms(layer) if head is None else layer.head_contribution[head])
    return renormalised(lengths, row_sums(lengths))


@once
def layer_maps(trace: Trace, head: int | None, *, norms: bool = False) -> Weights:
    """:func:`layer_map` of every layer, (L, n, n); only one whole layer is in memory at a time."""
    return np.stack([layer_map(trace.layer(i), head, norms=norms) for i in range(trace.model.config.layers)])


@dataclass(frozen=True, eq=False)
class Links:
    """The m strongest links from tokens before a layer to tokens after the layer.

    Attributes
    ----------
    layer, key, query
        (m,), from 0. A link leads from ``key`` before the layer to ``query`` after the layer.
    weight
        (m,), the share of its input that the query receives from the key.
    reaching
        The number of links that reach the threshold, including those that are not among the m strongest.
    mass
        The share of the m links in the sum of all weights of all layers.
    """

    layer: NDArray[np.intp]
    key: NDArray[np.intp]
    query: NDArray[np.intp]
    weight: Weights
    reaching: int
    mass: float

    def __len__(self) -> int:
        return len(self.weight)


def strongest_links(
    maps: Weights,
    threshold: float,
    most: int,
    *,
    keep: Sequence[bool] | Mask | None = None,
    source: int | None = None,
    target: int | None = None,
) -> Links:
    """Find the ``most`` strongest links of each layer, and sort the links by layer, query, key.

    Parameters
    ----------
    maps
        (L, n, n), one matrix for each layer, rows receive.
    threshold
        The least weight of a link. A weight of 0 never makes a link.
    most
        The most links of a layer.
    keep
        Tokens that take part; None if all take part. The weights are not renormalised.
    source
        If given, keep only links on a path that starts at this token before the first layer.
    target
        If given, also keep each layer's strongest link that ends at this token.
    """
    kept = kept_mask(keep, maps.shape[-1])
    there = (maps >= threshold) & (maps > 0) & kept[:, None] & kept[None, :]
    if source is not None:
        there = _on_paths(there, source)
    drawn = np.zeros_like(there)
    for weights, reaching, strongest in zip(maps, there, drawn, strict=True):
        places = np.flatnonzero(reaching)
        strongest.flat[places[np.argsort(-weights.flat[places], kind="stable")[:most]]] = True
        if target is not None and reaching[target].any():
            strongest[target, np.where(reaching[target], weights[target], -1).argmax()] = True
    if source is not None:
        drawn = _on_paths(drawn, source)  # drop links that lost the path from the source
    layer, query, key = np.nonzero(drawn)
    weight = maps[layer, query, key]
    total = float(maps.sum(dtype=np.float64))
    return Links(
        layer, key, query, weight, int(there.sum()), float(weight.sum(dtype=np.float64)) / total if total else 0.0
    )


def _on_paths(there: NDArray[np.bool_], source: int) -> NDArray[np.bool_]:
    """Return the links (L, n, n) among ``there`` that continue a path from ``source``."""
    found = np.zeros_like(there)
    reached = np.zeros(there.shape[-1], dtype=np.bool_)
    reached[source] = True
    for index, links in enumerate(there):
        found[index] = links & reached
        reached = found[index].any(axis=1)
    return found


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
