"""One step of training, taken apart: the loss over one weight, its slope, and a step of all weights together.

The toy is the one that learns to fill a blank (:mod:`lab.toy.training`), before its first step. The step is plain
gradient descent, θ − η·∇L; a whole training uses AdamW, which chooses the length of each weight's move by itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from lab.models.loading import Checkpoint
from lab.toy.tasks import IGNORED
from lab.toy.training import Plan, logits, untrained

# The table whose steepest number is the weight under the slider: its loss has a valley that one can see.
_TABLE = "bert.embeddings.word_embeddings.weight"
_EACH = 16  # sentences of each length in the batch
_BATCH_SEED = 3_000_000  # added to the plan's seed: sentences that no training and no test has
# The range of the slider on either side of the weight as it is, the points of the curve, and the distance between the
# two losses whose difference is compared with the gradient.
REACH, _POINTS, _NEAR = 3.0, 41, 0.01
RATES = tuple(round(10.0**power, 4) for power in np.arange(-3.0, 0.51, 0.25))

Batches = tuple[tuple[Tensor, Tensor], ...]


@dataclass(frozen=True, eq=False)
class Weight:
    """One weight of the toy, and the loss of the batch for other values of it; all other weights stay.

    Attributes
    ----------
    row, column
        Its place in the table of the letters' vectors, from 0; ``row`` is the letter's id.
    value
        The weight as it is.
    at, losses
        (points,), values of the weight, and the loss at each, in nats.
    """

    row: int
    column: int
    value: float
    at: NDArray[np.float64]
    losses: NDArray[np.float64]


@dataclass(frozen=True)
class Slope:
    """The loss at one value of the weight, and its slope there, found in two ways.

    ``gradient`` comes from the derivative of every operation (Rumelhart et al. 1986), ``difference`` from two losses a
    little to the left and to the right.
    """

    at: float
    loss: float
    gradient: float
    difference: float


@dataclass(frozen=True, eq=False)
class Descent:
    """A step of all weights at once, for each learning rate.

    Attributes
    ----------
    loss
        Before the step, in nats.
    length
        ‖∇L‖, the length of the gradient of all weights; ``size`` is the length ‖θ‖ of the weights themselves.
    losses
        (rates,), the loss of the same batch after the step with each of :data:`RATES`.
    """

    weights: int
    loss: float
    length: float
    size: float
    losses: NDArray[np.float64]

    def moved(self, rate: float) -> float:
        """How far the weights move together, as a share of their length."""
        return rate * self.length / self.size


def _batches(plan: Plan) -> Batches:
    generator = torch.Generator().manual_seed(_BATCH_SEED + plan.seed)
    return tuple(
        plan.what.draw(plan.vocabulary, length, _EACH, generator) for length in plan.what.lengths_to(plan.max_length)
    )


def sentences(plan: Plan) -> int:
    """The number of sentences in the batch."""
    return _EACH * len(plan.what.lengths_to(plan.max_length))


def _loss(tensors: Mapping[str, Tensor], checkpoint: Checkpoint, batches: Batches) -> Tensor:
    """The mean cross-entropy of the hidden letters, in nats."""
    given = torch.cat([logits(words, checkpoint.config, tensors)[asked != IGNORED] for words, asked in batches])
    return functional.cross_entropy(given, torch.cat([asked[asked != IGNORED] for _, asked in batches]))


@dataclass(frozen=True, eq=False)
class _Start:
    """The untrained toy, the batch, and the gradient of the batch's loss with respect to every weight."""

    checkpoint: Checkpoint
    batches: Batches
    tensors: Mapping[str, Tensor]
    loss: float
    gradient: Mapping[str, Tensor]


@lru_cache(maxsize=8)
@torch.inference_mode(False)
def _start(plan: Plan) -> _Start:
    checkpoint, batches = untrained(plan).source, _batches(plan)
    assert isinstance(checkpoint, Checkpoint)
    tensors = {name: tensor.double().requires_grad_() for name, tensor in checkpoint.tensors.items()}
    with torch.enable_grad():
        loss = _loss(tensors, checkpoint, batches)
        found = torch.autograd.grad(loss, list(tensors.values()))
    plain = {name: tensor.detach() for name, tensor in tensors.items()}
    return _Start(checkpoint, batches, plain, loss.item(), dict(zip(tensors, found, strict=True)))


def _place(start: _Start) -> tuple[int, int]:
    """The steepest number of the vectors of letters and of the blank; row 0, for unknown letters, never occurs."""
    steepest = start.gradient[_TABLE].abs()
    steepest[0] = 0.0
    return divmod(int(steepest.argmax()), steepest.shape[1])


def _with(start: _Start, value: float | Tensor) -> Mapping[str, Tensor]:
    """The toy's tensors with another value of the weight."""
    table = start.tensors[_TABLE].clone()
    table[_place(start)] = value
    return {**start.tensors, _TABLE: table}


@lru_cache(maxsize=8)
def weight(plan: Plan) -> Weight:
    """Find the loss of the batch for each value of the toy's steepest weight."""
    start = _start(plan)
    row, column = _place(start)
    value = float(start.tensors[_TABLE][row, column])
    at = value + np.linspace(-REACH, REACH, _POINTS)
    with torch.inference_mode():
        losses = [_loss(_with(start, float(each)), start.checkpoint, start.batches).item() for each in at]
    return Weight(row, column, value, at, np.array(losses))


@lru_cache(maxsize=256)
@torch.inference_mode(False)
def slope(plan: Plan, value: float) -> Slope:
    """Find the slope of the loss where the weight has this ``value``, by its gradient and by a finite difference."""
    start = _start(plan)
    here = torch.tensor(value, dtype=torch.float64, requires_grad=True)
    with torch.enable_grad():
        loss = _loss(_with(start, here), start.checkpoint, start.batches)
        (gradient,) = torch.autograd.grad(loss, [here])
    with torch.no_grad():
        left, right = (
            _loss(_with(start, value + side), start.checkpoint, start.batches).item() for side in (-_NEAR, _NEAR)
        )
    return Slope(value, loss.item(), gradient.item(), (right - left) / (2 * _NEAR))


@lru_cache(maxsize=8)
def descent(plan: Plan) -> Descent:
    """Move all weights at once against the gradient, once with each learning rate, from the same start."""
    start = _start(plan)
    with torch.no_grad():
        losses = [
            _loss(
                {name: tensor - rate * start.gradient[name] for name, tensor in start.tensors.items()},
                start.checkpoint,
                start.batches,
            ).item()
            for rate in RATES
        ]
    return Descent(
        sum(tensor.numel() for tensor in start.tensors.values()),
        start.loss,
        _length(start.gradient),
        _length(start.tensors),
        np.array(losses),
    )


def _length(tensors: Mapping[str, Tensor]) -> float:
    return math.sqrt(sum(float((tensor**2).sum()) for tensor in tensors.values()))
