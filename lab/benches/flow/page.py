"""Flow: the paths of attention from layer to layer."""

from lab.benches.flow.rollout import show_rollout
from lab.benches.flow.tree import show_tree
from lab.benches.flow.view import FlowView, choose_heads, choose_layer, choose_reading, show_sankey
from lab.ui.chosen_tokens import with_tokens
from lab.ui.page import open_bench
from lab.ui.play import chosen_run

STEPS = {"sankey": show_sankey, "rollout": show_rollout, "influence-tree": show_tree}


def play() -> None:
    """Run the page."""
    page = open_bench("flow")
    trace = chosen_run(page)
    step = page.choose()
    # Rollout takes the mean over heads, as in its paper; the Sankey diagram shows every layer.
    head = page.head_control(trace) if step != "rollout" and choose_heads() else None
    layer = choose_layer(trace) if step != "sankey" else trace.model.config.layers - 1
    norms = choose_reading()
    token, _ = with_tokens(trace, None if head is None else (layer, head))
    STEPS[step](FlowView(trace, layer, head, token, norms))
    page.finish()
    page.prove(trace)
