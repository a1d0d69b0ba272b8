"""Through several layers: what the next layer attends to has already collected from others."""

from __future__ import annotations

from functools import partial

import streamlit as st

from lab.analysis.flow.reading import Reading, links, tree_down
from lab.course.benches import bench_of
from lab.course.lessons import script
from lab.figures import flow as figures
from lab.lessons.multi_head_attention import meanings
from lab.lessons.multi_head_attention.screens import choose
from lab.ui.components import draw_tree
from lab.ui.drawing import code, draw_sankey
from lab.ui.frame.script import meaning
from lab.ui.one_head import OneHead

BENCH = bench_of("13_Flow.py")
# The strongest links of each layer, and the strongest targets of each token: enough to follow by eye.
_THRESHOLD, _LINKS, _TARGETS, _DEPTH = 0.02, 10, 2, 3
_READ = Reading(None, residual=True)  # the mean over heads; half of each token goes past them, as in rollout


def show_layers(view: OneHead) -> None:
    """The strongest links of all layers, and the strongest paths back from one token."""
    choose(view)
    trace, last = view.trace, view.trace.model.config.layers - 1
    st.markdown(
        "Each band runs from a token that is attended to, on the left, to the token that attends. It is the mean over "
        "the heads of a layer. The residual path counts, too: half of each token goes past the heads unchanged."
    )
    if len(links(trace, _READ, _THRESHOLD, _LINKS, None)):
        draw_sankey(partial(figures.attention_flow, trace, _READ, _THRESHOLD, _LINKS), "lesson-sankey")
    depth = min(last + 1, _DEPTH)
    asked = (trace, _READ, last, view.query, _TARGETS, depth)
    st.markdown(
        f"Now backwards, from {view.token(view.query)} after layer {last + 1}: where did it come from? Each token of "
        f"the tree opens into the {_TARGETS} tokens of which it took most, one layer down."
    )
    draw_tree(partial(figures.influence, *asked), "lesson-tree")
    meaning(meanings.strongest_path(trace, tree_down(*asked), last, depth))
    st.page_link(script(BENCH.page), label=f"On the bench {BENCH.title}: {BENCH.question}", icon=BENCH.icon)
    code(tree_down)
