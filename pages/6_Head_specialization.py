"""Lesson: head specialization, from parts of speech to names and clusters of heads."""

from lab.lessons.head_specialization import clusters, patterns
from lab.lessons.head_specialization import screens as steps
from lab.lessons.head_specialization import survey as many
from lab.ui.chosen_tokens import with_tokens
from lab.ui.drawing import take_click
from lab.ui.one_head import OneHead
from lab.ui.page import open_lesson
from lab.ui.parameters import HEAD, LAYER, TOY
from lab.ui.toys.steps import TOY_STEPS, toy_trace

page = open_lesson("6_Head_specialization.py")
toy = page.selection.mode == TOY
trace = toy_trace(page) if toy else page.trace()
for chart in (patterns.NAMED, many.AVERAGED, clusters.CLUSTERED):
    take_click(chart, {LAYER: "q", HEAD: "k"})
layer, head = page.head_controls(trace.model)

STEPS = {
    "Tagged sentence": steps.show_tags,
    "Seven metrics": steps.show_seven,
    "Radar": steps.show_radar,
    "Named patterns": patterns.show_patterns,
    "Many sentences": many.show_many,
    "Clusters": clusters.show_clusters,
    "Check": patterns.show_checks,
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
