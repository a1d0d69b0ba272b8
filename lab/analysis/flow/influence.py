"""The flow of a run read as links and trees: the k strongest targets of a root token, then of each target, and so on.

Layer by layer, a path of the tree is a path through the model: the root is the token after the last layer read, its
targets are tokens before that layer, and their targets are tokens before the layer below. The product along a path is
the path's share in rollout, which is the sum over all paths (Abnar & Zuidema 2020, §3). A tree within one layer reads
the same matrix at every level: it shows a chain of strong weights, but its paths do not run through the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lab.analysis.flow.maps import Links, layer_map, layer_maps, strongest_links, with_residual
from lab.analysis.heads.values import Mask, Weights, keep_others, kept_mask
from lab.models.memo import once
from lab.models.trace import Trace

MAX_NODES = 400


@dataclass(frozen=True, eq=False)
class Tree:
    """A tree of m nodes, the root first, parents before their children, level by level.

    Attributes
    ----------
    token
        (m,), the token of each node, from 0.
    parent
        (m,), the place of the parent in these arrays; -1 for the root.
    depth
        (m,), the number of edges from the root.
    weight
        (m,), the weight of the edge from the parent, with which the parent attends to the token; 1 for the root.
    product
        (m,), the product of the weights along the path from the root.
    rolled
        (m,), the sum of the products over all equally long paths from the root to the token, drawn or not: the entry
        (root, token) of the product of the matrices read so far. None if one layer is repeated.
    """

    token: NDArray[np.int32]
    parent: NDArray[np.int32]
    depth: NDArray[np.int32]
    weight: Weights
    product: Weights
    rolled: Weights | None = None

    def __len__(self) -> int:
        return len(self.token)

    def path(self, node: int) -> list[int]:
        """Return the nodes from the root to ``node``, both included."""
        way = [node]
        while (above := int(self.parent[way[0]])) >= 0:
            way.insert(0, above)
        return way


def most_nodes(k: int, depth: int, tokens: int, *, again: bool) -> int:
    """Count the nodes of a full tree, in which every node has the largest possible number of children.

    ``again`` is true if a token may occur on a path more than once.
    """
    level, total = 1, 1
    for used in range(1, depth + 1):
        level *= min(k, tokens) if again else max(0, min(k, tokens - used))
        total += level
    return total


def bounded_depth(k: int, depth: int, tokens: int, *, again: bool) -> int:
    """Return the largest depth up to ``depth`` at which no tree has more than ``MAX_NODES`` nodes.

    Returns 0 if there is no such depth.
    """
    while depth > 0 and most_nodes(k, depth, tokens, again=again) > MAX_NODES:
        depth -= 1
    return depth


def influence_tree(maps: Weights, root: int, k: int, *, keep: Sequence[bool] | Mask | None = None) -> Tree:
    """Follow the strongest weights down the layers, ``k`` from each token, one layer for each level.

    A token may be its own target, because a token reads itself in every layer. No path visits the same token of the
    same layer twice.

    Parameters
    ----------
    maps
        (L, n, n), one matrix for each layer, from the lowest to the layer just below the root; rows attend. The
        residual path may be included, as in :mod:`lab.analysis.flow.maps`. The tree is L edges deep.
    root
        The root token, from 0, after the last of the layers.
    k
        The number of targets of a token; fewer if fewer tokens have a weight above 0. If weights are equal, the earlier
        token comes first.
    keep
        Tokens that may be targets; None if all tokens may. ``rolled`` also counts paths through the other tokens.

    Raises
    ------
    ValueError
        If the tree might exceed ``MAX_NODES`` nodes; :func:`bounded_depth` gives the largest possible depth.
    """
    down = maps[::-1]
    tree = _grown(list(down), maps.shape[-1], root, k, keep, again=True)
    reached = np.zeros((len(down) + 1, maps.shape[-1]))
    reached[0, root] = 1
    for level, weights in enumerate(down):
        reached[level + 1] = reached[level] @ weights
    return replace(tree, rolled=reached[tree.depth, tree.token].astype(np.float32))


def repeated_tree(
    weights: Weights, root: int, k: int, depth: int, *, keep: Sequence[bool] | Mask | None = None
) -> Tree:
    """Grow a tree within one layer: every level reads the same matrix, and no token occurs twice on a path.

    Parameters
    ----------
    weights
        (n, n), rows attend.
    depth
        The number of edges from the root to the last level.
    root, k, keep
        See :func:`influence_tree`; this function raises the same errors.
    """
    return _grown([weights] * depth, len(weights), root, k, keep, again=False)


def _grown(
    levels: Sequence[Weights], n: int, root: int, k: int, keep: Sequence[bool] | Mask | None, *, again: bool
) -> Tree:
    """Grow a tree over n tokens; a node at depth d reads its token's row of ``levels[d]``, (n, n)."""
    depth = len(levels)
    if most_nodes(k, depth, n, again=again) > MAX_NODES:
        raise ValueError(f"a tree of depth {depth} with {k} targets each may exceed {MAX_NODES} nodes.")
    kept = kept_mask(keep, n)
    nodes: list[tuple[int, int, int, float, float]] = [(root, -1, 0, 1.0, 1.0)]
    paths: list[frozenset[int]] = [frozenset({root})]
    for place, path in enumerate(paths):  # the list grows while it is read: breadth first
        start, _, above, _, so_far = nodes[place]
        if above == depth:
            break
        row = levels[above][start]
        order = np.argsort(-row, kind="stable")
        order = order[kept[order] & (row[order] > 0)]
        # The path has ``above + 1`` tokens, so the k strongest other tokens are among the k + above + 1 strongest.
        near = [int(each) for each in order[: k + above + 1] if again or int(each) not in path]
        for target in near[:k]:
            value = float(row[target])
            nodes.append((target, place, above + 1, value, so_far * value))
            paths.append(path | {target})
    token, parent, level, weight, product = zip(*nodes, strict=True)
    return Tree(
        np.array(token, dtype=np.int32),
        np.array(parent, dtype=np.int32),
        np.array(level, dtype=np.int32),
        np.array(weight, dtype=np.float32),
        np.array(product, dtype=np.float32),
    )


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
