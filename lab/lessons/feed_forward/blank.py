"""What a neuron does to the word in the blank: the screen on which it is switched off."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pandas as pd
import streamlit as st

from lab.analysis.layers.neurons_off import NeuronOff, neurons_off
from lab.lessons.feed_forward import blank_figures, meanings
from lab.lessons.feed_forward.neurons import strongest_tokens, survey_of
from lab.lessons.feed_forward.view import FeedForwardView
from lab.models.ablation import ablate_each_neuron
from lab.models.trace import Trace
from lab.ui.drawing import code, draw
from lab.ui.frame.script import meaning, try_this
from lab.ui.parameters import NEURON
from lab.ui.shared.prediction import cannot_predict, look
from lab.ui.tables import show_table

_ROWS = 10
_BELOW = " An activation below 0 is a small number that the function lets through; to set it to 0 is to raise it."
_COLUMNS = ["neuron", "excited most by", "activation in the blank", "change without it"]


def show_blank(view: FeedForwardView) -> Trace | None:
    """One neuron set to 0 at every token: what becomes of the words in the blank."""
    reason = cannot_predict(view.trace.model)
    if reason is not None:
        st.info(reason, icon=":material/info:")
        return None
    blank = look(view.page, view.trace)
    if blank is None:
        return None
    trace, place, layer = blank.trace, blank.place, view.layer.index
    found = neurons_off(trace, place, layer)
    # One that is held back says little about what it answers to.
    active = (each for each in found if each.activation > 0)
    neuron = view.neuron if NEURON.chosen() else next(active, found[0]).neuron
    NEURON.type_in(f"Neuron, 1 to {view.config.ffn_width:,}", neuron + 1, view.config.ffn_width)
    draw(partial(blank_figures.words, trace, place, layer, neuron), "words-without")
    st.caption("Full colour: with the neuron. Pale, “off”: without it.")
    draw(partial(blank_figures.changes, trace, place, layer, neuron), "neurons-off")
    meaning(meanings.neuron_in_blank(trace, place, layer, neuron))
    told, how = meanings.words_aimed_at(trace, place, layer, neuron, blank_figures.WORDS)
    st.markdown(told)
    with st.expander("The numbers behind it", icon=":material/calculate:"):
        st.markdown(how)
    _table(view, found, neuron)
    _offer(found, neuron)
    code(ablate_each_neuron)
    return trace


def _table(view: FeedForwardView, found: Sequence[NeuronOff], neuron: int) -> None:
    """What excites the neurons that change the word most, and the chosen one."""
    shown = list(found[:_ROWS])
    shown += [each for each in found[_ROWS:] if each.neuron == neuron]
    survey = survey_of(view)
    tokens = ["" if survey is None else " · ".join(strongest_tokens(view, survey, each.neuron)) for each in shown]
    rows = [(each.neuron + 1, told, each.activation, each.change) for each, told in zip(shown, tokens, strict=True)]
    st.markdown(
        "What excites these neurons most, in the short texts of the step before. Do not look for a pattern in every "
        f"row: what a neuron answers to need not have a name.{_BELOW * any(each.activation < 0 for each in shown)}"
    )
    numbers = dict.fromkeys(_COLUMNS[2:], "%.3f")
    table = pd.DataFrame(rows, columns=_COLUMNS)
    show_table(table, formats=numbers)


def _offer(found: Sequence[NeuronOff], neuron: int) -> None:
    """The neuron that changes the word most; from there the strongest that changes it the other way."""
    against = next((each for each in found if each.change * found[0].change < 0), None)
    if found[0].neuron != neuron:
        other, why = found[0], "the neuron that changes this word most. Can you tell what excites it?"
    elif against is not None:
        other, why = against, "of the neurons that change the word the other way, the strongest. What excites it?"
    else:
        return
    try_this(why, f"Take neuron {other.neuron + 1:,}", {NEURON: other.neuron + 1})
