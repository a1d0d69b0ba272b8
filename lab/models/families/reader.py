"""Read numbers and tensors from a checkpoint by name, or raise an error that says what is missing or wrong."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from lab.models.config import ACTIVATIONS, CheckpointError
from lab.models.weights import Norm


def whole_number(raw: Mapping[str, Any], name: str, least: int = 1) -> int:
    """A whole number from config.json. Raises :class:`CheckpointError` with the number's name if it is invalid."""
    value = raw.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise CheckpointError(f"config.json gives {name} as {value!r}; it must be a whole number from {least}.")
    return value


def small_number(raw: Mapping[str, Any], name: str) -> float:
    """Return LayerNorm's ε from config.json. Raises :class:`CheckpointError` if it is not a number from 0."""
    value = raw.get(name)
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < math.inf:
        raise CheckpointError(f"config.json gives {name} as {value!r}; it must be a number from 0.")
    return float(value)


def activation(raw: Mapping[str, Any], name: str) -> str:
    """Return the lab's name of a non-linearity. Raises :class:`CheckpointError` for one that is not computed."""
    value = raw.get(name)
    if not isinstance(value, str) or value not in ACTIVATIONS:
        raise CheckpointError(f"{name}: the activation {value!r} is not one of {', '.join(ACTIVATIONS)}.")
    return ACTIVATIONS[value]


def padding_id(raw: Mapping[str, Any], rows: int) -> int | None:
    """Return the id of padding. Raises :class:`CheckpointError` if the table of ``rows`` vectors has no such row."""
    value = raw.get("pad_token_id")
    if value is not None and (not isinstance(value, int) or not -rows <= value < rows):
        raise CheckpointError(f"config.json gives pad_token_id as {value!r}, and the table has only {rows} rows.")
    return value


class Reader:
    """The tensors of a checkpoint. A missing or misshapen tensor raises :class:`CheckpointError`."""

    def __init__(self, tensors: Mapping[str, Tensor], prefix: str) -> None:
        # The original BERT checkpoints call LayerNorm's γ and β "gamma" and "beta".
        self._tensors = {
            name.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias"): tensor
            for name, tensor in tensors.items()
        }
        # A base model is saved without the prefix that it has in models with heads.
        self.prefix = prefix if any(name.startswith(prefix) for name in self._tensors) else ""

    def has(self, name: str) -> bool:
        return name in self._tensors

    def has_any(self, *starts: str) -> bool:
        return any(name.startswith(starts) for name in self._tensors)

    def take(self, name: str, *shape: int) -> Tensor:
        if name not in self._tensors:
            raise CheckpointError(f"the checkpoint has no tensor {name!r}; the model cannot be rebuilt without it.")
        tensor = self._tensors[name]
        if tuple(tensor.shape) != shape:
            raise CheckpointError(f"{name!r} has shape {tuple(tensor.shape)}; config.json asks for {shape}.")
        if not tensor.is_floating_point():
            kind = str(tensor.dtype).removeprefix("torch.")
            raise CheckpointError(f"{name!r} has numbers of the kind {kind}; this lab reads floating-point numbers.")
        tensor = tensor.to(torch.float32)
        if not torch.stack(tensor.detach().aminmax()).isfinite().all():
            raise CheckpointError(f"{name!r} has numbers that are infinite or nan; download the checkpoint again.")
        return tensor

    def norm(self, name: str, width: int, bias: bool = True) -> Norm:
        return Norm(self.take(f"{name}.weight", width), self._bias(name, width, bias))

    def linear(self, name: str, inputs: int, outputs: int, bias: bool = True) -> tuple[Tensor, Tensor]:
        """Return a torch ``Linear``, stored as (out, in), transposed to (in, out) without a copy."""
        return self.take(f"{name}.weight", outputs, inputs).T, self._bias(name, outputs, bias)

    def _bias(self, name: str, width: int, there: bool) -> Tensor:
        """Read a bias, or return zeros for an architecture without biases."""
        return self.take(f"{name}.bias", width) if there else torch.zeros(width)

    def conv1d(self, name: str, inputs: int, outputs: int) -> tuple[Tensor, Tensor]:
        """GPT-2's ``Conv1D``, which is stored as (in, out)."""
        return self.take(f"{name}.weight", inputs, outputs), self.take(f"{name}.bias", outputs)
