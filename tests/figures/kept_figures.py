"""A figure of each kind that can be kept as a file, of one run."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from lab.analysis.flow.influence import Reading
from lab.analysis.words.masking import is_hidden
from lab.benches.head_view.view import head_view_of
from lab.benches.model_view.view import all_heads
from lab.benches.neuron_view.dimensions import neurons
from lab.figures.attention import attention_map
from lab.figures.flow import attention_flow, influence
from lab.figures.forming_word import word_forms
from lab.figures.machine_of_run import machine
from lab.figures.sentence_arcs import sentence
from lab.figures.specialization_figures import radar
from lab.lessons.self_attention.build_a_row import row_built
from lab.models.trace import Trace

COMPONENTS = (
    "head_view",
    "model_view",
    "neuron_view",
    "sentence",
    "word_forms",
    "row_built",
    "influence_tree",
    "machine",
)
LAYER, HEAD, QUERY, KEY = 4, 10, 5, 1
CUT = "3"  # of the word that forms: token 3, counted from 1, is cut off


def kept_figures(trace: Trace) -> dict[str, Callable[[], Any]]:
    """The calls that make the figures, by name: the eight components, a chart, a radar, a Sankey."""
    blank = next((at for at in range(len(trace)) if is_hidden(trace, at)), len(trace) - 1)
    return {
        "head_view": partial(head_view_of, trace, LAYER, heads=(HEAD,)),
        "model_view": partial(all_heads, trace, (LAYER, HEAD), "Confidence (max)", True),
        "neuron_view": partial(neurons, trace, LAYER, HEAD, QUERY),
        "sentence": partial(sentence, trace, QUERY, KEY, of=(LAYER, HEAD)),
        "word_forms": partial(word_forms, trace, blank, CUT),
        "row_built": partial(row_built, trace, LAYER, HEAD, QUERY, KEY),
        "influence_tree": partial(influence, trace, Reading(residual=True), LAYER, QUERY, 3, 3),
        "machine": partial(machine, trace),
        "chart": partial(attention_map, trace, LAYER, HEAD, QUERY, KEY),
        "radar": partial(radar, trace, LAYER, HEAD),
        "sankey": partial(attention_flow, trace, Reading(), 0.1, 60),
    }
