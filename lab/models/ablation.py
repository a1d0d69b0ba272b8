"""Every single-head ablation of one sentence in one batched pass (Michel et al. 2019, §3), and some single neurons."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from lab.models import forward
from lab.models.config import ModelConfig
from lab.models.forward import PAPER, Steps
from lab.models.interventions import heads_off, neurons_off
from lab.models.trace import Trace, outputs
from lab.models.weights import LayerWeights

# A layer's largest intermediates are (batch, H, n, n) and (batch, n, d_ff); this many numbers at once.
_NUMBERS_AT_ONCE = 30_000_000
HeadsOff = Callable[[slice], Steps]


def _layer_in_chunks(x: Tensor, w: LayerWeights, config: ModelConfig, off: HeadsOff) -> Tensor:
    """The layer's output for a batch (b, n, d), a few sequences at a time so memory stays bounded.

    ``off`` gives the steps of the sequences that a slice takes.
    """
    n = x.shape[-2]
    chunk = max(1, _NUMBERS_AT_ONCE // (n * (2 * config.heads * n + config.ffn_width)))
    slices = [slice(start, start + chunk) for start in range(0, len(x), chunk)]
    return torch.cat([forward.run_layer(x[here], w, config, off(here)).output for here in slices])


@torch.inference_mode()
def ablate_each_head(trace: Trace, to_mean: bool = False) -> Tensor:
    """The last hidden state with head h of layer l switched off, for every l and h: (L, H, n, d).

    Layer l starts from the trace's own residual stream, so layers below an ablation are never
    computed twice: half the work of running each ablation alone. Raises ValueError for a trace
    that already carries interventions.
    """
    if not trace.interventions.changes_nothing:
        raise ValueError("ablate_each_head starts from a plain trace; this one carries interventions.")
    config, layers = trace.model.config, trace.model.weights.layers
    one_head = torch.eye(config.heads, dtype=torch.bool)

    def one_head_off(here: slice) -> Steps:
        zero, mean = (None, one_head[here]) if to_mean else (one_head[here], None)
        return Steps(mix_values=heads_off(zero, mean))

    changed = torch.empty(0, *trace.hidden_states.shape[1:])
    for number, w in enumerate(layers):
        fresh = trace.hidden_states[number].expand(config.heads, -1, -1)
        fresh = _layer_in_chunks(fresh, w, config, one_head_off)
        carried = _layer_in_chunks(changed, w, config, lambda _: PAPER) if len(changed) else changed
        changed = torch.cat([carried, fresh])
    return changed.unflatten(0, (config.layers, config.heads))


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
        changed = _layer_in_chunks(changed, w, config, (lambda _: PAPER) if number else one_neuron_off)
    return outputs(trace.model, changed)
