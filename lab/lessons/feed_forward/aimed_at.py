"""Whether the direction of a neuron's vector tells which words the neuron helps; places count from 0."""

from __future__ import annotations

from itertools import permutations

import numpy as np

from lab.analysis.layers import neurons_off
from lab.analysis.layers.neurons_off import aimed_at, words_without
from lab.charts.base.axes import Scale
from lab.charts.base.figure import Figure
from lab.charts.marks.bars import bars
from lab.course.words import VISIBLE, quoted, share, signed
from lab.models.trace import Trace

WORDS = 5
# A smaller change of a probability is told with more than two decimals.
MATTERS = 0.01
# Share of word pairs that must move the way the vector points before we say that it explains them.
_MOST = 0.8
# The number used for a probability of 0 in a ratio.
_LEAST = 1e-30


def words_aimed_at(trace: Trace, place: int, layer: int, neuron: int, k: int) -> tuple[str, str]:
    """Say whether the direction of a neuron's vector explains which of the ``k`` likeliest words it helps.

    Returns the story, and the numbers behind it. Every pair of words counts, so that no pair is picked only because it
    fits.
    """
    words, aims = words_without(trace, place, layer, neuron, k), aimed_at(trace, place, layer, neuron, k)
    names = [quoted(each.word) for each in words]
    products = [f"{name} {signed(aim)}" for name, aim in zip(names, aims.tolist(), strict=True)]
    most, least = int(aims.argmax()), int(aims.argmin())
    moved = max(words, key=lambda each: abs(each.after - each.before))
    told = (
        f"Of these {len(words)} words, {quoted(moved.word)} changes most: its probability is "
        f"{probability(moved.before)} with the neuron and {probability(moved.after)} without it. The neuron adds one "
        "vector at this place. Does the direction of this vector tell you which words the neuron helps?"
    )
    how = (
        "The vector is the neuron’s row of W₂ times its activation. A dot product compares its direction with each "
        f"word (lesson 9). {', '.join(products)}."
    )
    if aims[most] - aims[least] < VISIBLE:
        return f"{told} The vector points at none of these words more than at the others.", how
    # The gain of each word from the neuron, up to a constant that all words share.
    gains = np.log([max(each.before, _LEAST) / max(each.after, _LEAST) for each in words])
    pairs = [(i, j) for i, j in permutations(range(len(words)), 2) if aims[i] - aims[j] >= VISIBLE]
    fit = sum(bool(gains[i] > gains[j]) for i, j in pairs)
    verdict = (
        "Mostly, yes"
        if fit >= _MOST * len(pairs)
        else "Surprisingly, no"
        if fit <= len(pairs) / 2
        else "Only for a part of them"
    )
    return (
        f"{told} {verdict}: the vector points most at {names[most]} and least at {names[least]}. In {fit} of "
        f"{len(pairs)} pairs of words, the neuron helps the word at which the vector points more. The neuron is off "
        "at every token, and the layers above change what it adds."
    ), how


def probability(value: float) -> str:
    """Write a probability with two decimals, or with more if it is small."""
    return f"{value:.2f}" if value >= MATTERS else share(value)


def words(traced: Trace, place: int, layer: int, neuron: int) -> Figure:
    """Draw the most probable words, each with the neuron (in full colour) and without it."""
    found = neurons_off.words_without(traced, place, layer, neuron, WORDS)
    names = [name for each in found for name in (each.word, f"{each.word}, off")]
    values = [value for each in found for value in (each.before, each.after)]
    title = f"The word in the blank, with neuron {neuron + 1:,} of layer {layer + 1} and without it"
    return bars(names, values, Scale("Probability"), title=title, highlight=range(0, len(names), 2))
