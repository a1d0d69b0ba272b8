"""Measure a neuron's effect on the predicted word, by a run with the neuron set to 0 at every token.

An activation says that a neuron fires, but not for what purpose. Removing the neuron and comparing predictions is an
intervention (Geva et al. 2021 read the weights instead). Layers, tokens and neurons count from 0.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from lab.analysis.words.predictions import prediction_at
from lab.models import forward
from lab.models.ablation import ablate_each_neuron
from lab.models.cores import alone
from lab.models.memo import once
from lab.models.trace import Trace

Array = NDArray[np.float64]

# The number of neurons of a layer to remove one by one; the neurons that add the longest vectors at the place.
TRIED = 64
# The number of neurons to try between two reports of the progress.
AT_ONCE = 8


@dataclass(frozen=True)
class NeuronOff:
    """A neuron, and the best word's probability with and without it.

    ``then`` is the id of the most probable word without the neuron.
    """

    neuron: int
    before: float
    after: float
    then: int

    @property
    def change(self) -> float:
        return self.after - self.before


@torch.inference_mode()
def _without(trace: Trace, place: int, layer: int, neurons: tuple[int, ...]) -> Iterator[Array]:
    """Yield the probabilities (vocabulary,) at ``place`` without each of ``neurons`` in turn."""
    last = ablate_each_neuron(trace, layer, neurons)[:, place]
    for logits in forward.vocabulary_logits(last, trace.model.vocabulary_head, trace.model.config):
        yield logits.double().softmax(-1).numpy()


def best_word(trace: Trace, place: int) -> int:
    """Return the id of the most probable word at ``place``. Raises ValueError for a model without a vocabulary head."""
    return prediction_at(trace, place, None).best(1)[0]


def adds_most(trace: Trace, place: int, layer: int, k: int = TRIED) -> tuple[int, ...]:
    """The ``k`` neurons that add the longest vectors (activation times row of W_2) at ``place``, longest first."""
    of = trace.layer(layer)
    lengths = of.ffn_activation[place].abs() * of.weights.w_2.norm(dim=1)
    return tuple(torch.argsort(lengths, descending=True, stable=True)[:k].tolist())


class Trying:
    """The neurons of :func:`adds_most` that are tried so far; all visitors of the run share and continue one trying."""

    def __init__(self, neurons: tuple[int, ...]) -> None:
        self.neurons = neurons
        self.found: tuple[NeuronOff, ...] = ()
        self._lock = threading.Lock()

    @property
    def done(self) -> float:
        """The share of neurons tried, 0 to 1."""
        return len(self.found) / len(self.neurons)

    @property
    def finished(self) -> bool:
        return len(self.found) == len(self.neurons)

    @property
    def nbytes(self) -> int:
        """The most bytes that the results take."""
        return 200 * len(self.neurons)

    def step(self, trace: Trace, place: int, layer: int) -> None:
        """Try the next few neurons, if any, at the place and layer for which the trying was made.

        Raises the errors of :func:`neurons_off`.
        """
        with alone(self._lock):
            if not self.finished:
                few = self.neurons[len(self.found) : len(self.found) + AT_ONCE]
                self.found += _each(trace, place, layer, few)


@once
def trying(trace: Trace, place: int, layer: int) -> Trying:
    """Return the neurons tried so far, for any visitor."""
    return Trying(adds_most(trace, place, layer))


@once
def neurons_off(trace: Trace, place: int, layer: int) -> tuple[NeuronOff, ...]:
    """Return the best word's probability without each single neuron of :func:`adds_most`; the largest change first.

    Raises ValueError for a model without a vocabulary head, and for a run that carries interventions.
    """
    state = trying(trace, place, layer)
    while not state.finished:
        state.step(trace, place, layer)
    return tuple(sorted(state.found, key=lambda each: -abs(each.change)))


@once
def neuron_off(trace: Trace, place: int, layer: int, neuron: int) -> NeuronOff:
    """Return the best word's probability at a place with and without one neuron."""
    return _each(trace, place, layer, (neuron,))[0]


def _each(trace: Trace, place: int, layer: int, neurons: tuple[int, ...]) -> tuple[NeuronOff, ...]:
    word, before = best_word(trace, place), prediction_at(trace, place, None).probabilities
    after = _without(trace, place, layer, neurons)
    return tuple(
        NeuronOff(neuron, float(before[word]), float(probabilities[word]), int(probabilities.argmax()))
        for neuron, probabilities in zip(neurons, after, strict=True)
    )
