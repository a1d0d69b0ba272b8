"""Which tokens of many texts excite each neuron most (Geva et al. 2021, §3: the inputs that trigger a key)."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from lab.models import forward
from lab.models.encoding import Encoding, encode
from lab.models.interventions import LayerControls
from lab.models.trace import inputs

if TYPE_CHECKING:
    from lab.models.catalogue import LoadedModel

TOP = 12
_TEXTS_AT_ONCE = 16


@dataclass(frozen=True)
class Excited:
    """A neuron's activation at a token of a text; both count from 0."""

    text: int
    token: int
    value: float


class NeuronSurvey:
    """Reads texts a few at a time and keeps, for every neuron of every layer, the tokens that excite it most.

    ``step(model)`` reads the next texts; a page may draw its progress, or be interrupted, between two of them.
    Whoever calls it next goes on where it stopped, from any thread. Special tokens are left out. A survey
    does not hold its model, so that keeping one does not keep the other.
    """

    def __init__(self, model: LoadedModel, texts: Sequence[str]) -> None:
        config = model.config
        self.encodings = tuple(encode(model.tokenizer, config, text) for text in texts)
        self._batches = list(_equally_long(self.encodings))
        self._places = [(text, token) for text, e in enumerate(self.encodings) for token in range(len(e))]
        self._starts = torch.tensor([0, *(len(e) for e in self.encodings)]).cumsum(0)
        self._values = torch.full((config.layers, TOP, config.ffn_width), -torch.inf)
        self._where = torch.full((config.layers, TOP, config.ffn_width), -1)
        self._positive = torch.zeros(config.layers, config.ffn_width)
        self._lock = threading.Lock()
        self.done = 0
        self.tokens = 0

    @property
    def total(self) -> int:
        """How many steps there are."""
        return len(self._batches)

    @property
    def finished(self) -> bool:
        return self.done >= self.total

    def step(self, model: LoadedModel) -> None:
        """Let ``model``, the one it was made for, read the next few texts; nothing happens when all are read."""
        with self._lock:
            if not self.finished:
                self._read(model, self._batches[self.done])
                self.done += 1

    @torch.inference_mode()
    def _read(self, model: LoadedModel, texts: list[int]) -> None:
        weights, config = model.weights, model.config
        ids, segments, positions = (
            torch.stack(parts) for parts in zip(*(inputs(model, self.encodings[text]) for text in texts), strict=True)
        )
        words = torch.tensor([[not special for special in self.encodings[text].special] for text in texts])
        where = (self._starts[texts][:, None] + torch.arange(ids.shape[1]))[words]
        x = forward.embed(ids, segments, positions, weights.embeddings, config.norm_eps).output
        for index, w in enumerate(weights.layers):
            layer = forward.run_layer(x, w, config, LayerControls())
            self._keep(index, layer.feed_forward.activation[words], where)
            x = layer.output
        self.tokens += len(where)

    def _keep(self, index: int, activation: Tensor, where: Tensor) -> None:
        """Merge the activations (m, d_ff) of tokens ``where`` (m,) into the best so far."""
        values = torch.cat([self._values[index], activation])
        places = torch.cat([self._where[index], where[:, None].expand(activation.shape)])
        best = values.topk(TOP, dim=0)
        self._values[index] = best.values
        self._where[index] = places.gather(0, best.indices)
        self._positive[index] += (activation > 0).sum(0)

    def most_excited(self, layer: int, neuron: int) -> tuple[Excited, ...]:
        """Up to :data:`TOP` tokens read so far, the strongest first. Both count from 0."""
        values, where = self._values[layer, :, neuron].tolist(), self._where[layer, :, neuron].tolist()
        return tuple(
            Excited(self._places[place][0], self._places[place][1], value)
            for value, place in zip(values, where, strict=True)
            if place >= 0
        )

    def share_positive(self, layer: int, neuron: int) -> float:
        """At which share of the tokens read so far the activation is above 0; 0 before any is read."""
        return float(self._positive[layer, neuron]) / max(self.tokens, 1)


def _equally_long(encodings: Sequence[Encoding]) -> Iterator[list[int]]:
    """Texts of one length at a time, few enough for memory: no token is padding."""
    lengths: dict[int, list[int]] = {}
    for text, encoding in enumerate(encodings):
        lengths.setdefault(len(encoding), []).append(text)
    for _, texts in sorted(lengths.items()):
        for start in range(0, len(texts), _TEXTS_AT_ONCE):
            yield texts[start : start + _TEXTS_AT_ONCE]
