"""Train a model's last layer for a task: the classifier on top, and the layer below it, step after step.

All other weights stay, so every sentence is read up to the last layer only once. The gradients run through the same
forward pass as in the lessons (:mod:`lab.models.forward`). As in fine-tuning (Devlin et al. 2019, §4.1), the classifier
reads the vector of [CLS]; in a causal model that of the last token (Radford et al. 2018, §3.2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from lab.analysis.tasks.sentence_vectors import encoded, mark_of
from lab.models import forward
from lab.models.batches import ProgressFunction, by_length, run_batch, unwatched
from lab.models.encoding import Encoding
from lab.models.trace import outputs
from lab.models.weights import LayerWeights, Norm

if TYPE_CHECKING:
    from lab.models.loading import LoadedModel

STEPS, BATCH = 40, 16
_RATE, _DECAY = 5e-4, 0.01
_SEED = 0
_TOKENS_AT_ONCE = 512


@dataclass(frozen=True, eq=False)
class Head:
    """A classifier with two labels: the score w·x + b of a vector x (d,) is above 0 for the first label."""

    w: Tensor  # (d,)
    b: Tensor  # ()

    def score(self, x: Tensor) -> Tensor:
        """Return the scores of vectors (..., d), (...)."""
        return x @ self.w + self.b


@dataclass(frozen=True, eq=False)
class Tuned:
    """The model with its trained last layer, the classifier, and the loss of every step's batch before the step."""

    model: LoadedModel
    head: Head
    losses: tuple[float, ...]

    @property
    def nbytes(self) -> int:
        """The bytes of what is new; everything else is shared with the model."""
        layer = self.model.weights.layers[-1]
        return sum(each.nbytes for each in (*_tensors(layer), self.head.w))


@torch.inference_mode()
def scores(model: LoadedModel, head: Head, texts: Sequence[str]) -> NDArray[np.float64]:
    """Return the classifier's scores of texts, (N,), from the model's last vectors."""
    encodings = [encoded(model, text) for text in texts]
    found = np.empty(len(texts))
    for places in by_length(encodings, lambda n: max(1, _TOKENS_AT_ONCE // n)):
        some = [encodings[place] for place in places]
        last = run_batch(model, some)[-1][:, mark_of(some[0], model.config.causal)]
        found[places] = head.score(outputs(model, last)).numpy()
    return found


@dataclass(frozen=True, eq=False)
class _Read:
    """Sentences of equal length, read up to the last layer: its input (b, n, d), and the labels 0 or 1, (b,)."""

    x: Tensor
    wanted: Tensor
    mark: int


def tune(
    model: LoadedModel,
    texts: Sequence[str],
    marks: Sequence[bool],
    tell: ProgressFunction = unwatched,
    steps: int = STEPS,
) -> Tuned:
    """Train the last layer and a classifier on ``texts``.

    Each step takes :data:`BATCH` sentences, in an order of chance, and makes their mean cross-entropy smaller (AdamW,
    Loshchilov & Hutter 2019). There is no dropout, so the same sentences always give the same model.

    Raises
    ------
    ValueError
        If the model has no layer, or if not both labels are there.
    """
    if not model.weights.layers or len(set(marks)) < 2:
        raise ValueError("tuning needs a model with a layer, and sentences of both labels.")
    encodings = [encoded(model, text) for text in texts]
    read = _inputs(model, encodings)
    with torch.inference_mode(False):
        layer = _copied(model.weights.layers[-1], lambda each: each.clone().requires_grad_())
        width, kind = model.config.width, layer.w_q.dtype
        head = Head(torch.zeros(width, dtype=kind, requires_grad=True), torch.zeros((), dtype=kind, requires_grad=True))
        optimizer = torch.optim.AdamW([*_tensors(layer), head.w, head.b], lr=_RATE, weight_decay=_DECAY)
    losses: list[float] = []
    for batch in _batches(len(texts), steps):
        losses.append(_step(model, layer, head, optimizer, _grouped(model, encodings, read, marks, batch)))
        tell(len(losses) / steps)
    kept = _copied(layer, Tensor.detach)
    return Tuned(_with(model, kept), Head(head.w.detach(), head.b.detach()), tuple(losses))


def _step(
    model: LoadedModel, layer: LayerWeights, head: Head, optimizer: torch.optim.Optimizer, batch: Sequence[_Read]
) -> float:
    """Make one step of training; return the loss of its batch before the step, in nats."""
    with torch.inference_mode(False), torch.enable_grad():
        given, wanted = [], []
        for some in batch:
            out = forward.run_layer(some.x, layer, model.config).output[:, some.mark]
            given.append(head.score(outputs(model, out)))
            wanted.append(some.wanted)
        loss = functional.binary_cross_entropy_with_logits(torch.cat(given), torch.cat(wanted))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
    return loss.item()


@torch.inference_mode()
def _inputs(model: LoadedModel, encodings: Sequence[Encoding]) -> dict[int, Tensor]:
    """Return the input of the last layer for each text, (n, d), by the text's number."""
    found: dict[int, Tensor] = {}
    for places in by_length(encodings, lambda n: max(1, _TOKENS_AT_ONCE // n)):
        before = run_batch(model, [encodings[place] for place in places])[-2]
        found |= dict(zip(places, before.unbind(0), strict=True))
    return found


def _grouped(
    model: LoadedModel,
    encodings: Sequence[Encoding],
    read: dict[int, Tensor],
    marks: Sequence[bool],
    batch: Sequence[int],
) -> list[_Read]:
    """Gather the sentences of a batch by their length."""
    groups: dict[int, list[int]] = {}
    for place in batch:
        groups.setdefault(len(encodings[place]), []).append(place)
    with torch.inference_mode(False):
        return [
            _Read(
                torch.stack([read[place].clone() for place in places]),
                torch.tensor([float(marks[place]) for place in places], dtype=read[places[0]].dtype),
                mark_of(encodings[places[0]], model.config.causal),
            )
            for places in groups.values()
        ]


def _batches(count: int, steps: int) -> Iterator[list[int]]:
    """Yield the sentences of each step: all in an order of chance, then again in another order."""
    generator, left = np.random.Generator(np.random.PCG64(_SEED)), list[int]()
    for _ in range(steps):
        if len(left) < min(BATCH, count):
            left += generator.permutation(count).tolist()
        yield left[:BATCH]
        left = left[BATCH:]


def _tensors(layer: LayerWeights) -> list[Tensor]:
    """All weights of a layer, also those of its LayerNorms."""
    found: list[Tensor] = []
    for each in fields(layer):
        value = getattr(layer, each.name)
        found += [value.gamma, value.beta] if isinstance(value, Norm) else [value] if torch.is_tensor(value) else []
    return found


def _copied(layer: LayerWeights, copy: Callable[[Tensor], Tensor]) -> LayerWeights:
    """A layer with a copy of each of its weights."""

    def of(value: object) -> object:
        if isinstance(value, Norm):
            return Norm(copy(value.gamma), copy(value.beta))
        return copy(value) if isinstance(value, Tensor) else value

    copies: dict[str, Any] = {each.name: of(getattr(layer, each.name)) for each in fields(layer)}
    return replace(layer, **copies)


def _with(model: LoadedModel, layer: LayerWeights) -> LoadedModel:
    """The model with this last layer, which no longer is the one of its checkpoint."""
    weights = replace(model.weights, layers=(*model.weights.layers[:-1], layer))
    return replace(model, id=f"{model.id}, last layer trained", weights=weights, made=None)
