"""Lesson: head specialization, from parts of speech to names and clusters of heads."""

from lab.ui import cluster_steps as clusters
from lab.ui import head_survey_steps as many
from lab.ui import pattern_steps as patterns
from lab.ui import specialization_steps as steps
from lab.ui.attention_steps import View
from lab.ui.chosen_tokens import with_tokens
from lab.ui.head_choice import take_click
from lab.ui.lesson import open_lesson
from lab.ui.parameters import TOY
from lab.ui.toy_steps import TOY_STEPS, toy_trace

page = open_lesson("6_Head_specialization.py")
toy = page.selection.mode == TOY
trace = toy_trace(page) if toy else page.trace()
for chart in (patterns.NAMED, many.AVERAGED, clusters.CLUSTERED):
    take_click(chart, {"layer": "q", "head": "k"})
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
    STEPS[step](View(page, trace, trace.layer(layer), head, query, key))
else:
    TOY_STEPS[step](page)
page.next_step(names)

page.finish()
page.prove(trace)
