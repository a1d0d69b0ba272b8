"""The feed-forward network of one layer, neuron by neuron: input, activations, output, and the word without a neuron.

A neuron is one of the d_ff hidden units: its weights are a column of W_1 and a row of W_2. The row, times the
activation, is added to the token (Geva et al. 2021, "Transformer feed-forward
layers are key-value memories": the column is a key, the row a value).

An activation says that a neuron fires, but not for what purpose. Removing the neuron and comparing predictions is an
intervention (Geva et al. 2021 read the weights instead). Layers, tokens and neurons count from 0.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from lab.analysis.words.predictions import prediction_at
from lab.models import forward
from lab.models.ablation import ablate_each_neuron
from lab.models.config import ModelConfig
from lab.models.cores import alone
from lab.models.layer_trace import LayerTrace
from lab.models.memo import once
from lab.models.trace import Trace

Array = NDArray[np.float64]

_ACTIVATION_NAMES = {"gelu": "GELU", "relu": "ReLU"}  # the other names all mean GELU's tanh form


@dataclass(frozen=True, eq=False)
class NeuronSteps:
    """One neuron at one token: activation(x · w + b), times the gate if the neuron has one.

    ``vector`` x, ``column`` w (the neuron's column of W_1) and their ``products`` are (d,). In a model without
    biases, ``bias`` is 0.
    """

    vector: Array
    column: Array
    products: Array
    bias: float
    activation: str
    gate: float | None = None

    @property
    def product(self) -> float:
        """The dot product x · w."""
        return float(self.products.sum())

    @property
    def hidden(self) -> float:
        """The hidden value x · w + b, before the activation."""
        return self.product + self.bias

    @property
    def share(self) -> float:
        """The factor by which the activation multiplies the hidden value: between 0 and 1 for GELU, 0 or 1 for ReLU."""
        z = self.hidden
        if self.activation == "relu":
            return float(z > 0)
        if self.activation == "gelu":
            return 0.5 * (1 + math.erf(z / math.sqrt(2)))
        return 0.5 * (1 + math.tanh(math.sqrt(2 / math.pi) * (z + 0.044715 * z**3)))

    @property
    def output(self) -> float:
        """The activation: the hidden value times its share and, if there is one, its gate."""
        return self.hidden * self.share * (1.0 if self.gate is None else self.gate)


def activation_name(name: str) -> str:
    """Return the usual name of the non-linearity that a checkpoint calls ``name``."""
    return _ACTIVATION_NAMES.get(name, "GELU (tanh form)")


def curve(name: str, low: float, high: float, points: int = 121) -> tuple[Array, Array]:
    """Compute the activation with this name in a checkpoint, from ``low`` to ``high``: x and y, each (points,)."""
    x = torch.linspace(low, high, points, dtype=torch.float64)
    return x.numpy(), forward.activate(x, name).numpy()


def ffn_input(layer: LayerTrace) -> torch.Tensor:
    """Return the input of the feed-forward network, (n, d): in both kinds of layer, the output of a LayerNorm."""
    norm = layer.ffn_input_norm if layer.attention_norm is None else layer.attention_norm
    assert norm is not None  # every feed-forward network has one of these two LayerNorms before it
    return norm


def bent(layer: LayerTrace, activation: str, token: int) -> Array:
    """Return a token's hidden values after the non-linearity and before any gate, (d_ff,)."""
    if layer.ffn_gate is None:
        return layer.ffn_activation[token].numpy().astype(np.float64)
    return forward.activate(layer.ffn_hidden[token], activation).numpy().astype(np.float64)


def neuron_steps(layer: LayerTrace, config: ModelConfig, token: int, neuron: int) -> NeuronSteps:
    """Write out one neuron at one token (Vaswani et al. 2017, equation 2; Shazeer 2020, §2); both count from 0."""
    x = ffn_input(layer)[token].numpy().astype(np.float64)
    w = layer.weights.w_1[:, neuron].numpy().astype(np.float64)
    gate = None if layer.ffn_gate is None else float(layer.ffn_gate[token, neuron])
    return NeuronSteps(x, w, x * w, float(layer.weights.b_1[neuron]), config.activation, gate)


def most_active(layer: LayerTrace, token: int, k: int) -> list[int]:
    """Return the ``k`` neurons with the largest activation at a token, the largest first."""
    active = layer.ffn_activation[token].numpy()
    return [int(i) for i in np.argsort(-active, kind="stable")[:k]]


@once
def active_on_words(trace: Trace) -> Array:
    """Return the share of each layer's activations above 0, (layers,), over all tokens that are not special.

    If all tokens are special, the share is over all tokens.
    """
    words = [i for i, special in enumerate(trace.encoding.special) if not special] or list(range(len(trace)))
    layers = range(trace.model.config.layers)
    return np.array([float((trace.layer(i).ffn_activation[words] > 0).float().mean()) for i in layers])


def nearly_silent(shares: Array) -> list[int]:
    """Return the layers, from 0, with less than a tenth of the median share of :func:`active_on_words`.

    The threshold of a tenth is the lab's own: no paper states when a layer is silent.
    """
    return [int(i) for i in np.flatnonzero(shares < np.median(shares) / 10)]


def silent(layer: LayerTrace) -> bool:
    """True if all activations are 0, so that the network adds the same vector to every token."""
    return not bool(layer.ffn_activation.any())


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
