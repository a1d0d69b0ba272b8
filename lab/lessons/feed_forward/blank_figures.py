"""The word in the blank with a neuron and without it; places, layers and neurons count from 0."""

from __future__ import annotations

from lab.analysis.layers import neurons_off
from lab.charts.base.axes import Scale
from lab.charts.base.figure import Figure
from lab.charts.marks.bars import bars
from lab.models.encoding import word_of
from lab.models.trace import Trace

_NEURONS, WORDS = 10, 5


def changes(traced: Trace, place: int, layer: int, neuron: int) -> Figure:
    """Draw how the best word’s probability changes without each of the neurons that change it most.

    ``neuron`` keeps its full colour; if it is not among these neurons, it comes last.
    """
    found = list(neurons_off.neurons_off(traced, place, layer)[:_NEURONS])
    if neuron not in [each.neuron for each in found]:
        found.append(neurons_off.neuron_off(traced, place, layer, neuron))
    names, values = [f"neuron {each.neuron + 1:,}" for each in found], [each.change for each in found]
    word = word_of(traced.model.tokenizer, neurons_off.best_word(traced, place))
    scale = Scale("Change of the probability", format="+.3f")
    title = f"The probability of {word} without one neuron of layer {layer + 1}"
    return bars(names, values, scale, title=title, highlight=[each.neuron for each in found].index(neuron))


def words(traced: Trace, place: int, layer: int, neuron: int) -> Figure:
    """Draw the most probable words, each with the neuron (in full colour) and without it."""
    found = neurons_off.words_without(traced, place, layer, neuron, WORDS)
    names = [name for each in found for name in (each.word, f"{each.word}, off")]
    values = [value for each in found for value in (each.before, each.after)]
    title = f"The word in the blank, with neuron {neuron + 1:,} of layer {layer + 1} and without it"
    return bars(names, values, Scale("Probability"), title=title, highlight=range(0, len(names), 2))
