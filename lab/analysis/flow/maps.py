"""How attention runs through the layers: one matrix a layer, and the strongest links between them.

A link leads from token j before a layer to token i after it: i attends to j there, so what j holds flows to i.
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

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.models.layer_trace import LayerTrace
    from lab.models.trace import Trace


@torch.inference_mode()
def squares_by_head(layer: LayerTrace) -> Tensor:
    """(H, q, n) in float64, Σ_g α_g·α_h·⟨f_g(x_j), f_h(x_j)⟩: head h's part of a link's squared length.

    All heads together make the squared length ‖Σ_h α_h·f_h(x_j)‖² of the vector that token j adds to token i. So no
    vector of n² × d numbers has to be held. ``layer`` may have q of its queries alone.
    """
    heads = len(layer.value)
    weighted = (layer.value @ layer.weights.w_o.unflatten(0, (heads, -1))).double()  # f: (H, n, d)
    by_token = weighted.transpose(0, 1)
    products = by_token @ by_token.transpose(1, 2)  # (n, H, H)
    shares = layer.attention.double().permute(2, 1, 0)  # (key, query, head)
    return ((shares @ products) * shares).permute(2, 1, 0)


def contribution_norms(layer: LayerTrace) -> Tensor:
    """(q, n), ‖Σ_h α_h·f_h(x)‖: how long the vector is that token j adds to token i through all heads of a layer.

    After Kobayashi et al. 2020, §3: the heads' vectors are added before their length is taken.
    """
    return squares_by_head(layer).sum(dim=0).clamp(min=0).sqrt().float()


def layer_map(layer: LayerTrace, head: int | None, *, norms: bool = False) -> Weights:
    """One layer as a matrix (n, n) whose rows sum to 1: who receives from whom, and how much.

    Parameters
    ----------
    layer
        The layer.
    head
        From 0; None takes all heads together.
    norms
        Instead of weights (their mean over heads) the lengths of what is really added (Kobayashi et al. 2020), each row
        divided by its sum. A row to which nothing is added stays 0.
    """
    if not norms:
        chosen = layer.attention.mean(dim=0) if head is None else layer.attention[head]
        return np.asarray(chosen, dtype=np.float32)
    lengths = np.asarray(contribution_norms(layer) if head is None else layer.head_contribution[head])
    return renormalised(lengths, row_sums(lengths))


@once
def layer_maps(trace: Trace, head: int | None, *, norms: bool = False) -> Weights:
    """:func:`layer_map` of every layer, (L, n, n); only the layer at hand is held whole."""
    return np.stack([layer_map(trace.layer(i), head, norms=norms) for i in range(trace.model.config.layers)])


@dataclass(frozen=True, eq=False)
class Links:
    """The strongest links, from layer to layer.

    Attributes
    ----------
    layer, key, query
        (m,), from 0. A link leads from ``key`` before the layer to ``query`` after it.
    weight
        (m,), how much the query receives from the key.
    reaching
        How many links reach the threshold; the strongest of them are here.
    mass
        The share of all weights, of every layer and every query, that the m links carry.
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
    """Of each layer the ``most`` strongest links, in the order of layers, queries, keys.

    Parameters
    ----------
    maps
        (L, n, n), one matrix a layer, rows receive.
    threshold
        The least weight of a link. A weight of 0 is never one.
    most
        How many links a layer may have.
    keep
        Tokens that take part; the weights stay what they are. None: all.
    source
        Only links on a path that starts at this token before the first layer.
    target
        Of each layer also the strongest link that ends at this token.
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
        drawn = _on_paths(drawn, source)  # a link whose way from the source was too weak leads from nowhere
    layer, query, key = np.nonzero(drawn)
    weight = maps[layer, query, key]
    total = float(maps.sum(dtype=np.float64))
    return Links(
        layer, key, query, weight, int(there.sum()), float(weight.sum(dtype=np.float64)) / total if total else 0.0
    )


def _on_paths(there: NDArray[np.bool_], source: int) -> NDArray[np.bool_]:
    """Those of the links (L, n, n) that continue a path from ``source``."""
    found = np.zeros_like(there)
    reached = np.zeros(there.shape[-1], dtype=np.bool_)
    reached[source] = True
    for index, links in enumerate(there):
        found[index] = links & reached
        reached = found[index].any(axis=1)
    return found
