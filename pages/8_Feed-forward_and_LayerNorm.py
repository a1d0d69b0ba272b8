"""Lesson: what a layer does after attention: feed-forward network, residual sum, LayerNorm."""

from lab.lessons.feed_forward import neurons
from lab.lessons.feed_forward import residual as stream
from lab.lessons.feed_forward import screens as network
from lab.lessons.feed_forward.by_hand import by_hand
from lab.lessons.feed_forward.view import look
from lab.ui.page import open_lesson
from lab.ui.parameters import TOY
from lab.ui.toys.steps import TOY_STEPS, toy_trace

page = open_lesson("8_Feed-forward_and_LayerNorm.py")
toy = page.selection.mode == TOY
trace = toy_trace(page) if toy else page.trace()
layer = page.layer_control(trace.model)

STEPS = {
    "Order": network.show_order,
    "Neurons": network.show_neurons,
    "Activation": network.show_activation,
    "One neuron": network.show_neuron,
    "Excited by": neurons.show_excited,
    "Writes": neurons.show_written,
    "Residual": stream.show_residual,
    "LayerNorm": stream.show_norm,
}
names = [*(TOY_STEPS if toy else ()), *STEPS, "By hand", "Check"]
step = page.step(names)
if step in TOY_STEPS:
    TOY_STEPS[step](page)
elif step == "By hand":
    by_hand()
else:
    view = look(page, trace, layer)
    (STEPS | {"Check": network.show_checks})[step](view)
page.next_step(names)

page.finish()
page.prove(trace)
