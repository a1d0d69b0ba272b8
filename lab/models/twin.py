"""An architecture that has learned nothing: a model as it was before its first training step."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast
from weakref import WeakValueDictionary

import torch
from torch import Tensor, nn

from lab.models.catalogue import twin_id, twin_of
from lab.models.families.registry import family_of
from lab.models.loading import Checkpoint, LoadedModel, read_checkpoint

# Twins that are in use. A twin is as large as its model but drawn in a moment, so an unused twin is dropped.
_DRAWN: WeakValueDictionary[tuple[LoadedModel, int], LoadedModel] = WeakValueDictionary()
_DRAWING = threading.Lock()


def twin(model: LoadedModel, seed: int) -> LoadedModel:
    """Return :func:`random_twin`, drawn once for all sessions that use the twin at the same time."""
    with _DRAWING:
        found = _DRAWN.get((model, seed))
        if found is None:
            found = _DRAWN[model, seed] = random_twin(model, seed)
        return found


def untrained_seed(model_id: str) -> tuple[str, int]:
    """Return the model whose architecture the twin has, and the twin's seed: 0, or a twin's own seed plus 1."""
    of = twin_of(model_id)
    return (of[0], of[1] + 1) if of else (model_id, 0)


def untrained_twin(model: LoadedModel) -> LoadedModel:
    """Return the untrained twin for comparison with ``model``; see :func:`untrained_seed`."""
    return twin(model, untrained_seed(model.id)[1])


@torch.inference_mode(False)  # so that Hugging Face's module can share the twin's weights
def random_twin(model: LoadedModel, seed: int = 0) -> LoadedModel:
    """A model with ``model``'s configuration and tokenizer and random weights; a seed always gives the same weights.

    Weights are drawn as in Hugging Face before training: matrices and embeddings normal with mean 0 and the
    configuration's ``initializer_range`` as standard deviation, the padding token's embedding 0, biases
    0, LayerNorm γ 1 and β 0 (Devlin et al. 2019 trained from 0.02). GPT-2 and ModernBERT divide the deviation by
    √(2 · layers) in the two matrices of a layer that write to the residual stream (Radford et al. 2019, §2.3);
    ModernBERT redraws numbers beyond two deviations. A tied decoder stays tied. Only the distribution is Hugging
    Face's, not the numbers.
    """
    source = model.source
    checkpoint = read_checkpoint(source) if isinstance(source, Path) else source
    config, trained = checkpoint.config, checkpoint.tensors
    generator = torch.Generator().manual_seed(seed)
    family = family_of(config)
    # A decoder tied to the token embeddings is not a separate matrix.
    tied = family.decoder if config.get("tie_word_embeddings", True) else None

    def draw(shape: torch.Size, name: str) -> Tensor:
        std, cut = family.initial_std(name, config), family.initial_cut(config)
        if cut is None:
            return torch.randn(shape, generator=generator).mul_(std)
        return nn.init.trunc_normal_(torch.empty(shape), std=std, a=-cut * std, b=cut * std, generator=generator)

    tensors = {
        name: _untrained(name, trained[name].shape, draw, family.padding_row(name, config))
        for name in sorted(trained)  # so that the numbers do not depend on the order in the file
        if _is_weight(trained[name]) and name != tied
    }
    # The model's own configuration, because the tokenizer may limit what config.json allows.
    weights = replace(family.read_weights(config, tensors), config=model.config)
    # Keep the call, not the model, so that a twin does not keep the trained weights in memory.
    made: Any = model.made and partial(cast("Any", random_twin), model.made, seed)
    return replace(model, id=twin_id(model.id, seed), weights=weights, source=Checkpoint(config, tensors), made=made)


def _is_weight(tensor: Tensor) -> bool:
    """True for weights, false for the position numbers and causal masks in older checkpoints."""
    return tensor.is_floating_point() and tensor.ndim <= 2


def _untrained(name: str, shape: torch.Size, draw: Callable[[torch.Size, str], Tensor], padding: int | None) -> Tensor:
    """Draw a tensor as it was before training; the row ``padding``, if not None, is 0."""
    if len(shape) < 2:  # a LayerNorm's gain γ (called "gamma" in old checkpoints), or a bias
        return torch.ones(shape) if name.endswith(("weight", "gamma")) else torch.zeros(shape)
    drawn = draw(shape, name)
    if padding is not None:
        drawn[padding] = 0.0
    return drawn
