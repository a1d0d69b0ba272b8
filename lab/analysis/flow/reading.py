"""The choice of matrices from which the flow of a run is read, and the links and trees found in them."""

from __future__ import annotations

from dataclasses import dataclass

from lab.analysis.flow.influence import Tree, influence_tree, repeated_tree
from lab.analysis.flow.maps import Links, layer_map, layer_maps, strongest_links, with_residual
from lab.analysis.heads.values import Mask, Weights, keep_others
from lab.models.memo import once
from lab.models.trace import Trace


@dataclass(frozen=True)
class Reading:
    """The choice of matrices to read.

    Attributes
    ----------
    head
        The head, from 0; None is the mean over heads.
    norms
        True for the lengths of added vectors instead of weights; see :func:`lab.analysis.flow.maps.layer_map`.
    residual
        True if the residual connection counts as a path, too.
    words_only
        True if special tokens, or the first token in a model without special tokens, take no part.
    """

    head: int | None = None
    norms: bool = False
    residual: bool = False
    words_only: bool = False

    def maps(self, trace: Trace) -> Weights:
        """Return the matrices of all layers, (L, n, n)."""
        found = layer_maps(trace, self.head, norms=self.norms)
        return with_residual(found) if self.residual else found

    def keep(self, trace: Trace) -> Mask | None:
        """Return a mask of the tokens that take part, (n,); None if all take part."""
        return keep_others(trace) if self.words_only else None


@once
def links(
    trace: Trace, read: Reading, threshold: float, most: int, source: int | None = None, target: int | None = None
) -> Links:
    """Return the strongest links of all layers; see :func:`lab.analysis.flow.maps.strongest_links`."""
    return strongest_links(read.maps(trace), threshold, most, keep=read.keep(trace), source=source, target=target)


@once
def tree_down(trace: Trace, read: Reading, layer: int, token: int, k: int, depth: int) -> Tree:
    """Grow the tree from ``token`` after ``layer`` (from 0), down through ``depth`` layers."""
    maps = layer_maps(trace, read.head, norms=read.norms)[layer + 1 - depth : layer + 1]
    return influence_tree(with_residual(maps) if read.residual else maps, token, k, keep=read.keep(trace))


@once
def tree_within(trace: Trace, read: Reading, layer: int, token: int, k: int, depth: int) -> Tree:
    """Grow the tree that reads this one layer at every level; ``read.residual`` does not matter for this tree."""
    weights = layer_map(trace.layer(layer), read.head, norms=read.norms)
    return repeated_tree(weights, token, k, depth, keep=read.keep(trace))
