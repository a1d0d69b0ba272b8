"""Through several layers: what the next layer attends to has already collected from others."""

from __future__ import annotations

from functools import partial

import streamlit as st

from lab.analysis.flow.reading import Reading, links, tree_down
from lab.course.benches import bench_of
from lab.course.experiments import experiment_of
from lab.course.heads import listed, resting_place
from lab.figures import flow as figures
from lab.lessons.multi_head_attention import meanings
from lab.lessons.multi_head_attention.screens import choose
from lab.ui.components import draw_tree
from lab.ui.drawing import code, draw_sankey
from lab.ui.frame.script import meaning, way_to
from lab.ui.one_head import OneHead

# The strongest links of each layer, and the strongest targets of each token: enough to follow by eye.
_THRESHOLD, _LINKS, _TARGETS, _DEPTH = 0.02, 10, 2, 3
_READ = Reading(None, words_only=True)  # the mean over heads, between words: where information can change place


def show_layers(view: OneHead) -> None:
    """The strongest links of all layers, and the strongest paths back from one token."""
    choose(view)
    trace, last = view.trace, view.trace.model.config.layers - 1
    drawn = (_READ, _THRESHOLD, _LINKS, None, view.query)
    found, token = links(trace, *drawn), view.token(view.query)
    st.markdown(
        "Each band runs from a token that is attended to, on the left, to the token that attends. It is the mean over "
        f"the heads of a layer. Drawn are the {_LINKS} strongest bands of each layer, and none below {_THRESHOLD:g}. "
        + (
            f"Bands to {token} are orange; the strongest of them is drawn in each layer where it reaches that. "
            if (found.query == view.query).any()
            else f"No band to {token} reaches that. "
        )
        + f"What goes to {resting_place(trace)} is left out, and so is the vector that a token itself brings along."
    )
    if len(found):
        draw_sankey(partial(figures.attention_flow, trace, *drawn), "lesson-sankey")
    empty = [str(layer + 1) for layer in range(last + 1) if layer not in found.layer]
    if empty:
        st.markdown(
            f"Layer{'s' if len(empty) > 1 else ''} {listed(empty)}: no band. On average over the heads, no weight "
            f"between words reaches {_THRESHOLD:g} there."
        )
    depth = min(last + 1, _DEPTH)
    asked = (trace, _READ, last, view.query, _TARGETS, depth)
    st.markdown(
        f"Now backwards, from {token} after layer {last + 1}: where did it come from? Each token of "
        f"the tree opens into the {_TARGETS} tokens of which it took most, one layer down."
    )
    tree = tree_down(*asked)
    if len(tree) > 1:
        draw_tree(partial(figures.influence, *asked), "lesson-tree")
        meaning(meanings.strongest_path(trace, tree, last, depth))
    else:
        st.info(f"{token} has no target among the words. Choose another token.", icon=":material/info:")
    way_to("On the bench", bench_of("13_Flow.py"))
    way_to("The experiment", experiment_of("33_Explanation.py"))
    code(tree_down)
