"""Influence tree: the strongest weights from a token, layer by layer, or in one layer repeated."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from lab.analysis.flow import influence, maps
from lab.analysis.flow.influence import MAX_NODES, Reading, Tree, bounded_depth, most_nodes, tree_down, tree_within
from lab.analysis.flow.maps import layer_map
from lab.analysis.heads.values import Weights
from lab.benches.flow import FlowView, choose_residual, choose_words
from lab.course.words import percent, share
from lab.figures import flow
from lab.ui import parameters
from lab.ui.components import draw_tree
from lab.ui.drawing import code
from lab.ui.parameters import LAYERED
from lab.ui.screen import caption, meaning
from lab.ui.sentence import show_sentence


def show(view: FlowView) -> None:
    """Draw the tree from the chosen token along the strongest weights, with the controls of the tree below."""
    show_sentence(view.trace, view.token)
    figure = st.container()
    words_only = choose_words()
    with st.expander("More controls", icon=":material/tune:"):
        layered = _choose_levels()
        with st.container(horizontal=True):
            k, asked = _choose_sizes()
            residual = choose_residual() if layered else False
    with figure:
        if layered:
            _show_layers(view, Reading(view.head, view.norms, residual, words_only), k, asked)
        else:
            _show_repeated(view, Reading(view.head, view.norms, words_only=words_only), k, asked)


def _show_layers(view: FlowView, read: Reading, k: int, asked: int) -> None:
    """Draw the token after the chosen layer, the tokens that it reads, their own targets, down to the input."""
    depth = _show_bounded(view, k, min(asked, view.layer + 1), again=True)
    asked_for = (view.trace, read, view.layer, view.token, k, depth)
    tree = tree_down(*asked_for)
    if len(tree) == 1:
        _show_alone(view, "has no token to attend to")
        return
    draw_tree(partial(flow.influence, *asked_for))
    meaning(said(view, tree))
    caption("The tree says what could arrive, not what a prediction depends on.")
    if asked > view.layer + 1:
        st.caption(
            f"A tree of depth {asked} needs {asked} layers, but from layer {view.layer + 1} down there are only "
            f"{view.layer + 1}."
        )
    with st.expander("How to read it", icon=":material/help:"):
        st.markdown(levels(view, tree, depth))
    code(influence.influence_tree, maps.rollout)


def _show_repeated(view: FlowView, read: Reading, k: int, asked: int) -> None:
    """Draw the tree that uses one matrix at every level."""
    depth = _show_bounded(view, k, asked, again=False)
    asked_for = (view.trace, read, view.layer, view.token, k, depth)
    tree = tree_within(*asked_for)
    if len(tree) == 1:
        _show_alone(view, "has no other token to attend to")
        return
    draw_tree(partial(flow.influence_within, *asked_for))
    weights = layer_map(view.trace.layer(view.layer), view.head, norms=view.norms)
    st.markdown(said_of_repeated(view, tree, weights))
    code(influence.repeated_tree)


def _show_bounded(view: FlowView, k: int, asked: int, *, again: bool) -> int:
    """Reduce the depth until the tree is small enough to draw, and say so."""
    n = len(view.trace)
    depth = bounded_depth(k, asked, n, again=again)
    if depth < asked:
        st.info(
            f"With {k} targets per token, a tree of depth {asked} could have {most_nodes(k, asked, n, again=again):,} "
            f"nodes. The lab draws at most {MAX_NODES} nodes, so the tree stops at depth {depth}.",
            icon=":material/content_cut:",
        )
    return depth


def _show_alone(view: FlowView, what: str) -> None:
    st.info(f"{view.name(view.token)} {what} here.", icon=":material/info:")


def strongest(tree: Tree) -> int:
    """Return the node at which the strongest path to the last level ends."""
    last = np.flatnonzero(tree.depth == tree.depth.max())
    return int(last[tree.product[last].argmax()])


def said(view: FlowView, tree: Tree) -> str:
    """Name the strongest path, and say how much of the attention all drawn paths carry."""
    last, best = np.flatnonzero(tree.depth == tree.depth.max()), strongest(tree)
    path = " → ".join(view.name(int(tree.token[node])) for node in reversed(tree.path(best)))
    drawn = float(tree.product[last].sum(dtype=np.float64))
    counted = "the contributions that lead" if view.norms else "the attention that leads"
    product, each = share(float(tree.product[best])), "shares" if view.norms else "weights"
    return (
        f"The strongest path to {view.name(view.token)} is {path}. The product of its {each} is **{product}**. "
        f"Together, the {len(last):,} paths drawn to the last level carry {percent(drawn)} of {counted} to the root."
        f"{_parked(view, tree, best)}"
    )


def _parked(view: FlowView, tree: Tree, best: int) -> str:
    """Say, if it is true, that the strongest path runs only through special tokens."""
    inner = [int(tree.token[node]) for node in tree.path(best)][1:-1]
    if not inner or not all(view.trace.encoding.special[token] for token in inner):
        return ""
    return (
        "\n\nBetween its two ends, the path runs only through special tokens, which often get much "
        "attention (lesson 5; Clark et al. 2019). Choose *Words only* to see the paths through words."
    )


def levels(view: FlowView, tree: Tree, depth: int) -> str:
    """Say which layers a tree of this depth reads, and compare its strongest path with rollout."""
    assert tree.rolled is not None
    lowest = view.layer + 2 - depth
    read = f"layer {lowest}" if depth == 1 else f"layers {view.layer + 1} down to {lowest}"
    end = "the input" if lowest == 1 else f"what comes out of layer {lowest - 1}"
    return (
        f"The root is {view.name(view.token)} after layer {view.layer + 1}. Each level of the tree reads the layer "
        f"below it. Here the levels read {read}, {view.heads}. The tree ends at {end}. A token can occur on a path "
        "several times, because in each "
        "layer it also reads itself. The products of *all* paths between the two ends of the strongest path, drawn "
        f"or not, add up to **{tree.rolled[strongest(tree)]:.4f}**. This sum is rollout over the same layers."
    )


def said_of_repeated(view: FlowView, tree: Tree, weights: Weights) -> str:
    """Name the matrix that is repeated, and say how much of the root's row is drawn."""
    first = tree.depth == 1
    row = weights[view.token]
    return (
        f"Every level reads the same matrix, from layer {view.layer + 1}, {view.heads}. So this tree follows strong "
        "weights within one layer, although information does not run through a layer several times. "
        f"{view.name(view.token)} spends "
        f"**{tree.weight[first].sum():.1%}** of its row on the {int(first.sum())} targets drawn and "
        f"**{row[view.token]:.1%}** on itself. No token occurs twice on a path. The widest edge is "
        f"**{tree.weight[1:].max():.4f}**; deeper levels have a stronger colour."
    )


def _choose_levels() -> bool:
    """Let the learner choose the matrices of the levels; return True for one layer after the other."""
    chosen = parameters.TREE.choose(
        "Levels",
        help="Layer by layer: each level reads the layer below. One layer repeated: every level reads the same "
        "matrix, so no path runs through the model.",
    )
    return chosen == LAYERED


def _choose_sizes() -> tuple[int, int]:
    """Let the learner choose the number of targets per token, and the depth."""
    k = parameters.TREE_K.choose("Targets per token (k)", width=170, help="The k largest weights of each token’s row.")
    depth = parameters.TREE_DEPTH.choose(
        "Depth", width=170, help="The number of edges from the root to the last token."
    )
    return k, depth
