"""A :class:`Trace`: one text through one model, with every intermediate step available.

A trace keeps only the residual stream. The steps inside a layer are recomputed from the layer's
input when they are needed. All traces share a memory for the layers used last: a trace
of 512 tokens through bert-base holds 20 MB instead of 600 MB.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, SupportsIndex

import torch
from torch import Tensor

from lab.models import forward
from lab.models.encoding import BLANK, Encoding, TextError, encode, fitted, word_of
from lab.models.interventions import Head, Interventions, Swap, whole
from lab.models.layer_trace import LayerTrace
from lab.models.memo import Memo, once

if TYPE_CHECKING:
    from lab.models.loading import LoadedModel

_NOTHING = Interventions()
# The layers used last: at most this many bytes, but at least two layers, because a figure may compare two layers. A
# layer with 12 heads takes 53 MB for 512 tokens and 0.4 MB for a short sentence.
_LAYERS = Memo(64_000_000, at_least=2)


@dataclass(frozen=True, eq=False)
class Trace:
    """One run. Build it with :func:`trace`."""

    model: LoadedModel
    encoding: Encoding
    interventions: Interventions
    hidden_states: Tensor  # (L+1, n, d), the residual stream

    @property
    def text(self) -> str:
        return self.encoding.text

    @property
    def pair(self) -> str | None:
        return self.encoding.pair

    @property
    def tokens(self) -> tuple[str, ...]:
        return self.encoding.tokens

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The tokens as written on screen, such as "␣cat" for the vocabulary's "Ġcat", and ▢ for a mask."""
        mask = None if self.model.mask is None else self.model.mask[1]
        return tuple(BLANK if each == mask else word_of(self.model.tokenizer, each) for each in self.token_ids)

    @property
    def token_ids(self) -> tuple[int, ...]:
        return self.encoding.token_ids

    @property
    def segment_ids(self) -> tuple[int, ...]:
        return self.encoding.segment_ids

    @property
    def offsets(self) -> tuple[tuple[int, int], ...]:
        return self.encoding.offsets

    @property
    def word_ids(self) -> tuple[int | None, ...]:
        return self.encoding.word_ids

    def __len__(self) -> int:
        return len(self.encoding)

    @property
    @torch.inference_mode()
    def embeddings(self) -> forward.Embeddings:
        """The parts of the first layer's input, recomputed."""
        return embed(self.model, self.encoding, self.interventions)

    def layer(self, index: SupportsIndex) -> LayerTrace:
        """All steps inside layer ``index`` (from 0), recomputed from the layer's input.

        Raises IndexError for a layer that the model does not have, and TypeError for anything but a whole number.
        """
        index, layers = whole(index), self.model.config.layers
        if not 0 <= index < layers:
            raise IndexError(f"layer {index}: {self.model.id} has layers 0 to {layers - 1}.")
        return _LAYERS.get(self, index, lambda: self._layer(index))

    @torch.inference_mode()
    def _layer(self, index: int) -> LayerTrace:
        config, w = self.model.config, self.model.weights.layers[index]
        changes = self.interventions.with_padding(len(self), self.encoding.padding)
        steps = changes.steps(index, config, len(self))
        made = LayerTrace.of(index, w, forward.run_layer(self.hidden_states[index], w, config, steps))
        # Masked scores are -inf, and come from scores that must be finite.
        inside = (each for name, each in vars(made).items() if isinstance(each, Tensor) and name != "scaled_scores")
        require_numbers(self.model, *inside)
        return made

    @property
    def nbytes(self) -> int:
        """Bytes of the residual stream, the only tensor that a run keeps besides its model."""
        return int(self.hidden_states.nbytes)

    def bytes_beside(self, held: object) -> int:
        """Bytes that a run keeps, including its model unless the model is ``held`` anyway."""
        return self.nbytes + (0 if self.model is held else self.model.nbytes)

    @property
    def attention(self) -> Tensor:
        """The attention of all heads, (L, H, n, n); for notebooks and short texts, as its size grows with n²."""
        return torch.stack([self.layer(i).attention for i in range(self.model.config.layers)])

    @property
    @torch.inference_mode()
    def output(self) -> Tensor:
        """The input of the output heads, (n, d): the last hidden state, after GPT-2's final LayerNorm."""
        return outputs(self.model, self.hidden_states[-1])

    @torch.inference_mode()
    def logits(self, positions: SupportsIndex | Iterable[SupportsIndex]) -> Tensor:
        """Return the scores of every word at the k ``positions`` only, (k, vocabulary).

        Raises ValueError if the checkpoint has no vocabulary head, and TypeError for a position that is not a whole
        number.
        """
        head = self.model.vocabulary_head
        # A tensor with a single number is iterable for Python, and yet one position.
        if isinstance(positions, Iterable) and getattr(positions, "ndim", 1) != 0:
            chosen = [whole(each) for each in positions]
        else:
            chosen = [whole(positions)]
        return self._scores(forward.vocabulary_logits(self.output[chosen], head, self.model.config))

    @property
    @torch.inference_mode()
    def pair_logits(self) -> Tensor:
        """The next-sentence scores from [CLS], (2,): [B follows A, B is random]."""
        head = self.model.weights.pair_head
        if head is None:
            raise ValueError(f"{self.model.id} came without a next-sentence head.")
        return self._scores(forward.pair_logits(self.output[0], head))

    @property
    @torch.inference_mode()
    def replaced_logits(self) -> Tensor:
        """ELECTRA's score that each token is a replacement, (n,).

        Raises ValueError for a model without ELECTRA's head.
        """
        head = self.model.weights.replaced_head
        if head is None:
            raise ValueError(f"{self.model.id} came without a replaced-token head; ELECTRA discriminators have one.")
        return self._scores(forward.replaced_logits(self.output, head, self.model.config.activation))

    def _scores(self, found: Tensor) -> Tensor:
        require_numbers(self.model, found)
        return found


