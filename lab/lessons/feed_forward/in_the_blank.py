"""In the blank: one neuron is switched off at a time, and the word in the blank may change."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import streamlit as st

from lab.analysis.layers.feed_forward import NeuronOff, best_word, neuron_off, neurons_off, trying
from lab.charts.base.axes import Scale
from lab.charts.base.figure import Figure
from lab.charts.marks.bars import bars
from lab.course.sentences.looks import STORY_HEAD, is_story
from lab.course.words import quoted, share
from lab.lessons.feed_forward.view import FeedForwardView, choose_neuron
from lab.models.ablation import ablate_each_neuron
from lab.models.batches import ProgressFunction
from lab.models.encoding import BLANK, word_of
from lab.models.trace import Trace
from lab.ui.drawing import code, draw
from lab.ui.long_work import serial_of, unasked
from lab.ui.parameters import NEURON
from lab.ui.screen import meaning, say
from lab.ui.shared.prediction import cannot_predict
from lab.ui.shared.prediction import look as look_at_place

IDEA = """
You have seen where a neuron fires. Does the model need it? Switch neurons of layer {layer} off, one at a time, and see
what the model says then."""
CAPTION = """
Each bar is a run in which the activation of one neuron is 0 at every token. They are the
neurons that change the word most, among those that add most here."""
READING = """
Without neuron {neuron:,} of layer {layer}, {word} goes from {before} to {after}. Each of the {tried} neurons that add
most here was switched off alone; the best word became another one {turned} times."""
WRITTEN = """
None of the layer’s {inner:,} neurons turns *paris* alone. Switched off together, they do (*The plan of a layer*). And
a single neuron can matter: see the longest bar."""
_SHOWN = 10
# The page tries the neurons by itself if tokens times layers are at most this: half a second on one core.
_QUICK = 150


def show(view: FeedForwardView) -> Trace | None:
    """Set one neuron to 0 at every token, and see the word in the blank change."""
    say(IDEA.format(layer=view.number))
    if reason := cannot_predict(view.trace.model):
        st.info(reason, icon=":material/info:")
        return None
    blank = look_at_place(view.page, view.trace)
    if blank is None:
        return None
    found = _look_tried(blank.trace, blank.place, view.layer.index)
    if found is None:
        return blank.trace
    neuron = view.neuron if NEURON.chosen() else found[0].neuron
    draw(partial(changes, blank.trace, blank.place, view.layer.index, neuron), "neurons-off")
    st.caption(CAPTION)
    meaning(said(blank.trace, blank.place, view.layer.index, neuron))
    choose_neuron(replace(view, neuron=neuron))
    code(ablate_each_neuron)
    return blank.trace


def said(trace: Trace, place: int, layer: int, neuron: int) -> str:
    """Say what one neuron changes at ``place``, and how many neurons of its layer (from 0) turn the best word."""
    found, best = neuron_off(trace, place, layer, neuron), best_word(trace, place)
    every = neurons_off(trace, place, layer)
    told = READING.format(
        neuron=neuron + 1,
        layer=layer + 1,
        word=quoted(word_of(trace.model.tokenizer, best)),
        before=share(found.before),
        after=share(found.after),
        tried=len(every),
        turned=sum(each.then != best for each in every),
    )
    ours = is_story(trace) and layer == STORY_HEAD[0] and trace.labels.count(BLANK) == 1
    ours = ours and trace.labels[place] == BLANK  # and no other word is hidden
    return told + WRITTEN.format(inner=trace.model.config.ffn_width) * ours


def changes(traced: Trace, place: int, layer: int, neuron: int) -> Figure:
    """Draw how the best word’s probability changes without each of the neurons that change it most.

    ``neuron`` keeps its full colour; if it is not among these neurons, it comes last.
    """
    found = list(neurons_off(traced, place, layer)[:_SHOWN])
    if neuron not in [each.neuron for each in found]:
        found.append(neuron_off(traced, place, layer, neuron))
    names, values = [f"neuron {each.neuron + 1:,}" for each in found], [each.change for each in found]
    word = word_of(traced.model.tokenizer, best_word(traced, place))
    scale = Scale("Change of the probability", format="+.3f")
    title = f"The probability of {word} without one neuron of layer {layer + 1}"
    return bars(names, values, scale, title=title, highlight=[each.neuron for each in found].index(neuron))


def _look_tried(trace: Trace, place: int, layer: int) -> tuple[NeuronOff, ...] | None:
    """Return the neurons switched off one by one; None while a long text is read again and the page shows how far."""
    state = trying(trace, place, layer)
    if not state.finished and len(trace) * (trace.model.config.layers - layer) > _QUICK:
        label, work = f"Switch off {len(state.neurons)} neurons one by one", partial(_try_all, trace, place, layer)
        unasked(("neurons off", serial_of(state)), label, work)
        return None
    return neurons_off(trace, place, layer)


def _try_all(trace: Trace, place: int, layer: int, tell: ProgressFunction) -> None:
    state = trying(trace, place, layer)
    while not state.finished:
        state.step(trace, place, layer)
        tell(state.done)
