"""Every single-head ablation of one sentence in one batched pass (Michel et al. 2019, §3)."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from lab.models import forward
from lab.models.config import ModelConfig
from lab.models.interventions import LayerControls
from lab.models.trace import Trace
from lab.models.weights import LayerWeights

# A layer's largest intermediates are (batch, H, n, n) and (batch, n, d_ff); this many numbers at once.
_NUMBERS_AT_ONCE = 30_000_000


def _layer_in_chunks(x: Tensor, w: LayerWeights, config: ModelConfig, c: LayerControls) -> Tensor:
    """The layer's output for a batch (b, n, d), a few sequences at a time so memory stays bounded."""
    n = x.shape[-2]
    chunk = max(1, _NUMBERS_AT_ONCE // (n * (2 * config.heads * n + config.ffn_width)))
    parts = []
    for start in range(0, len(x), chunk):
        here = slice(start, start + chunk)
        own = replace(c, zero=None if c.zero is None else c.zero[here], mean=None if c.mean is None else c.mean[here])
        parts.append(forward.run_layer(x[here], w, config, own).output)
    return torch.cat(parts)


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
    one_head_off = LayerControls(mean=one_head) if to_mean else LayerControls(zero=one_head)
    changed = torch.empty(0, *trace.hidden_states.shape[1:])
    for number, w in enumerate(layers):
        fresh = trace.hidden_states[number].expand(config.heads, -1, -1)
        fresh = _layer_in_chunks(fresh, w, config, one_head_off)
        carried = _layer_in_chunks(changed, w, config, LayerControls()) if len(changed) else changed
        changed = torch.cat([carried, fresh])
    return changed.unflatten(0, (config.layers, config.heads))
