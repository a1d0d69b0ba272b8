"""Lesson: multi-head attention, from the heads of a layer to what one head is worth."""

from lab.lessons.multi_head_attention import compared
from lab.lessons.multi_head_attention import heads_off as off
from lab.lessons.multi_head_attention import screens as steps
from lab.lessons.multi_head_attention.head_choice import number_of_heads, take_clicks
from lab.ui.chosen_tokens import with_tokens
from lab.ui.one_head import OneHead
from lab.ui.page import open_lesson
from lab.ui.parameters import TOY
from lab.ui.toys.steps import TOY_STEPS, toy_trace

page = open_lesson("4_Multi-head_attention.py")
toy = page.selection.mode == TOY
trace = toy_trace(page, number_of_heads(page)) if toy else page.trace()
take_clicks()
layer, head = page.head_controls(trace.model)

STEPS = {
    "All heads": steps.show_all,
    "Concatenate": steps.show_concat,
    "Add up": steps.show_sum,
    "Lengths": steps.show_norms,
    "Two heads": compared.show_two,
    "How many": compared.show_count,
}
OFF = {"One head off": off.show_one, "Each head off": off.show_each}
names = [*(TOY_STEPS if toy else ()), *STEPS, *OFF, "Check"]
step = page.step(names)
query, key = with_tokens(page.selection, trace)
view = OneHead(page, trace, trace.layer(layer), head, query, key)
proven = trace

if step in STEPS:
    STEPS[step](view)
elif step in OFF:
    scene = off.scene(page, trace, layer, head, first=step == "One head off")
    OFF[step](scene)
    proven = scene.trace
elif step in TOY_STEPS:
    TOY_STEPS[step](page)
else:
    steps.show_checks(view)
page.next_step(names)

page.finish()
page.prove(proven)
