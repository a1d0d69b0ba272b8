"""Several texts of one length at once: for measurements over many sentences, which need no trace of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from lab.models import forward
from lab.models.trace import inputs

if TYPE_CHECKING:
    from lab.models.config import ModelConfig
    from lab.models.encoding import Encoding
    from lab.models.loading import LoadedModel

# Numbers of attention that a batch may have over all layers: 32 MB.
_NUMBERS_AT_ONCE = 8_000_000


def batches(config: ModelConfig, lengths: Sequence[int]) -> Iterator[list[int]]:
    """The places of texts that may run together: of one length, the shortest first, as many as memory is meant for."""
    for length, places in groupby(sorted(range(len(lengths)), key=lengths.__getitem__), key=lengths.__getitem__):
        same = list(places)
        most = max(1, _NUMBERS_AT_ONCE // (config.layers * config.heads * length**2))
        yield from (same[start : start + most] for start in range(0, len(same), most))


@torch.inference_mode()
def layer_attentions(model: LoadedModel, encodings: Sequence[Encoding]) -> Iterator[Tensor]:
    """The attention of one layer after the other, (texts, H, n, n), for texts of one length n without padding."""
    ids, segments, positions = (torch.stack(each) for each in zip(*(inputs(model, e) for e in encodings), strict=True))
    x = forward.embed(ids, segments, positions, model.weights.embeddings, model.config.norm_eps).output
    for w in model.weights.layers:
        layer = forward.run_layer(x, w, model.config)
        yield layer.attention.attention
        x = layer.output