def require_numbers(model: LoadedModel, *found: Tensor) -> None:
    """Raise TextError if a vector (..., d) of a run is too long for a number of 32 bits, or has nan in it."""
    if not all(each.norm(dim=-1).isfinite().all() for each in found):
        raise TextError(
            f"The numbers of this run through {model.id} grow too large for 32 bits, so there is no result. Choose "
            "another model; if every text ends like this, the checkpoint is damaged."
        )


def outputs(model: LoadedModel, last: Tensor) -> Tensor:
    """Return the input of the output heads, (..., d): the last hidden states, after GPT-2's final LayerNorm."""
    norm = model.weights.final_norm
    return last if norm is None else forward.layer_norm(last, norm, model.config.norm_eps)


def inputs(model: LoadedModel, encoding: Encoding) -> tuple[Tensor, Tensor, Tensor]:
    """Token, segment and position ids, each (n,). Raises TextError for a token for which the model has no vector."""
    encoding = fitted(model.config, encoding)
    ids = torch.tensor(encoding.token_ids)
    positions = torch.arange(len(encoding))
    if model.config.position_offset:
        # RoBERTa numbers only real tokens, from its padding id + 1; a typed <pad> gets the padding id as its position.
        pad = model.config.position_offset - 1
        real = (ids != pad).long()
        positions = real.cumsum(0) * real + pad
    return ids, torch.tensor(encoding.segment_ids), positions


@torch.inference_mode()
def trace(model: LoadedModel, text: str, pair: str | None = None, interventions: Interventions = _NOTHING) -> Trace:
    """Run ``text`` (and an optional second sentence) through ``model``.

    Raises :class:`lab.models.encoding.TextError` for a text without tokens or a run without finite numbers, ValueError
    for an intervention on a layer, head or token that does not exist, and TypeError for a model that is not loaded.
    """
    if isinstance(model, str | Path):
        raise TypeError(f"{str(model)!r} is the name of a model. Load the model first: lab.load_model({str(model)!r}).")
    encoding = encode(model.tokenizer, model.config, text, pair)
    return trace_encoding(model, encoding, interventions)


@torch.inference_mode()
def trace_encoding(model: LoadedModel, encoding: Encoding, interventions: Interventions = _NOTHING) -> Trace:
    """Run an :class:`Encoding` made or changed by hand (tokens masked, segments swapped)."""
    encoding = fitted(model.config, encoding)
    changes = interventions.with_padding(len(encoding), encoding.padding)
    changes.check(model.weights, len(encoding))
    steps = [changes.steps(layer, model.config, len(encoding)) for layer in range(model.config.layers)]
    x = embed(model, encoding, changes).output
    states = forward.run_model(x, model.weights, steps, changes.patch)
    require_numbers(model, states)
    return Trace(model, encoding, interventions, states)


def embed(model: LoadedModel, encoding: Encoding, changes: Interventions) -> forward.Embeddings:
    """Return the first layer's input and its parts."""
    tables = changes.embeddings(model.weights.embeddings)
    return forward.embed(*inputs(model, encoding), tables, model.config.norm_eps)


def swaps(other: Trace, heads: Iterable[Head], token: int, source: int) -> tuple[Swap, ...]:
    """Return the swaps that give ``token`` what ``heads``, as (layer, head), bring to token ``source`` of ``other``.

    Each head's part is its slice of the input of W_O: the values it has collected, in its own proportions. Raises
    IndexError for a layer or token that ``other`` does not have.
    """
    by_layer: dict[int, set[int]] = {}
    for layer, head in heads:
        by_layer.setdefault(layer, set()).add(head)
    return tuple(
        Swap(layer, frozenset(chosen), token, other.layer(layer).context[:, source])
        for layer, chosen in sorted(by_layer.items())
    )


@once
def changed(trace: Trace, changes: Interventions) -> Trace:
    """A run of the tokens of ``trace`` with ``changes`` instead of its own interventions, kept as long as ``trace``.

    Raises ValueError for changes to a layer, head or token that does not exist.
    """
    return trace_encoding(trace.model, trace.encoding, changes)
