"""Influence trees against paths written out by recursion, against rollout, and their bounds for whatever is asked."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lab
from lab.analysis.flow.influence import MAX_NODES, Tree, bounded_depth, influence_tree, most_nodes, repeated_tree
from lab.analysis.flow.maps import layer_maps, rollout, with_residual


def weights(seed: int, n: int, causal: bool = False) -> np.ndarray:
    found = np.random.default_rng(seed).random((n, n)) + 0.01
    found = np.tril(found) if causal else found
    return (found / found.sum(axis=1, keepdims=True)).astype(np.float32)


def stacked(seed: int, layers: int, n: int, causal: bool = False) -> np.ndarray:
    return np.stack([weights(100 * seed + layer, n, causal) for layer in range(layers)])


def paths(levels: list[np.ndarray], path: tuple[int, ...], k: int, again: bool) -> set[tuple[int, ...]]:
    """Every path of the tree, by the definition."""
    found = {path}
    if levels:
        row = levels[0][path[-1]]
        others = [j for j in range(len(row)) if (again or j not in path) and row[j] > 0]
        for target in sorted(others, key=lambda j: (-row[j], j))[:k]:
            found |= paths(levels[1:], (*path, target), k, again)
    return found


def tokens(tree: Tree, node: int) -> tuple[int, ...]:
    return tuple(int(tree.token[each]) for each in tree.path(node))


def holds(tree: Tree, levels: list[np.ndarray], root: int, k: int, again: bool) -> None:
    found = [tokens(tree, node) for node in range(len(tree))]
    assert len(found) == len(set(found))
    assert set(found) == paths(levels, (root,), k, again)
    for node, path in enumerate(found):
        steps = [float(levels[depth][a, b]) for depth, (a, b) in enumerate(pairwise(path))]
        assert tree.depth[node] == len(steps)
        assert tree.product[node] == pytest.approx(np.prod(steps), rel=1e-5)
        assert tree.weight[node] == (np.float32(steps[-1]) if steps else 1)
        assert tree.parent[node] < node


@given(st.integers(0, 999), st.integers(1, 6), st.integers(1, 4), st.integers(1, 3), st.booleans())
def test_layer_by_layer_each_level_reads_the_layer_below(seed: int, n: int, k: int, layers: int, causal: bool) -> None:
    maps, root = stacked(seed, layers, n, causal), seed % n
    holds(influence_tree(maps, root, k), list(reversed(maps)), root, k, again=True)


@given(st.integers(0, 999), st.integers(1, 9), st.integers(1, 4), st.integers(0, 3), st.booleans())
def test_one_layer_repeated_has_the_paths_of_the_definition(
    seed: int, n: int, k: int, depth: int, causal: bool
) -> None:
    matrix, root = weights(seed, n, causal), seed % n
    tree = repeated_tree(matrix, root, k, depth)
    holds(tree, [matrix] * depth, root, k, again=False)
    assert tree.rolled is None


@given(st.integers(0, 999), st.integers(1, 4), st.integers(1, 3), st.booleans(), st.booleans())
def test_all_paths_together_are_rollout(seed: int, n: int, layers: int, causal: bool, residual: bool) -> None:
    """With as many targets as tokens the tree has every path: brute force over all of them, and the matrix product."""
    raw, root = stacked(seed, layers, n, causal), seed % n
    eye = np.eye(n)
    maps = np.stack([(one + eye) / 2 for one in raw]).astype(np.float32) if residual else raw
    tree = influence_tree(maps, root, n)
    assert tree.rolled is not None
    for leaf in range(n):
        total = 0.0
        for between in product(range(n), repeat=layers - 1):
            way = (root, *between, leaf)
            total += float(np.prod([maps[layers - 1 - d][a, b] for d, (a, b) in enumerate(pairwise(way))]))
        whole = rollout(raw, residual=residual)[root, leaf]
        assert whole == pytest.approx(total, rel=1e-5, abs=1e-9)
        there = (tree.depth == layers) & (tree.token == leaf)
        assert float(tree.product[there].sum()) == pytest.approx(total, rel=1e-5, abs=1e-9)
        assert tree.rolled[there] == pytest.approx(np.full(int(there.sum()), total), rel=1e-5)


@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize("head", [None, 2])
@pytest.mark.parametrize("model", ["lab-bert", "lab-gpt2"])
def test_of_a_trained_model_beside_rollout_over_the_same_layers(model: str, head: int | None, residual: bool) -> None:
    maps = layer_maps(lab.trace(lab.load_model(model), "The sleepy cat sat on the mat."), head)
    tree = influence_tree(with_residual(maps) if residual else maps, 4, 3)
    assert tree.rolled is not None
    for node in range(1, len(tree)):
        layers = maps[len(maps) - int(tree.depth[node]) :]  # the layers read so far
        expected = rollout(layers, residual=residual)[4, tree.token[node]]
        assert tree.rolled[node] == pytest.approx(expected, rel=1e-4)
        assert tree.product[node] <= tree.rolled[node] * (1 + 1e-5)


def test_a_token_reads_itself_layer_by_layer_and_never_in_one_layer_repeated() -> None:
    eye = np.eye(3, dtype=np.float32)
    assert influence_tree(np.stack([eye, eye]), 1, 2).token.tolist() == [1, 1, 1]
    assert repeated_tree(eye, 1, 2, 2).token.tolist() == [1]


def test_siblings_stand_in_the_order_of_their_weights() -> None:
    matrix = np.array([[0.1, 0.2, 0.4, 0.3], [0.25] * 4, [0.25] * 4, [0.25] * 4], dtype=np.float32)
    assert repeated_tree(matrix, 0, 3, 1).token.tolist() == [0, 2, 3, 1]
    assert repeated_tree(matrix, 1, 2, 1).token.tolist() == [1, 0, 2]  # equal weights: the earlier first
    assert influence_tree(matrix[None], 0, 3).token.tolist() == [0, 2, 3, 1]


def test_tokens_that_are_left_out_are_no_targets_and_count_in_rollout() -> None:
    keep = [False, True, False, True, True]
    tree = repeated_tree(weights(1, 5), 0, 4, 2, keep=keep)
    assert set(tree.token[1:].tolist()) == {1, 3, 4} and tree.token[0] == 0
    maps = stacked(2, 2, 5)
    tree, whole = influence_tree(maps, 0, 4, keep=keep), influence_tree(maps, 0, 5)
    assert set(tree.token[1:].tolist()) == {1, 3, 4}
    assert tree.rolled is not None and whole.rolled is not None
    everywhere = {(d, t): r for d, t, r in zip(whole.depth, whole.token, whole.rolled, strict=True)}
    assert [everywhere[d, t] for d, t in zip(tree.depth, tree.token, strict=True)] == tree.rolled.tolist()


@given(st.integers(1, 60), st.integers(0, 12), st.integers(1, 512), st.booleans())
def test_no_tree_exceeds_the_bound(k: int, depth: int, n: int, again: bool) -> None:
    allowed = bounded_depth(k, depth, n, again=again)
    assert 0 <= allowed <= depth and most_nodes(k, allowed, n, again=again) <= MAX_NODES
    assert allowed == depth or most_nodes(k, allowed + 1, n, again=again) > MAX_NODES
    n = min(n, 40)
    allowed = bounded_depth(k, depth, n, again=again)
    if again and allowed:
        assert len(influence_tree(stacked(k, allowed, n), 0, k)) == most_nodes(k, allowed, n, again=True)
    elif not again:
        assert len(repeated_tree(weights(k, n), 0, k, allowed)) == most_nodes(k, allowed, n, again=False)


def test_the_bound_counts_what_a_full_tree_has() -> None:
    assert most_nodes(3, 3, 512, again=False) == most_nodes(3, 3, 512, again=True) == 1 + 3 + 9 + 27
    assert most_nodes(5, 3, 4, again=False) == 1 + 3 + 3 * 2 + 3 * 2 * 1 == len(repeated_tree(weights(0, 4), 0, 5, 3))
    assert most_nodes(5, 2, 4, again=True) == 1 + 4 + 16 == len(influence_tree(stacked(0, 2, 4), 0, 5))
    for grow in (lambda: repeated_tree(weights(0, 30), 0, 8, 3), lambda: influence_tree(stacked(0, 3, 30), 0, 8)):
        with pytest.raises(ValueError, match="may exceed 400"):
            grow()
