"""The residual stream: the vectors that sublayers add, LayerNorm step by step, and the distance of two runs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from lab.analysis.heads.values import Mask, Values
from lab.models.layer_trace import LayerTrace
from lab.models.memo import once
from lab.models.trace import Trace
from lab.models.weights import Norm

Array = NDArray[np.float64]

SUBLAYERS = ("attention", "feed-forward")
_SMALLEST = 1e-12


@dataclass(frozen=True, eq=False)
class SublayerChanges:
    """The changes of each token by attention and by the feed-forward network, layer by layer.

    ``relative`` is (L, 2, n), with the sublayers in the order of :data:`SUBLAYERS`: ‖Δ‖ / ‖x‖, if x is the token's
    vector in the stream and Δ the vector that the sublayer adds. LayerNorm's own changes are not included.
    """

    relative: Array


@once
def sublayer_changes(trace: Trace) -> SublayerChanges:
    """Measure both sublayers of every layer (the residual connections of He et al. 2016)."""
    relative = []
    for index in range(trace.model.config.layers):
        for stream, added in sublayers(trace.layer(index)):
            x, delta = (t.numpy().astype(np.float64) for t in (stream, added))
            relative.append(np.linalg.norm(delta, axis=-1) / np.linalg.norm(x, axis=-1).clip(_SMALLEST))
    shape = (trace.model.config.layers, len(SUBLAYERS), len(trace))
    return SublayerChanges(np.stack(relative).reshape(shape))


def sublayers(layer: LayerTrace) -> tuple[tuple[torch.Tensor, torch.Tensor], ...]:
    """(stream, added vectors) for attention and for the feed-forward network, each (n, d).

    BERT adds the feed-forward network's output to the first LayerNorm's output, GPT-2 to the stream itself.
    """
    middle = layer.attention_residual if layer.attention_norm is None else layer.attention_norm
    return (layer.input, layer.attention_output), (middle, layer.ffn_output)


@dataclass(frozen=True, eq=False)
class Stage:
    """One step of a layer and its output, (n, d).

    ``residual`` is the index of the earlier stage whose output is added in this step.
    """

    name: str
    vectors: torch.Tensor
    residual: int | None = None


def stages(layer: LayerTrace) -> tuple[Stage, ...]:
    """Return the steps of one layer in the order in which they happen, from its input to its output.

    Post-norm (Vaswani et al. 2017, §3.1): LayerNorm follows each sum. Pre-norm (Radford et al. 2019, §2.3; Xiong
    et al. 2020): LayerNorm precedes each sublayer, and the sums are not normalised.
    """
    if layer.attention_norm is not None:
        return (
            Stage("Input", layer.input),
            Stage("Self-attention", layer.attention_output),
            Stage("Add 1", layer.attention_residual, residual=0),
            Stage("LayerNorm 1", layer.attention_norm),
            Stage("Feed-forward", layer.ffn_output),
            Stage("Add 2", layer.ffn_residual, residual=3),
            Stage("LayerNorm 2", layer.output),
        )
    assert layer.ffn_input_norm is not None  # pre-norm layers have it
    before = () if layer.input_norm is None else (Stage("LayerNorm 1", layer.input_norm),)
    return (
        Stage("Input", layer.input),
        *before,
        Stage("Self-attention", layer.attention_output),
        Stage("Add 1", layer.attention_residual, residual=0),
        Stage("LayerNorm 2", layer.ffn_input_norm),
        Stage("Feed-forward", layer.ffn_output),
        Stage("Add 2", layer.output, residual=len(before) + 2),
    )


@dataclass(frozen=True, eq=False)
class NormSteps:
    """LayerNorm of one vector (Ba et al. 2016, equation 4), step by step; arrays are (d,), float64.

    ``x`` is the input, ``centred`` is x − mean, ``standard`` is ``centred`` / √(variance + ε), ``scaled`` is
    γ · ``standard``, and ``output`` is ``scaled`` + β. The variance is divided by d, not by d − 1.
    """

    x: Array
    gamma: Array
    beta: Array
    eps: float

    @property
    def mean(self) -> float:
        return float(self.x.mean())

    @property
    def variance(self) -> float:
        return float(self.x.var())

    @property
    def deviation(self) -> float:
        """The divisor √(variance + ε)."""
        return float(np.sqrt(self.variance + self.eps))

    @property
    def centred(self) -> Array:
        return self.x - self.mean

    @property
    def standard(self) -> Array:
        return self.centred / self.deviation

    @property
    def scaled(self) -> Array:
        return self.gamma * self.standard

    @property
    def output(self) -> Array:
        return self.scaled + self.beta

    @property
    def stages(self) -> Mapping[str, Array]:
        """The vectors by name, in order."""
        return {
            "input": self.x,
            "input − mean": self.centred,
            "÷ deviation": self.standard,
            "× γ": self.scaled,
            "+ β": self.output,
        }


def norm_steps(x: torch.Tensor, norm: Norm, eps: float) -> NormSteps:
    """Return the steps of LayerNorm for one vector (d,)."""
    vector, gamma, beta = (t.numpy().astype(np.float64) for t in (x, norm.gamma, norm.beta))
    return NormSteps(vector, gamma, beta, eps)


def layer_norms(layer: LayerTrace) -> dict[str, tuple[torch.Tensor, Norm]]:
    """Return the LayerNorms of a layer, by their place in the layer: the input, (n, d), and γ and β.

    Each layer has two, except ModernBERT's first layer, which has no LayerNorm before attention.
    """
    first, second = layer.weights.norm_1, layer.weights.norm_2
    if layer.attention_norm is not None:
        side, read = "after", (layer.attention_residual, layer.ffn_residual)
    else:
        side, read = "before", (layer.input, layer.attention_residual)
    found = {} if first is None else {f"{side} attention": (read[0], first)}
    return {**found, f"{side} the feed-forward network": (read[1], second)}


_END = re.compile(r"[.!?…。؟]*\s*\Z")


@dataclass(frozen=True, eq=False)
class Apart:
    """The distance between the vectors of A and B at the same places, (L+1, n); state 0 is the embeddings' output.

    ``distance`` is ‖B − A‖ / ‖A‖, ``cosine`` is the cosine of the angle between A's and B's vectors.
    """

    distance: Values
    cosine: Values


def same_tokens(a: Trace, b: Trace) -> Mask:
    """A mask of the places at which two runs read the same token, (n,). Raises ValueError for different lengths."""
    if len(a) != len(b):
        raise ValueError(f"A has {len(a)} tokens, B has {len(b)}.")
    return np.array([one == other for one, other in zip(a.tokens, b.tokens, strict=True)])


def apart(a: Trace, b: Trace) -> Apart:
    """Compare every vector of A's residual stream with B's vector at the same place.

    Raises ValueError if the streams have different shapes: other numbers of layers, tokens or dimensions.
    """
    first, second = (_stream(each) for each in (a, b))
    if first.shape != second.shape:
        raise ValueError(f"A's residual stream is {first.shape}, B's is {second.shape}.")
    lengths = [np.linalg.norm(each, axis=-1).clip(_SMALLEST) for each in (first, second)]
    distance = np.linalg.norm(second - first, axis=-1) / lengths[0]
    return Apart(distance, (first * second).sum(axis=-1) / (lengths[0] * lengths[1]))


def turned_round(text: str, pair: str = "") -> tuple[str, str]:
    """Reorder a text for comparison: swap the texts of a pair, or reverse the words of a single text.

    Words are separated by white space; a punctuation mark at the end of the text stays at the end.
    """
    if pair.strip():
        return pair, text
    bare = _END.sub("", text)
    return " ".join(reversed(bare.split())) + text[len(bare) :].strip(), ""


def _stream(traced: Trace) -> NDArray[np.float64]:
    return traced.hidden_states.numpy().astype(np.float64)
