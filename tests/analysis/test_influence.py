"""The influence tree against one written out by recursion, and its bounds for whatever is asked."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.analysis.influence import MAX_NODES, Tree, bounded_depth, influence_tree, most_nodes


def weights(seed: int, n: int, causal: bool = False) -> np.ndarray:
    found = np.random.default_rng(seed).random((n, n)) + 0.01
    found = np.tril(found) if causal else found
    return (found / found.sum(axis=1, keepdims=True)).astype(np.float32)


def paths(matrix: np.ndarray, path: tuple[int, ...], k: int, depth: int) -> set[tuple[int, ...]]:
    """Every path of the tree, by the definition."""
    found = {path}
    if depth > 0:
        row = matrix[path[-1]]
        others = [j for j in range(len(row)) if j not in path and row[j] > 0]
        for target in sorted(others, key=lambda j: (-row[j], j))[:k]:
            found |= paths(matrix, (*path, target), k, depth - 1)
    return found


def tokens(tree: Tree, node: int) -> tuple[int, ...]:
    return tuple(int(tree.token[each]) for each in tree.path(node))


@given(st.integers(0, 999), st.integers(1, 9), st.integers(1, 4), st.integers(0, 3), st.booleans())
def test_has_the_paths_of_the_definition(seed: int, n: int, k: int, depth: int, causal: bool) -> None:
    matrix, root = weights(seed, n, causal), seed % n
    tree = influence_tree(matrix, root, k, depth)
    found = [tokens(tree, node) for node in range(len(tree))]
    assert len(found) == len(set(found))
    assert set(found) == paths(matrix, (root,), k, depth)
    for node, path in enumerate(found):
        steps = [float(matrix[a, b]) for a, b in pairwise(path)]
        assert tree.depth[node] == len(steps)
        assert tree.product[node] == pytest.approx(np.prod(steps), rel=1e-5)
        assert tree.weight[node] == (np.float32(steps[-1]) if steps else 1)
        assert tree.parent[node] < node


def test_siblings_stand_in_the_order_of_their_weights() -> None:
    matrix = np.array([[0.1, 0.2, 0.4, 0.3], [0.25] * 4, [0.25] * 4, [0.25] * 4], dtype=np.float32)
    assert influence_tree(matrix, 0, 3, 1).token.tolist() == [0, 2, 3, 1]
    assert influence_tree(matrix, 1, 2, 1).token.tolist() == [1, 0, 2]  # equal weights: the earlier first


def test_tokens_that_are_left_out_are_no_targets() -> None:
    tree = influence_tree(weights(1, 5), 0, 4, 2, keep=[False, True, False, True, True])
    assert set(tree.token[1:].tolist()) == {1, 3, 4} and tree.token[0] == 0


@given(st.integers(1, 60), st.integers(0, 12), st.integers(1, 512))
def test_no_tree_exceeds_the_bound(k: int, depth: int, n: int) -> None:
    allowed = bounded_depth(k, depth, n)
    assert 0 <= allowed <= depth and most_nodes(k, allowed, n) <= MAX_NODES
    assert allowed == depth or most_nodes(k, allowed + 1, n) > MAX_NODES
    tree = influence_tree(weights(k, min(n, 40)), 0, k, bounded_depth(k, depth, min(n, 40)))
    assert len(tree) <= MAX_NODES


def test_the_bound_counts_what_a_full_tree_has() -> None:
    assert most_nodes(3, 3, 512) == 1 + 3 + 9 + 27
    assert most_nodes(5, 3, 4) == 1 + 3 + 3 * 2 + 3 * 2 * 1 == len(influence_tree(weights(0, 4), 0, 5, 3))
    with pytest.raises(ValueError, match="may exceed 400"):
        influence_tree(weights(0, 30), 0, 8, 3)
