"""Bench: where attention leads, from layer to layer."""

from lab.ui.chosen_tokens import with_tokens
from lab.ui.flow_view import FlowView, choose_heads, choose_reading, show_sankey
from lab.ui.lesson import open_bench
from lab.ui.parameters import TOY
from lab.ui.rollout_view import show_rollout
from lab.ui.toy_steps import toy_trace
from lab.ui.tree_view import show_tree

page = open_bench("13_Flow.py")
trace = toy_trace(page) if page.selection.mode == TOY else page.trace()
layer, head = page.head_controls(trace.model)

STEPS = {"Sankey": show_sankey, "Rollout": show_rollout, "Influence tree": show_tree}
step = page.step(list(STEPS))
# Rollout takes the mean over heads, as its paper does.
one_head = step != "Rollout" and choose_heads()
norms = choose_reading()
token, _ = with_tokens(page.selection, trace)
STEPS[step](FlowView(trace, trace.layer(layer), head if one_head else None, token, norms))

page.finish()
page.prove(trace)
