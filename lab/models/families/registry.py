"""The list of architectures, and the choice of the architecture for a checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from lab.models.config import CheckpointError, ModelConfig
from lab.models.families import bert, distilbert, electra, gpt2, modernbert, roberta
from lab.models.families.family import Family
from lab.models.weights import Weights

FAMILIES: Mapping[str, Family] = {
    module.FAMILY.name: module.FAMILY for module in (bert, roberta, electra, distilbert, gpt2, modernbert)
}


def family_of(raw: Mapping[str, Any]) -> Family:
    """The family of a ``config.json``. Raises :class:`CheckpointError` for a family that the lab does not read."""
    family = FAMILIES.get(str(raw.get("model_type")))
    if family is None:
        raise CheckpointError(f"model_type is {raw.get('model_type')!r}; this lab reads {', '.join(FAMILIES)}.")
    return family


def read_config(raw: Mapping[str, Any]) -> ModelConfig:
    """Read a ``config.json``. Raises :class:`CheckpointError` for settings that the lab does not compute."""
    return family_of(raw).read_config(raw)


def read_weights(raw: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> Weights:
    """Adapt a checkpoint: ``raw`` is its config.json, ``tensors`` its state dict.

    Raises :class:`CheckpointError` if a tensor is missing or its shape differs from the
    configuration. A missing tensor is never initialised instead.
    """
    return family_of(raw).read_weights(raw, tensors)
