"""Lesson: attention metrics, from a head's map to six numbers that can be compared."""

from lab.lessons.attention_metrics import limits
from lab.lessons.attention_metrics import screens as steps
from lab.ui.chosen_tokens import with_tokens
from lab.ui.drawing import take_click
from lab.ui.one_head import OneHead
from lab.ui.page import open_lesson
from lab.ui.parameters import HEAD, LAYER, TOY
from lab.ui.toys.steps import TOY_STEPS, toy_trace

page = open_lesson("5_Attention_metrics.py")
toy = page.selection.mode == TOY
trace = toy_trace(page) if toy else page.trace()
take_click(steps.ALL_HEADS, {LAYER: "q", HEAD: "k"})
layer, head = page.head_controls(trace.model)

STEPS = {
    "Two heads": steps.show_two,
    "Six numbers": steps.show_six,
    "By hand": steps.show_by_hand,
    "All heads": steps.show_all,
    "One layer": steps.show_layer,
    "Special tokens": limits.show_specials,
    "Threshold": limits.show_threshold,
    "Length": limits.show_length,
    "Check": steps.show_checks,
}
names = [*(TOY_STEPS if toy else ()), *STEPS]
step = page.step(names)
query, key = with_tokens(page.selection, trace)

if step in STEPS:
    STEPS[step](OneHead(page, trace, trace.layer(layer), head, query, key))
else:
    TOY_STEPS[step](page)
page.next_step(names)

page.finish()
page.prove(trace)
