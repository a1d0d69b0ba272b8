"""Head view: the attention of a layer as lines between two columns of tokens (after BertViz)."""

from lab.benches.head_view.view import choose_units, first_head, show
from lab.ui.page import open_bench
from lab.ui.play import chosen_run


def play() -> None:
    """Run the page."""
    page = open_bench("head-view")
    trace = chosen_run(page)
    layer = page.layer_control(trace)
    show(trace, layer, choose_units(), first_head(trace, layer))
    page.finish()
    page.prove(trace)
