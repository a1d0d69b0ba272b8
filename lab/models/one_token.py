"""Compute a layer's output at one token or a few tokens; the last layer of a run that predicts one word needs no more.

The other tokens then need only keys and values, a quarter of the layer's work.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from lab.models import forward
from lab.models.config import ModelConfig
from lab.models.forward import PAPER, Layer, Steps, merge_heads, split_heads
from lab.models.weights import LayerWeights, Weights


def of_token(x: Tensor, places: Tensor) -> Tensor:
    """The token of each text at its place, from 0, (..., b, n, d) -> (..., b, 1, d); ``places`` is (b,), or (1,)."""
    return x[..., torch.arange(x.shape[-3]), places, :].unsqueeze(-2)


def read_by_heads(x: Tensor, w: LayerWeights, config: ModelConfig) -> Tensor:
    """Return the input of self-attention: the layer's input, after LayerNorm if the layer has one before attention."""
    return x if not config.pre_norm or w.norm_1 is None else forward.layer_norm(x, w.norm_1, config.norm_eps)


def from_contexts(x: Tensor, context: Tensor, w: LayerWeights, config: ModelConfig, steps: Steps = PAPER) -> Tensor:
    """A layer's output for single tokens x (..., 1, d) with the heads' ``context`` (..., H, 1, d_k), (..., 1, d)."""
    return forward.run_layer(x, w, config, replace(steps, mix_values=lambda *_: context)).output


def layer_at(x: Tensor, places: Tensor, w: LayerWeights, config: ModelConfig, steps: Steps = PAPER) -> Tensor:
    """One layer's output at one token of each text, (..., b, n, d) -> (..., b, d).

    ``steps`` may change the outputs of heads and neurons, for each token separately; a step that combines tokens would
    see only one token. Raises ValueError for a changed mask.
    """
    if steps.mask is not forward.mask:
        raise ValueError("layer_at masks as the paper does; run the whole layer with another mask.")
    whole = read_by_heads(x, w, config)

    def project_qkv(_: Tensor, w: LayerWeights, heads: int) -> tuple[Tensor, Tensor, Tensor]:
        query, key, value = steps.project_qkv(whole, w, heads)
        if w.rotary is not None:
            query, key = steps.rotate(query, w.rotary), steps.rotate(key, w.rotary)
        return split_heads(of_token(merge_heads(query), places), heads), key, value

    n = x.shape[-2]
    hidden = forward.mask(torch.zeros(n, n), config.causal, w.window)[places][:, None, None]  # (b, 1, 1, n)
    own = replace(steps, project_qkv=project_qkv, rotate=lambda x, _: x, mask=lambda scores, *_: scores + hidden)
    return forward.run_layer(of_token(x, places), w, config, own).output[..., 0, :]


def model_at(x: Tensor, weights: Weights, places: Tensor, steps: Sequence[Steps] = ()) -> Tensor:
    """The last hidden state at one token of each text, (b, n, d) -> (b, d); ``steps`` as in ``forward.run_model``."""
    *below, last = zip(weights.layers, steps or [PAPER] * len(weights.layers), strict=True)
    for w, own in below:
        x = forward.run_layer(x, w, weights.config, own).output
    return layer_at(x, places, last[0], weights.config, last[1])


def layer_rows(x: Tensor, rows: Sequence[int], w: LayerWeights, config: ModelConfig, steps: Steps = PAPER) -> Layer:
    """One layer at only q of a text's n tokens, x (n, d): every step is (q, …), and attention is (H, q, n).

    A step that combines tokens would see only these q tokens. A mask may hide scores, but must not change them.
    """
    whole, at, n = read_by_heads(x, w, config), list(rows), len(x)

    def project_qkv(_: Tensor, w: LayerWeights, heads: int) -> tuple[Tensor, Tensor, Tensor]:
        query, key, value = steps.project_qkv(whole, w, heads)
        if w.rotary is not None:
            query, key = steps.rotate(query, w.rotary), steps.rotate(key, w.rotary)
        return query[:, at], key, value

    def mask(scores: Tensor, causal: bool, window: int | None) -> Tensor:
        return scores + steps.mask(torch.zeros(1, 1, 1).expand(len(scores), n, n), causal, window)[:, at]

    own = replace(steps, project_qkv=project_qkv, rotate=lambda x, _: x, mask=mask)
    return forward.run_layer(x[at], w, config, own)
