"""Tensors: every tensor of a run, and attention in the variants of bertplus."""

from lab.benches.tensors.variants import ALL_HEADS, show_variants
from lab.benches.tensors.view import show_difference, show_tensor
from lab.ui.drawing import take_click
from lab.ui.page import open_bench
from lab.ui.parameters import HEAD
from lab.ui.play import chosen_run


def play() -> None:
    """Run the page."""
    page = open_bench("tensors")
    take_click(ALL_HEADS, {HEAD: "map"})
    trace = chosen_run(page)
    layer, head = page.head_controls(trace)
    if page.choose() == "variants":
        show_variants(trace, layer, head)
        page.finish()
        page.prove(trace)
        return
    shown = show_tensor(trace, layer, head)
    page.finish()
    page.prove(trace)
    show_difference(trace, shown)
