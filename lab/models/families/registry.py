"""The list of architectures, and the choice of the architecture for a checkpoint."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from torch import Tensor

from lab.models.config import CheckpointError
from lab.models.families import bert, distilbert, electra, gpt2, modernbert, roberta
from lab.models.families.family import Family
from lab.models.weights import Weights

FAMILIES: Mapping[str, Family] = {
    family.name: family
    for family in (
        *(module.FAMILY for module in (bert, roberta, electra, distilbert, gpt2, modernbert)),
        *(roberta.XLM_ROBERTA, roberta.CAMEMBERT),
    )
}


def family_of(raw: Mapping[str, Any]) -> Family:
    """The family of a ``config.json``. Raises :class:`CheckpointError` for a family that the lab does not read."""
    family = FAMILIES.get(str(raw.get("model_type")))
    if family is None:
        raise CheckpointError(f"model_type is {raw.get('model_type')!r}; this lab reads {', '.join(FAMILIES)}.")
    return family


def model_type_of(raw: Mapping[str, Any], tensors: Iterable[str], folder: str) -> object:
    """Return the ``model_type`` of a config.json; if the oldest checkpoints' is missing, the family that fits.

    Then the class of the model says the family, or the prefix of the tensors' names, or, as in Hugging Face, the name
    of the folder. None if nothing does.
    """
    if raw.get("model_type") is not None:
        return raw["model_type"]
    named = raw.get("architectures")
    classes = [each for each in named if isinstance(each, str)] if isinstance(named, list) else []
    names = tuple(tensors)
    for family in FAMILIES.values():
        if any(family.is_class(each) for each in classes):
            return family.name
    for family in FAMILIES.values():
        if f"{family.name}." == family.prefix and any(name.startswith(family.prefix) for name in names):
            return family.name
    return next((name for name in sorted(FAMILIES, key=len, reverse=True) if name in folder), None)


def read_weights(raw: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> Weights:
    """Adapt a checkpoint: ``raw`` is its config.json, ``tensors`` its state dict.

    Raises :class:`CheckpointError` if a tensor is missing or its shape differs from the
    configuration. A missing tensor is never initialised instead.
    """
    return family_of(raw).read_weights(raw, tensors)
