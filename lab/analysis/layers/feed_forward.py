"""The feed-forward network of one layer, neuron by neuron: its input, its activations, its output.

A neuron is one of the d_ff hidden units: its weights are a column of W_1 and a row of W_2. The row, times the
activation, is added to the token (Geva et al. 2021, "Transformer feed-forward
layers are key-value memories": the column is a key, the row a value).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from lab.models import forward
from lab.models.config import ModelConfig
from lab.models.layer_trace import LayerTrace
from lab.models.memo import once
from lab.models.trace import Trace

if TYPE_CHECKING:
    pass

Array = NDArray[np.float64]

_ACTIVATION_NAMES = {"gelu": "GELU", "relu": "ReLU"}  # the other names all mean GELU's tanh form


@dataclass(frozen=True, eq=False)
class NeuronSteps:
    """One neuron at one token: activation(x · w + b), times the gate if the neuron has one.

    ``vector`` x, ``column`` w (the neuron's column of W_1) and their ``products`` are (d,). ``biased`` is false in a
    model without biases, whose ``bias`` is 0.
    """

    vector: Array
    column: Array
    products: Array
    bias: float
    activation: str
    gate: float | None = None
    biased: bool = True

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
    return NeuronSteps(x, w, x * w, float(layer.weights.b_1[neuron]), config.activation, gate, config.biases)


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
