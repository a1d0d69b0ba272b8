"""Run several texts of equal length in one forward pass, as the experiments do with hundreds of sentences."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from lab.models import forward
from lab.models.config import ModelConfig
from lab.models.encoding import Encoding
from lab.models.forward import Steps
from lab.models.interventions import Interventions
from lab.models.one_token import model_at, of_token
from lab.models.trace import inputs, outputs, require_numbers

if TYPE_CHECKING:
    from lab.models.loading import LoadedModel

# A function that receives the share done, in [0, 1], between two batches. An exception it raises ends the run.
ProgressFunction = Callable[[float], None]
_NOTHING = Interventions()


def unwatched(share: float) -> None:
    """A progress function that does nothing."""


def by_length(encodings: Sequence[Encoding], most: Callable[[int], int]) -> Iterator[list[int]]:
    """Yield indices of ``encodings`` in batches of equal length, with 1 to ``most(n)`` texts of n tokens."""
    groups: dict[int, list[int]] = defaultdict(list)
    for place, encoding in enumerate(encodings):
        groups[len(encoding)].append(place)
    for n, places in sorted(groups.items()):
        size = max(1, most(n))
        yield from (places[start : start + size] for start in range(0, len(places), size))


def numbers_a_run(config: ModelConfig, n: int) -> int:
    """Estimate how many numbers a plain run of n tokens holds at once: the residual stream and two layers' insides."""
    one_layer = 4 * config.heads * n + 14 * config.width + 2 * config.ffn_width
    return n * ((config.layers + 1) * config.width + 2 * one_layer)


def batch_inputs(model: LoadedModel, encodings: Sequence[Encoding]) -> tuple[Tensor, Tensor, Tensor]:
    """Token, segment and position ids of texts of equal length, each (b, n). Raises ValueError if lengths differ."""
    lengths = {len(encoding) for encoding in encodings}
    if len(lengths) != 1 or any(encoding.padding for encoding in encodings):
        raise ValueError(f"a batch takes texts of one length without padding; these have {sorted(lengths)} tokens.")
    tokens, segments, positions = zip(*(inputs(model, encoding) for encoding in encodings), strict=True)
    return torch.stack(tokens), torch.stack(segments), torch.stack(positions)


def embed_batch(model: LoadedModel, encodings: Sequence[Encoding]) -> Tensor:
    """Return the first layer's input of texts of equal length, (b, n, d). Raises ValueError if their lengths differ."""
    ids = batch_inputs(model, encodings)
    return forward.embed(*ids, model.weights.embeddings, model.config.norm_eps).output


@torch.inference_mode()
def layer_attentions(model: LoadedModel, encodings: Sequence[Encoding]) -> Iterator[Tensor]:
    """The attention of one layer after the other, (b, H, n, n), for texts of equal length."""
    x = embed_batch(model, encodings)
    for w in model.weights.layers:
        layer = forward.run_layer(x, w, model.config)
        x = layer.output
        require_numbers(model, x)
        yield layer.attention.attention


@torch.inference_mode()
def run_batch(model: LoadedModel, encodings: Sequence[Encoding], changes: Interventions = _NOTHING) -> Tensor:
    """The residual streams of texts of equal length, (L+1, b, n, d), with the same ``changes`` made to every text.

    Raises ValueError for patches, which apply to a single text, and for a head or token that does not exist; TextError
    for a run without finite numbers.
    """
    x, steps = _start(model, encodings, changes)
    states = forward.run_model(x, model.weights, steps)
    require_numbers(model, states)
    return states


def _start(model: LoadedModel, encodings: Sequence[Encoding], changes: Interventions) -> tuple[Tensor, list[Steps]]:
    """Return the first layer's input (b, n, d), and the steps of each layer."""
    config, n = model.config, len(encodings[0])
    if changes.patches or changes.swaps:
        raise ValueError("a patch or a swap changes one text; run_batch changes all texts alike.")
    changes.check(model.weights, n)
    tables = changes.embeddings(model.weights.embeddings)
    changed = replace(model, weights=replace(model.weights, embeddings=tables))
    return embed_batch(changed, encodings), [changes.steps(layer, config, n) for layer in range(config.layers)]


@torch.inference_mode()
def run_batch_at(
    model: LoadedModel, encodings: Sequence[Encoding], places: Tensor, changes: Interventions = _NOTHING
) -> Tensor:
    """Return the last hidden states of :func:`run_batch` at one token of each text, ``places`` (b,) from 0: (b, d)."""
    if changes != Interventions(zero_heads=changes.zero_heads):  # other changes may combine tokens
        return of_token(run_batch(model, encodings, changes)[-1], places)[:, 0]
    x, steps = _start(model, encodings, changes)
    states = model_at(x, model.weights, places, steps)
    require_numbers(model, states)
    return states


@torch.inference_mode()
def rerun_batch(model: LoadedModel, plain: Tensor, changes: Interventions, at: int) -> Tensor:
    """The state of :func:`run_batch` with some heads changed at layer ``at``, (b, n, d), from the ``plain`` stream.

    ``plain`` (L+1, b, n, d) is the stream of the same texts without changes. Both streams are equal up to the first
    changed layer, so only the layers from there to ``at`` are run. Raises ValueError if anything but heads is changed.
    """
    heads = changes.zero_heads | changes.mean_heads | changes.uniform_heads
    if changes != Interventions(changes.zero_heads, changes.mean_heads, changes.uniform_heads):
        raise ValueError("rerun_batch begins at the first changed head; this changes more than heads.")
    config, n = model.config, plain.shape[-2]
    changes.check(model.weights, n)
    first = min((layer for layer, _ in heads), default=at)
    x = plain[min(first, at)]
    for layer in range(first, at):
        x = forward.run_layer(x, model.weights.layers[layer], config, changes.steps(layer, config, n)).output
    return x


@torch.inference_mode()
def contexts(model: LoadedModel, stream: Tensor) -> Tensor:
    """Return the context vectors of each head in plain runs with this ``stream`` (L+1, b, n, d), (L, b, H, n, d_k)."""
    layers = model.weights.layers
    return torch.stack([forward.run_layer(stream[i], w, model.config).attention.context for i, w in enumerate(layers)])


def logits_of(model: LoadedModel, last: Tensor, words: Sequence[int]) -> Tensor:
    """Logits of only the k ``words`` of the vocabulary, from last hidden states, (..., d) -> (..., k).

    Raises ValueError for a model without a vocabulary head.
    """
    head, chosen = model.vocabulary_head, list(words)
    few = replace(head, decoder=head.decoder[chosen], bias=None if head.bias is None else head.bias[chosen])
    return forward.vocabulary_logits(outputs(model, last), few, model.config)
