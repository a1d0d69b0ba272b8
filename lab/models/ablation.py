"""Every single-head ablation of a sentence, or of several, in one batched pass (Michel et al. 2019, §3), and some
single neurons."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from lab.models import forward
from lab.models.config import ModelConfig
from lab.models.forward import PAPER, Steps
from lab.models.interventions import heads_off, neurons_off
from lab.models.trace import Trace, outputs
from lab.models.weights import LayerWeights

if TYPE_CHECKING:
    from lab.models.loading import LoadedModel

# Of (batch, H, n, n) and (batch, n, d_ff), of which a layer holds five times as much in all: 60 MB at once.
_NUMBERS_AT_ONCE = 3_000_000
HeadsOff = Callable[[slice], Steps]
# The steps of layer l in k runs: which heads change (k, H) bool, and which text of the batch each run is of (k,).
HeadChange = Callable[[int, Tensor, Tensor], Steps]


def _layer_in_chunks(x: Tensor, w: LayerWeights, config: ModelConfig, off: HeadsOff) -> Tensor:
    """The layer's output for a batch (b, n, d), a few sequences at a time so memory stays bounded.

    ``off`` gives the steps of the sequences that a slice takes.
    """
    n = x.shape[-2]
    chunk = max(1, _NUMBERS_AT_ONCE // (n * (2 * config.heads * n + config.ffn_width)))
    slices = [slice(start, start + chunk) for start in range(0, len(x), chunk)]
    return torch.cat([forward.run_layer(x[here], w, config, off(here)).output for here in slices])


@torch.inference_mode()
def change_each_head(model: LoadedModel, stream: Tensor, change: HeadChange, others: Sequence[Steps] = ()) -> Tensor:
    """The last hidden states of b texts with head h of layer l changed, for every l and h: (L, H, b, n, d).

    Layer l starts from the plain ``stream`` (L+1, b, n, d), so layers below a change are never computed twice: half
    the work of running each change alone. ``others`` are the steps of each layer where nothing is changed, those
    that ``stream`` was made with; without any, the paper's.
    """
    config, batch = model.config, stream.shape[1]
    heads = torch.eye(config.heads, dtype=torch.bool).repeat_interleave(batch, 0)
    texts = torch.arange(batch).repeat(config.heads)
    runs = torch.empty(0, *stream.shape[2:])
    for number, w in enumerate(model.weights.layers):
        fresh = stream[number].expand(config.heads, -1, -1, -1).flatten(0, 1)
        fresh = _layer_in_chunks(fresh, w, config, partial(_of_slice, partial(change, number), heads, texts))
        plain = others[number] if others else PAPER
        carried = _layer_in_chunks(runs, w, config, partial(_same, plain)) if len(runs) else runs
        runs = torch.cat([carried, fresh])
    return runs.unflatten(0, (config.layers, config.heads, batch))


def _of_slice(change: Callable[[Tensor, Tensor], Steps], heads: Tensor, texts: Tensor, here: slice) -> Steps:
    return change(heads[here], texts[here])


def _same(steps: Steps, _: slice) -> Steps:
    return steps


def ablate_each_head(trace: Trace, to_mean: bool = False) -> Tensor:
    """The last hidden state with head h of layer l switched off, for every l and h: (L, H, n, d).

    Raises ValueError for a trace that already carries interventions.
    """
    if not trace.interventions.changes_nothing:
        raise ValueError("ablate_each_head starts from a plain trace; this one carries interventions.")

    def off(_layer: int, heads: Tensor, _texts: Tensor) -> Steps:
        return Steps(mix_values=heads_off(None, heads) if to_mean else heads_off(heads, None))

    return change_each_head(trace.model, trace.hidden_states[:, None], off)[:, :, 0]


@torch.inference_mode()
def ablate_each_neuron(trace: Trace, layer: int, neurons: Sequence[int]) -> Tensor:
    """What the output heads read with one of ``neurons`` of ``layer`` set to 0 at every token: (k, n, d).

    Layers below are not computed again. Raises ValueError for a trace that already carries interventions.
    """
    if not trace.interventions.changes_nothing:
        raise ValueError("ablate_each_neuron starts from a plain trace; this one carries interventions.")
    config, layers = trace.model.config, trace.model.weights.layers
    one_neuron = torch.zeros(len(neurons), 1, config.ffn_width, dtype=torch.bool)
    one_neuron[range(len(neurons)), 0, list(neurons)] = True

    def one_neuron_off(here: slice) -> Steps:
        return Steps(activate=neurons_off(one_neuron[here]))

    changed = trace.hidden_states[layer].expand(len(neurons), -1, -1)
    for number, w in enumerate(layers[layer:]):
        changed = _layer_in_chunks(changed, w, config, partial(_same, PAPER) if number else one_neuron_off)
    return outputs(trace.model, changed)
