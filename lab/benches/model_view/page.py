"""Model view: every head of the model as a thumbnail, and one head enlarged (after BertViz)."""

from lab.benches.model_view.view import choose_colour, show, take_opened
from lab.ui.chosen_tokens import with_tokens
from lab.ui.page import open_bench
from lab.ui.play import chosen_run


def play() -> None:
    """Run the page."""
    page = open_bench("model-view")
    trace = chosen_run(page)
    take_opened(trace)
    layer, head = page.head_controls(trace)
    query, key = with_tokens(trace, (layer, head))
    show(trace, layer, head, query, key, choose_colour())
    page.finish()
    page.prove(trace)
