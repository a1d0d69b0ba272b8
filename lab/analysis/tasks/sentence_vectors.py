"""One vector for a whole sentence, after every layer: that of [CLS], or the mean of its words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from lab.models.batches import ProgressFunction, by_length, run_batch, unwatched
from lab.models.encoding import Encoding, encode, fitted
from lab.models.memo import once
from lab.models.trace import outputs
from lab.models.twin import untrained_twin

if TYPE_CHECKING:
    from lab.models.loading import LoadedModel

_TOKENS_AT_ONCE = 512  # so that a batch of a small model takes about 50 ms


@dataclass(frozen=True, eq=False)
class SentenceVectors:
    """The vectors of N sentences after the embeddings and after each of L layers, (L+1, N, d) each.

    ``mark`` is the vector of the token that stands for the whole text: [CLS] or, in a causal model, the last token,
    which alone has seen all others. ``mean`` is the mean of the vectors of all words and pieces, not of special ones.
    """

    mark: NDArray[np.float32]
    mean: NDArray[np.float32]

    @property
    def layers(self) -> int:
        return len(self.mark) - 1


def mark_of(encoding: Encoding, causal: bool) -> int:
    """The place, from 0, of the token that stands for the whole text."""
    return len(encoding) - 1 if causal else 0


def encoded(model: LoadedModel, text: str) -> Encoding:
    """Return a text as the model reads it. Raises :class:`lab.models.encoding.TextError` where it cannot."""
    return fitted(model.config, encode(model.tokenizer, model.config, text))


@torch.inference_mode()
def read(model: LoadedModel, texts: Sequence[str], tell: ProgressFunction = unwatched) -> SentenceVectors:
    """Run the texts through the model, those of equal length together.

    Raises :class:`lab.models.encoding.TextError` for a text that the model cannot read.
    """
    encodings = [encoded(model, text) for text in texts]
    causal, shape = model.config.causal, (model.config.layers + 1, len(texts), model.config.width)
    mark, mean = np.empty(shape, np.float32), np.empty(shape, np.float32)
    done = 0
    for places in by_length(encodings, lambda n: max(1, _TOKENS_AT_ONCE // n)):
        some = [encodings[place] for place in places]
        stream = run_batch(model, some)
        stream[-1] = outputs(model, stream[-1])  # with the last LayerNorm, if there is one
        words = torch.tensor([_words(encoding) for encoding in some], dtype=stream.dtype)
        mark[:, places] = stream[:, :, mark_of(some[0], causal)].numpy()
        mean[:, places] = torch.einsum("bn,lbnd->lbd", words, stream).numpy()
        done += len(places)
        tell(done / len(texts))
    return SentenceVectors(mark, mean)


def _words(encoding: Encoding) -> list[float]:
    """The share of each token in the mean: equal for all words and pieces; for all tokens if there are only others."""
    counted = [not special for special in encoding.special]
    counted = counted if any(counted) else [True] * len(counted)
    return [each / sum(counted) for each in counted]


@dataclass(frozen=True, eq=False)
class Brief:
    """The two vectors of each of N sentences from which a classifier learns, (N, d) each.

    ``mark`` is that of [CLS] (or of the last token) after the last layer, ``mean`` the mean of the words after
    :func:`middle`.
    """

    mark: NDArray[np.float32]
    mean: NDArray[np.float32]


def middle(model: LoadedModel) -> int:
    """The layer, from 1, after which the mean of the words is taken: the middle one."""
    return (model.config.layers + 1) // 2


def brief(model: LoadedModel, texts: Sequence[str]) -> Brief:
    """Read texts in batches, and keep the two vectors of each. Raises as :func:`read` does."""
    found = read(model, texts)
    return Brief(found.mark[-1].copy(), found.mean[middle(model)].copy())


@once
def together(model: LoadedModel, texts: tuple[str, ...]) -> Brief:
    """:func:`brief` of texts that are the same for all visitors, read once."""
    return brief(model, texts)


@once
def untrained_together(model: LoadedModel, texts: tuple[str, ...]) -> Brief:
    """:func:`together` by the untrained twin of ``model``, which is drawn for it and then goes; its vectors stay."""
    return brief(untrained_twin(model), texts)
