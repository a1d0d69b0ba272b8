"""Change a tensor of a layer while the layer is computed, by the tensor's name in a trace.

What comes after the tensor is computed from the changed one, as in
``run_layer(x, w, config, changed(context=become(other)))``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from lab.models.forward import PAPER, Steps

Change = Callable[[Tensor], Tensor]
# The step of a layer that computes each tensor; the names are those of lab.models.layer_trace.LayerTrace.
_STEPS = {
    "scaled_scores": "mask",
    "attention": "attend",
    "context": "mix_values",
    "attention_output": "project_output",
    "ffn_activation": "activate",
    "ffn_output": "project_neurons",
}


def changed(steps: Steps = PAPER, /, **changes: Change) -> Steps:
    """Return the steps of a layer in which each named tensor is replaced by a function of it.

    Parameters
    ----------
    steps
        The steps to change; they may have been changed before.
    **changes
        For the name of a tensor, a function that takes the tensor and returns the one in its place. The names are
        ``scaled_scores`` (masked), ``attention``, ``context``, ``attention_output``, ``ffn_activation`` (before a gate)
        and ``ffn_output``.

    Raises
    ------
    ValueError
        If no step computes a tensor of this name.
    """
    if unknown := changes.keys() - _STEPS.keys():
        raise ValueError(f"No step computes {unknown.pop()}; {', '.join(_STEPS)} can be changed.")
    own: dict[str, Any] = {
        _STEPS[name]: partial(_then, getattr(steps, _STEPS[name]), change) for name, change in changes.items()
    }
    return replace(steps, **own)


def _then(step: Callable[..., Tensor], change: Change, *arguments: Any) -> Tensor:
    return change(step(*arguments))


def become(values: Tensor, where: Tensor | None = None) -> Change:
    """The change to ``values``, everywhere, or only where ``where`` is true; both are broadcast to the tensor."""
    return lambda tensor: values.expand_as(tensor) if where is None else torch.where(where, values, tensor)


def at_token(place: int, vector: Tensor) -> Change:
    """The change to ``vector`` (…, d) at one token of a tensor (…, n, d), from 0."""

    def change(tensor: Tensor) -> Tensor:
        tensor = tensor.clone()
        tensor[..., place, :] = vector
        return tensor

    return change
