"""The influence tree on screen."""

from __future__ import annotations

from functools import partial

import streamlit as st

from lab.analysis import influence
from lab.analysis.flow import layer_map
from lab.analysis.heads import Weights
from lab.analysis.influence import MAX_NODES, Tree, bounded_depth, influence_tree, most_nodes
from lab.charts.components.influence_tree import tree_chart
from lab.figures import flow as figures
from lab.ui import parameters
from lab.ui.attention_steps import choose_token
from lab.ui.components import mount
from lab.ui.figures import code, show_numbers
from lab.ui.flow_view import FlowView, choose_words


def show_tree(view: FlowView) -> None:
    """From the chosen token, along the strongest weights."""
    k, asked, words_only = _controls(view)
    n = len(view.trace)
    depth = bounded_depth(k, asked, n)
    if depth < asked:
        st.info(
            f"With {k} targets each, depth {asked} could have {most_nodes(k, asked, n):,} nodes. The tree stops at "
            f"depth {depth}: at most {MAX_NODES} nodes are drawn.",
            icon=":material/content_cut:",
        )
    weights = layer_map(view.layer, view.head, norms=view.norms)
    tree = influence_tree(weights, view.token, k, depth, keep=figures.kept(view.trace, words_only))
    if len(tree) == 1:
        st.info(f"{view.name(view.token)} has no other token to attend to here.", icon=":material/info:")
        return
    title = f"Influence tree of {view.trace.labels[view.token]}, layer {view.layer.index + 1}, {view.heads}"
    chart = tree_chart(tree, view.trace.labels, title=title, value_title=view.value)
    mount("influence_tree", chart.payload, "influence-tree")
    again = partial(
        figures.influence, view.trace, view.layer.index, view.head, token=view.token, k=k, depth=depth,
        norms=view.norms, words_only=words_only,
    )  # fmt: skip
    show_numbers(chart.table, "influence-tree", again)
    _say_tree(view, tree, weights)
    code(influence.influence_tree)


def _controls(view: FlowView) -> tuple[int, int, bool]:
    """Root, targets per token, depth, words only?"""
    choose_token(view.trace, "token", "Root", view.token)
    values = []
    with st.container(horizontal=True):
        for name, label, tip in (
            ("tree_k", "Targets per token (k)", "The k largest weights of each token’s row."),
            ("tree_depth", "Depth", "How many edges from the root to the last token."),
        ):
            default, least, most = parameters.NUMBERS[name]
            values.append(
                st.number_input(
                    label, least, most, default, key=name, bind="query-params", persist_state="session", width=180,
                    help=tip,
                )
            )  # fmt: skip
        words_only = choose_words()
    return values[0], values[1], words_only


def _say_tree(view: FlowView, tree: Tree, weights: Weights) -> None:
    """Which matrix it is, and how much of the root's row one sees."""
    first = tree.depth == 1
    row = weights[view.token]
    st.markdown(
        f"Every level reads the same matrix: layer {view.layer.index + 1}, {view.heads}. {view.name(view.token)} "
        f"spends **{tree.weight[first].sum():.1%}** of its row on the {int(first.sum())} targets drawn and "
        f"**{row[view.token]:.1%}** on itself. No token stands twice on a path. The widest edge is "
        f"**{tree.weight[1:].max():.4f}**; a stronger colour is deeper."
    )
