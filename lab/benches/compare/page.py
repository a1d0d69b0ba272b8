"""Compare: two runs side by side, and their differences."""

from lab.benches.compare.choice import choose_comparison, first_of, other_run, with_example
from lab.benches.compare.view import asked, choose_figure, show
from lab.ui.page import open_bench
from lab.ui.play import chosen_run


def play() -> None:
    """Run the page."""
    page = with_example(open_bench("compare"))
    first = chosen_run(page)
    layer, head = page.head_controls(first, first_of(page))
    pair = other_run(page, first, choose_comparison(), layer, head)
    figure, at = choose_figure(pair, layer, head)
    pair = asked(pair, figure, at)
    show(pair, figure, at)
    page.finish()
    page.prove(pair.a, pair.b, names=("A", "B"))
