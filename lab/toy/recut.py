"""Split a toy's weights into a different number of heads."""

from __future__ import annotations

from functools import partial
from typing import Any, cast

from lab.models.families.registry import read_weights
from lab.models.loading import Checkpoint, LoadedModel


def recut(model: LoadedModel, heads: int) -> LoadedModel:
    """Return a toy with the same matrices but ``heads`` heads; only the configuration contains the number of heads.

    Head h then owns other columns of W_Q, W_K and W_V. The new number of heads is part of the model's name. Raises
    :class:`lab.models.config.CheckpointError` for a number that does not divide the width, and TypeError
    for a model whose checkpoint is a folder.
    """
    if heads == model.config.heads:
        return model
    if not isinstance(model.source, Checkpoint):
        raise TypeError(f"{model.id} was read from a folder; only a model made in memory can be cut anew.")
    config = {**model.source.config, "num_attention_heads": heads}
    tensors = model.source.tensors
    weights = read_weights(config, tensors)
    made: Any = model.made and partial(cast("Any", recut), model.made, heads)
    return LoadedModel(f"{model.id}, {heads} heads", weights, model.tokenizer, Checkpoint(config, tensors), made)
