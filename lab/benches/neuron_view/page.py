"""Neuron view: a head's queries, keys and values dimension by dimension (after BertViz, and on through W_O)."""

from lab.analysis.heads.walk import neighbours_head
from lab.benches.neuron_view.view import NeuronView, show_deciding, show_neurons
from lab.benches.neuron_view.walks import show_walks
from lab.course.sentences.looks import look_head
from lab.ui.chosen_tokens import with_tokens
from lab.ui.page import open_bench
from lab.ui.play import chosen_run

STEPS = {"dimensions": show_neurons, "deciding": show_deciding, "three-patterns": show_walks}


def play() -> None:
    """Run the page."""
    page = open_bench("neuron-view")
    trace = chosen_run(page)
    step = page.choose()
    layer, head = page.head_controls(trace, neighbours_head if step == "deciding" else look_head)
    token, _ = with_tokens(trace, (layer, head))
    STEPS[step](NeuronView(trace, layer, head, token))
    page.finish()
    page.prove(trace)
