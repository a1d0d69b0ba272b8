"""Split a logit into the amounts that each head, each feed-forward network and the embeddings add to the logit
directly.

Two scales depend on the text: the standard deviations that LayerNorm divides by, and the share of its input that a
neuron of BERT's language-modelling head passes on. Both keep their values from the run. Then the path from each part to
the logit is linear, and the contributions add up to the logit (Elhage et al. 2021, "The residual stream"). Effects of a
part through later layers are not included; patching and ablation measure those effects.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor

from lab.analysis.heads.values import Values
from lab.models import forward
from lab.models.trace import Trace
from lab.models.weights import Norm


@dataclass(frozen=True, eq=False)
class Contributions:
    """The amounts that the parts of a model add to one logit at one token.

    Attributes
    ----------
    logit
        The logit, as the model computes it.
    heads
        (layers, heads), the amount that each head adds through its rows of W_O.
    ffn
        (layers,), the amount that each layer's neurons add through W_2.
    token, position, segment
        The amounts from the embeddings of the token at that place; 0 for an embedding that the model lacks.
    biases
        The amount from all biases, which differ between texts only by the scales: b_O, b_2, the β of the LayerNorms,
        and the biases of the language-modelling head.
    """

    logit: float
    heads: Values
    ffn: Values
    token: float
    position: float
    segment: float
    biases: float

    @property
    def total(self) -> float:
        """The sum of all contributions, which equals the logit."""
        embeddings = self.token + self.position + self.segment
        return float(self.heads.sum() + self.ffn.sum()) + embeddings + self.biases


class _Way:
    """The linear path back from a logit: ``direction`` is the logit's gradient at the current vector, in float64."""

    def __init__(self, direction: Tensor, bias: Tensor) -> None:
        self.direction, self.biases = direction.double(), float(bias)

    def dot(self, x: Tensor) -> Tensor:
        """Return the amounts (...) that the vectors x (..., d) add to the logit."""
        return x.double() @ self.direction

    def bias(self, b: Tensor) -> None:
        """Step back over the addition of a bias."""
        self.biases += float(self.dot(b))

    def norm(self, norm: Norm | None, x: Tensor, eps: float) -> None:
        """Step back over a LayerNorm, which divided ``x`` (d,) by its standard deviation.

        ``norm`` is None if there is no LayerNorm.
        """
        if norm is None:
            return
        self.bias(norm.beta)
        scaled = self.direction * norm.gamma.double() / (x.double().var(correction=0) + eps).sqrt()
        self.direction = scaled - scaled.mean()

    def linear(self, w: Tensor, b: Tensor) -> None:
        """Step back over the linear layer x·w + b."""
        self.bias(b)
        self.direction = w.double() @ self.direction


@torch.inference_mode()
def contributions(trace: Trace, place: int, word: int) -> Contributions:
    """Split the logit of ``word`` (a token id) at ``place`` (a token, from 0) into the contributions of a run's parts.

    Raises
    ------
    ValueError
        For a model without a vocabulary head, or for a run with interventions.
    """
    if not trace.interventions.changes_nothing:
        raise ValueError("contributions are those of a plain run; this one carries interventions.")
    model, eps, layers = trace.model, trace.model.config.norm_eps, trace.model.config.layers
    way = _from_logit(trace, place, word)
    way.norm(model.weights.final_norm, trace.hidden_states[-1][place], eps)
    heads, ffn = torch.empty(layers, model.config.heads), torch.empty(layers)
    for number in reversed(range(layers)):
        steps, w = trace.layer(number), model.weights.layers[number]
        if not model.config.pre_norm:
            way.norm(w.norm_2, steps.ffn_residual[place], eps)
        ffn[number] = way.dot(steps.ffn_output[place] - w.b_2)
        way.bias(w.b_2)
        if not model.config.pre_norm:
            way.norm(w.norm_1, steps.attention_residual[place], eps)
        written = w.w_o.unflatten(0, (model.config.heads, -1))  # (H, d_k, d)
        heads[number] = way.dot((steps.context[:, place, None] @ written)[:, 0])
        way.bias(w.b_o)
    found, tables = trace.embeddings, model.weights.embeddings
    if tables.project is not None:
        way.linear(*tables.project)
    way.norm(tables.norm, found.sum[place], eps)
    token, position, segment = (
        0.0 if part is None else float(way.dot(part[place])) for part in (found.token, found.position, found.segment)
    )
    logit = float(trace.logits(place)[0, word])
    return Contributions(logit, heads.double().numpy(), ffn.double().numpy(), token, position, segment, way.biases)


def _from_logit(trace: Trace, place: int, word: int) -> _Way:
    """Follow the path back from a logit to the input of the language-modelling head."""
    head, x = trace.model.vocabulary_head, trace.output[place]
    way = _Way(head.decoder[word], torch.zeros(()) if head.bias is None else head.bias[word])
    if head.norm is None:
        return way
    w, b = cast("tuple[Tensor, Tensor]", (head.w, head.b))  # BERT's head has all three weights or none
    dense = forward.linear(x, w, b)
    active = forward.activate(dense, head.activation)
    way.norm(head.norm, active, trace.model.config.norm_eps)
    way.direction = way.direction * torch.where(dense == 0, 0, active / dense).double()
    way.linear(w, b)
    return way
