"""The same architecture with nothing learned: what a model was before its first training step."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor

from lab.models.cards import twin_id
from lab.models.catalogue import Checkpoint, LoadedModel, read_json, read_tensors
from lab.models.weights import read_weights

# Where the families keep the decoder; tied to the token embeddings, it is no matrix of its own.
_DECODERS = ("decoder.weight", "vocab_projector.weight", "lm_head.weight")
_DEFAULT_STD = 0.02


def random_twin(model: LoadedModel, seed: int = 0) -> LoadedModel:
    """``model``'s configuration and tokenizer with weights drawn anew; the same seed gives the same weights.

    Drawn as Hugging Face draws them before training: matrices and embeddings normal with mean 0 and the
    configuration's ``initializer_range`` as standard deviation, the padding token's embedding 0, biases
    0, LayerNorm γ 1 and β 0 (Devlin et al. 2019 trained from 0.02). GPT-2 divides the deviation by √(2 ·
    layers) in the two matrices of a layer that write to the residual stream (Radford et al. 2019, §2.3).
    A tied decoder stays tied. The numbers are not Hugging Face's, only their distribution is.
    """
    folder = model.source
    config = read_json(folder / "config.json") if isinstance(folder, Path) else folder.config
    trained = read_tensors(folder) if isinstance(folder, Path) else folder.tensors
    generator = torch.Generator().manual_seed(seed)
    tied = bool(config.get("tie_word_embeddings", True))
    tensors = {
        name: _draw(name, trained[name], config, generator)
        for name in sorted(trained)  # so that the numbers do not depend on the order in the file
        if _is_weight(trained[name]) and not (tied and name.endswith(_DECODERS))
    }
    weights = read_weights(config, tensors)
    # The call, not the model: a twin must not keep the trained weights in memory.
    made: Any = model.made and partial(cast("Any", random_twin), model.made, seed)
    return LoadedModel(twin_id(model.id, seed), weights, model.tokenizer, Checkpoint(config, tensors), made)


def _is_weight(tensor: Tensor) -> bool:
    """False for the position numbers and causal masks that older checkpoints hold beside the weights."""
    return tensor.is_floating_point() and tensor.ndim <= 2


def _draw(name: str, trained: Tensor, config: Mapping[str, Any], generator: torch.Generator) -> Tensor:
    """A tensor of the shape of ``trained``, as it was before training."""
    if trained.ndim < 2:  # a LayerNorm's gain (γ was called "gamma" once), or something added
        return torch.ones(trained.shape) if name.endswith(("weight", "gamma")) else torch.zeros(trained.shape)
    std = float(config.get("initializer_range") or _DEFAULT_STD)
    if name.endswith("c_proj.weight"):
        std /= math.sqrt(2 * config["n_layer"])
    drawn = torch.randn(trained.shape, generator=generator) * std
    padding = _padding_row(name, config)
    if padding is not None:
        drawn[padding] = 0.0
    return drawn


def _padding_row(name: str, config: Mapping[str, Any]) -> int | None:
    """The row of an embedding table that Hugging Face leaves 0: the padding token's, in RoBERTa its position's too."""
    roberta = config["model_type"] == "roberta"
    if not (name.endswith("word_embeddings.weight") or (roberta and name.endswith("position_embeddings.weight"))):
        return None
    row = config.get("pad_token_id", int(roberta))
    return None if row is None else int(row)
