"""Bench: every tensor of a run, and attention in the variants of bertplus."""

from lab.ui.lesson import open_bench
from lab.ui.parameters import TOY
from lab.ui.tensor_view import show_difference, show_tensor
from lab.ui.toy_steps import toy_trace
from lab.ui.variant_view import show_variants

page = open_bench("14_Tensors.py")
trace = toy_trace(page) if page.selection.mode == TOY else page.trace()
layer, head = page.head_controls(trace.model)

TENSORS, VARIANTS = "Tensors", "Attention variants"
if page.step([TENSORS, VARIANTS]) == TENSORS:
    shown = show_tensor(trace, layer, head)
    page.finish()
    page.prove(trace)
    show_difference(trace, shown)
else:
    show_variants(trace, layer, head)
    page.finish()
    page.prove(trace)
