"""The influence tree: from a root token its k strongest targets, from each of them again its k strongest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lab.analysis.heads import Mask, Weights, kept_mask

MAX_NODES = 400


@dataclass(frozen=True, eq=False)
class Tree:
    """A tree of m nodes, the root first, parents before their children, level by level.

    Attributes:
        token: (m,), from 0.
        parent: (m,), the place of the parent in these arrays; -1 for the root.
        depth: (m,), 0 for the root.
        weight: (m,), of the edge from the parent: how much the parent attends to the token; 1 for the root.
        product: (m,), of the weights along the path from the root.
    """

    token: NDArray[np.int32]
    parent: NDArray[np.int32]
    depth: NDArray[np.int32]
    weight: Weights
    product: Weights

    def __len__(self) -> int:
        return len(self.token)

    def path(self, node: int) -> list[int]:
        """The nodes from the root to ``node``, both included."""
        way = [node]
        while (above := int(self.parent[way[0]])) >= 0:
            way.insert(0, above)
        return way


def most_nodes(k: int, depth: int, tokens: int) -> int:
    """The nodes of a tree whose every node has as many children as it can: no token stands twice on a path."""
    level, total = 1, 1
    for used in range(1, depth + 1):
        level *= max(0, min(k, tokens - used))
        total += level
    return total


def bounded_depth(k: int, depth: int, tokens: int) -> int:
    """The largest depth up to ``depth`` at which no tree has more than ``MAX_NODES`` nodes; 0 if there is none."""
    while depth > 0 and most_nodes(k, depth, tokens) > MAX_NODES:
        depth -= 1
    return depth


def influence_tree(
    weights: Weights, root: int, k: int, depth: int, *, keep: Sequence[bool] | Mask | None = None
) -> Tree:
    """Follow the strongest weights from ``root``, ``k`` from each token, ``depth`` edges far.

    Args:
        weights: (n, n), rows attend. Every level reads the same matrix.
        root: Token from 0.
        k: How many targets a token gets; fewer where fewer have a weight above 0. Of equal weights the
            earlier token's comes first.
        depth: How many edges from the root.
        keep: Tokens that may be targets; None: all.

    Raises:
        ValueError: The tree might exceed ``MAX_NODES`` nodes; :func:`bounded_depth` says how deep it may be.
    """
    n = len(weights)
    if most_nodes(k, depth, n) > MAX_NODES:
        raise ValueError(f"a tree of depth {depth} with {k} targets each may exceed {MAX_NODES} nodes.")
    kept = kept_mask(keep, n)
    orders: dict[int, NDArray[np.intp]] = {}
    nodes: list[tuple[int, int, int, float, float]] = [(root, -1, 0, 1.0, 1.0)]
    paths: list[frozenset[int]] = [frozenset({root})]
    for place, path in enumerate(paths):  # grows while it is read: breadth first
        start, _, above, _, so_far = nodes[place]
        if above == depth:
            break
        if start not in orders:
            order = np.argsort(-weights[start], kind="stable")
            orders[start] = order[kept[order] & (weights[start][order] > 0)]
        # As many tokens as levels are on the path, so the k strongest others are among these.
        near = [int(each) for each in orders[start][: k + above + 1] if int(each) not in path]
        for target in near[:k]:
            value = float(weights[start, target])
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
