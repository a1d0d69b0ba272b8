"""Ablate every single head for one or more sentences in one batched pass (Michel et al. 2019, §3), or single
neurons."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from lab.models import forward
from lab.models.config import ModelConfig
from lab.models.forward import PAPER, Steps, split_heads
from lab.models.interventions import heads_off, neurons_off
from lab.models.layer_trace import changed
from lab.models.one_token import from_contexts, layer_at, of_token, read_by_heads
from lab.models.trace import Trace, outputs
from lab.models.weights import LayerWeights

if TYPE_CHECKING:
    from lab.models.loading import LoadedModel

# At most this many numbers of (batch, H, n, n) or (batch, n, d_ff) at once; a layer holds five times as many: 60 MB.
_NUMBERS_AT_ONCE = 3_000_000
# A function that returns the steps of a layer, given the layer and the heads to change in each of k runs, (k, 1, H)
# bool, where the 1 is the axis of texts.
HeadChange = Callable[[int, Tensor], Steps]


def _slices(count: int, x: Tensor, config: ModelConfig) -> list[slice]:
    """Split ``count`` runs of the texts x (..., b, n, d) into slices small enough for memory."""
    b, n = x.shape[-3:-1]
    size = max(1, _NUMBERS_AT_ONCE // (b * n * (2 * config.heads * n + config.ffn_width)))
    return [slice(start, start + size) for start in range(0, count, size)]


def _each(chosen: Tensor) -> Tensor:
    """Return masks for k runs, (k, 1, H): each has one of the k ``chosen`` (H,) heads."""
    return torch.eye(len(chosen), dtype=torch.bool)[chosen][:, None]


def _layer(runs: Tensor, w: LayerWeights, config: ModelConfig, steps: Steps) -> Tensor:
    """Compute the layer's output for all ``runs`` (k, b, n, d)."""
    each = [forward.run_layer(runs[few], w, config, steps).output for few in _slices(len(runs), runs, config)]
    return torch.cat(each) if each else runs


def _changed_here(
    x: Tensor, w: LayerWeights, config: ModelConfig, heads: Tensor, change: Callable[[Tensor], Steps]
) -> Tensor:
    """Compute the layer's output in k runs with ``heads`` (k, 1, H) changed, (k, b, n, d).

    The texts x are projected once.
    """
    each = [forward.run_layer(x, w, config, change(heads[few])).output for few in _slices(len(heads), x, config)]
    return torch.cat(each) if each else torch.empty(0, *x.shape)


@torch.inference_mode()
def change_each_head(model: LoadedModel, stream: Tensor, change: HeadChange, others: Sequence[Steps] = ()) -> Tensor:
    """Return the last hidden states of b texts with head h of layer l changed, for every l and h: (L, H, b, n, d).

    Layer l starts from the plain ``stream`` (L+1, b, n, d), so layers below a change are never computed twice; this
    saves half the work of running each change alone. ``others`` are the steps of each unchanged layer, with which
    ``stream`` was made; by default the paper's steps.
    """
    config = model.config
    every = torch.ones(config.layers, config.heads, dtype=torch.bool)
    return _through(model, stream, change, every, others, config.layers).unflatten(0, (config.layers, config.heads))


@torch.inference_mode()
def change_heads_at(
    model: LoadedModel,
    stream: Tensor,
    change: HeadChange,
    chosen: Tensor,
    places: Tensor,
    others: Sequence[Steps] = (),
) -> Tensor:
    """The last hidden states at one token of each text with each of k ``chosen`` (L, H) heads changed, (k, b, d).

    Heads are in the order of layers; ``places`` (b,) are the tokens, from 0. ``others`` may change each token
    separately, but not combine tokens, as in :func:`lab.models.one_token.layer_at`.
    """
    config, last = model.config, model.config.layers - 1
    runs, w = _through(model, stream, change, chosen, others, last), model.weights.layers[last]
    steps = others[last] if others else PAPER
    carried = [layer_at(runs[few], places, w, config, steps) for few in _slices(len(runs), runs, config)]
    read = read_by_heads(stream[last], w, config)
    mixed = forward.self_attention(read, w, config, change(last, _each(chosen[last]))).context_concat
    context = split_heads(of_token(mixed, places), config.heads)
    return torch.cat([*carried, from_contexts(of_token(stream[last], places), context, w, config)[..., 0, :]])


def _through(
    model: LoadedModel, stream: Tensor, change: HeadChange, chosen: Tensor, others: Sequence[Steps], depth: int
) -> Tensor:
    """Return the states of k runs after the first ``depth`` layers, each with one chosen head changed, (k, b, n, d)."""
    runs = torch.empty(0, *stream.shape[1:])
    for number, w in enumerate(model.weights.layers[:depth]):
        fresh = _changed_here(stream[number], w, model.config, _each(chosen[number]), partial(change, number))
        runs = torch.cat([_layer(runs, w, model.config, others[number] if others else PAPER), fresh])
    return runs


def ablate_each_head(trace: Trace, to_mean: bool = False) -> Tensor:
    """Return the last hidden state with head h of layer l switched off, for every l and h: (L, H, n, d).

    Raises ValueError for a trace that already carries interventions.
    """
    if not trace.interventions.changes_nothing:
        raise ValueError("ablate_each_head starts from a plain trace; this one carries interventions.")

    def off(_layer: int, heads: Tensor) -> Steps:
        return changed(context=heads_off(None, heads) if to_mean else heads_off(heads, None))

    return change_each_head(trace.model, trace.hidden_states[:, None], off)[:, :, 0]


@torch.inference_mode()
def ablate_each_neuron(trace: Trace, layer: int, neurons: Sequence[int]) -> Tensor:
    """Return the input of the output heads with one of ``neurons`` of ``layer`` set to 0 at every token, (k, n, d).

    Layers below are not computed again. Raises ValueError for a trace that already carries interventions.
    """
    if not trace.interventions.changes_nothing:
        raise ValueError("ablate_each_neuron starts from a plain trace; this one carries interventions.")
    config, layers = trace.model.config, trace.model.weights.layers
    one_neuron = torch.zeros(len(neurons), 1, 1, config.ffn_width, dtype=torch.bool)
    one_neuron[range(len(neurons)), 0, 0, list(neurons)] = True
    x = trace.hidden_states[layer][None]

    def without(few: slice) -> Tensor:
        steps = changed(ffn_activation=neurons_off(one_neuron[few]))
        return forward.run_layer(x, layers[layer], config, steps).output

    runs = torch.cat([without(few) for few in _slices(len(neurons), x, config)])
    for w in layers[layer + 1 :]:
        runs = _layer(runs, w, config, PAPER)
    return outputs(trace.model, runs)[:, 0]
