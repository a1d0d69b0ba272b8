"""Find the tokens of many texts that excite each neuron most (Geva et al. 2021, §3: the inputs that trigger a key)."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lab.models import forward
from lab.models.cores import alone
from lab.models.encoding import Encoding, encode
from lab.models.memo import once
from lab.models.trace import inputs

if TYPE_CHECKING:
    from lab.models.loading import LoadedModel

TOP = 12
# A neuron is called selective if it is above 0 at no more than this share of the tokens, and at least half of its
# strongest tokens are the same token. Both thresholds are the lab's own.
SELDOM = 0.2
_MOST = TOP // 2
_TEXTS_AT_ONCE = 16


@dataclass(frozen=True)
class Excited:
    """A neuron's activation at a token of a text; both count from 0."""

    text: int
    token: int
    value: float


@dataclass(frozen=True)
class Commonest:
    """The commonest of a neuron's strongest tokens: ``repeats`` of the ``strongest`` tokens are this token.

    Among all tokens read, the neuron is above 0 at ``excited``. In all texts, the commonest token occurs ``occurs``
    times; at ``hits`` of these occurrences the neuron is above 0.
    """

    token_id: int
    repeats: int
    strongest: int
    excited: int
    occurs: int
    hits: int


class NeuronSurvey:
    """Reads texts a few at a time and keeps, for every neuron of every layer, the tokens that excite it most.

    ``step(model)`` reads the next texts; between two steps, a page may draw the progress or be interrupted.
    The next call of ``step``, from any thread, continues with the next texts. Special tokens are left out. A survey
    does not hold its model, so a kept survey does not keep the model in memory.
    """

    def __init__(self, model: LoadedModel, texts: Sequence[str]) -> None:
        config = model.config
        self.encodings = tuple(encode(model.tokenizer, config, text) for text in texts)
        self._batches = list(equally_long(self.encodings))
        self._places = [(text, token) for text, e in enumerate(self.encodings) for token in range(len(e))]
        self._ids = torch.tensor([token_id for e in self.encodings for token_id in e.token_ids])
        self._spelt = torch.tensor([_spelt(e, token) for e in self.encodings for token in range(len(e))])
        self._starts = torch.tensor([0, *(len(e) for e in self.encodings)]).cumsum(0)
        self._values = torch.full((config.layers, TOP, config.ffn_width), -torch.inf)
        self._where = torch.full((config.layers, TOP, config.ffn_width), -1)
        # One bit for every token and neuron, because one byte for each would be 90 MB for BERT base.
        self._positive = np.zeros((config.layers, len(self._places), -(-config.ffn_width // 8)), np.uint8)
        self._lock = threading.Lock()
        self.done = 0
        self.tokens = 0

    @property
    def total(self) -> int:
        """The number of steps."""
        return len(self._batches)

    @property
    def finished(self) -> bool:
        return self.done >= self.total

    @property
    def nbytes(self) -> int:
        """The bytes kept for the neurons, plus about 200 bytes for each token."""
        return self._values.nbytes + self._where.nbytes + self._positive.nbytes + 200 * len(self._places)

    def step(self, model: LoadedModel) -> None:
        """Let ``model``, for which the survey was made, read the next few texts.

        Do nothing if all texts have been read.
        """
        with alone(self._lock):
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
            layer = forward.run_layer(x, w, config)
            self._keep(index, layer.feed_forward.activation[words], where)
            x = layer.output
        self.tokens += len(where)

    def _keep(self, index: int, activation: Tensor, where: Tensor) -> None:
        """Merge the activations (m, d_ff) of the tokens ``where`` (m,) into the strongest so far."""
        values = torch.cat([self._values[index], activation])
        places = torch.cat([self._where[index], where[:, None].expand(activation.shape)])
        best = values.topk(TOP, dim=0)
        self._values[index] = best.values
        self._where[index] = places.gather(0, best.indices)
        self._positive[index, where.numpy()] = np.packbits((activation > 0).numpy(), axis=1)

    def most_excited(self, layer: int, neuron: int) -> tuple[Excited, ...]:
        """Return the strongest tokens read so far, at most :data:`TOP`. ``layer`` and ``neuron`` count from 0."""
        values, where = self._values[layer, :, neuron].tolist(), self._where[layer, :, neuron].tolist()
        return tuple(
            Excited(self._places[place][0], self._places[place][1], value)
            for value, place in zip(values, where, strict=True)
            if place >= 0
        )

    def commonest(self, layer: int, neuron: int) -> Commonest | None:
        """Return the commonest of a neuron's strongest tokens in a finished survey; in a tie, the token that excites
        most.

        None if no token was read.
        """
        where = self._where[layer, :, neuron]
        ids = self._ids[where[where >= 0]]
        if not len(ids):
            return None
        repeats = (ids[:, None] == ids).sum(0)
        best = int(repeats.argmax())
        positive, same = self._excited(layer, neuron), (self._ids == ids[best]).numpy()
        counts = (int(each.sum()) for each in (positive, same, positive & same))
        return Commonest(int(ids[best]), int(repeats[best]), len(ids), *counts)

    def most_selective(self, layer: int) -> int | None:
        """Find the neuron most selective for one word or piece of a word: few tokens excite it, mostly the same token.

        Among the neurons that are seldom above 0, the one whose strongest tokens are most often the same token; if
        neurons tie, the one that is above 0 least often; None if no neuron is selective.
        """
        where, values = self._where[layer], self._values[layer]
        ids = self._ids[where]
        repeats = torch.stack([(ids == row).sum(0) * spelt for row, spelt in zip(ids, self._spelt[where], strict=True)])
        positive = np.unpackbits(self._positive[layer], axis=1, count=self._values.shape[-1])
        best, share = repeats.amax(0), torch.from_numpy(positive.sum(0, dtype=np.int64)) / max(self.tokens, 1)
        fits = (values[-1] > 0) & (share <= SELDOM) & (best >= _MOST)
        return int(torch.where(fits, best - share, -1.0).argmax()) if fits.any() else None

    def _excited(self, layer: int, neuron: int) -> NDArray[np.bool_]:
        """Return a mask of the tokens at which the activation is above 0, (tokens of all texts,)."""
        byte, bit = divmod(neuron, 8)
        return (self._positive[layer, :, byte] >> (7 - bit) & 1).astype(bool)


@once
def neuron_survey(model: LoadedModel, texts: tuple[str, ...]) -> NeuronSurvey:
    """The survey of these texts in its current state; all visitors of the model share and continue one survey."""
    return NeuronSurvey(model, texts)


def _spelt(encoding: Encoding, token: int) -> bool:
    """True if a token contains a letter or digit; neurons for punctuation alone are not interesting."""
    start, end = encoding.offsets[token]
    return any(char.isalnum() for char in encoding.text[start:end])


def equally_long(encodings: Sequence[Encoding]) -> Iterator[list[int]]:
    """Batches of texts of equal length, so that no padding is needed, and small enough for memory."""
    lengths: dict[int, list[int]] = {}
    for text, encoding in enumerate(encodings):
        lengths.setdefault(len(encoding), []).append(text)
    for _, texts in sorted(lengths.items()):
        for start in range(0, len(texts), _TEXTS_AT_ONCE):
            yield texts[start : start + _TEXTS_AT_ONCE]
