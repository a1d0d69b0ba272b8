"""Bench: head view, the attention of a layer as lines between two columns of tokens (after BertViz)."""

from lab.benches.head_view.view import choose_units, show
from lab.ui.page import open_bench
from lab.ui.parameters import TOY
from lab.ui.toys.steps import toy_trace

page = open_bench("10_Head_view.py")
trace = toy_trace(page) if page.selection.mode == TOY else page.trace()
layer = page.layer_control(trace.model)
show(trace, layer, choose_units())

page.finish()
page.prove(trace)
