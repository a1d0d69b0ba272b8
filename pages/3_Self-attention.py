"""Lesson: self-attention, from query and key to the weighted sum of values."""

from lab.lessons.self_attention import extras
from lab.lessons.self_attention import screens as steps
from lab.lessons.self_attention.break_it import break_it
from lab.ui.chosen_tokens import with_tokens
from lab.ui.one_head import OneHead
from lab.ui.page import open_lesson
from lab.ui.parameters import TOY
from lab.ui.toys.steps import TOY_STEPS, toy_trace

page = open_lesson("3_Self-attention.py")
toy = page.selection.mode == TOY
trace = toy_trace(page) if toy else page.trace()
layer, head = page.head_controls(trace.model, steps.first_head(page))

STEPS = {
    "Map": steps.show_map,
    "Queries and keys": steps.show_queries_and_keys,
    "Scores": steps.show_scores,
    "Scale": steps.show_scale,
    "Softmax": steps.show_softmax,
    "Values": steps.show_values,
}
names = [*(TOY_STEPS if toy else ()), *STEPS, "By hand", "Break it", "Check"]
step = page.step(names)
query, key = with_tokens(page.selection, trace)
view = OneHead(page, trace, trace.layer(layer), head, query, key)
proven = trace

if step in STEPS:
    STEPS[step](view)
elif step in TOY_STEPS:
    TOY_STEPS[step](page)
elif step == "By hand":
    extras.by_hand()
elif step == "Break it":
    proven = break_it(view)
else:
    steps.show_checks(view)
page.next_step(names)

page.finish()
page.prove(proven)
