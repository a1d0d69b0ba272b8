"""Switch heads off, and measure the changes in later layers and in the prediction; and the heads that rest.

A head is off when its d_k numbers are replaced at the *input* of W_O, by 0 or by their mean over the text's tokens
(Michel et al. 2019, §3). Zeroing d_k numbers of the *output* of W_O would instead remove coordinates to which all heads
write.

A row of attention adds up to 1. Clark et al. (2019, §3.2) suppose that a head of BERT that finds nothing gives its
weight to [SEP]; in GPT-2, it goes to the first token (Xiao et al. 2024, §3.1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lab.analysis.heads.metrics import trace_metrics
from lab.analysis.heads.values import Values
from lab.analysis.words.predictions import predictions
from lab.models import forward
from lab.models.ablation import ablate_each_head
from lab.models.config import ModelConfig
from lab.models.memo import once
from lab.models.trace import Trace

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class EachHeadOff:
    """The changes with every head off, one at a time.

    moved            (L, H), the distance that the last layer's vectors moved, as a share of length, mean over tokens
    probabilities    (L, H), the probability of the chosen word, or None without a place
    best             (L, H), the id of the most probable word without the head, or None
    """

    moved: Array
    probabilities: Array | None
    best: NDArray[np.int64] | None


def moved(plain: Tensor, after: Tensor) -> Array:
    """Return the relative distance ‖after − plain‖ / ‖plain‖ of each vector, (..., d) -> (...)."""
    return ((after - plain).norm(dim=-1) / plain.norm(dim=-1)).numpy().astype(np.float64)


@once
@torch.inference_mode()
def each_head_off(trace: Trace, place: int | None, word: int | None, to_mean: bool = False) -> EachHeadOff:
    """Switch every head of the model off, one at a time, in one batched pass.

    Probabilities are for ``word`` (a token id) at ``place``; both are None for a model that predicts no words.
    """
    last = ablate_each_head(trace, to_mean)
    moves = moved(trace.hidden_states[-1], last).mean(axis=-1)
    vocabulary = trace.model.weights.vocabulary_head
    if place is None or word is None or vocabulary is None:
        return EachHeadOff(moves, None, None)
    config, norm, here = trace.model.config, trace.model.weights.final_norm, last[:, :, place]
    read = here if norm is None else forward.layer_norm(here, norm, config.norm_eps)
    logits = forward.vocabulary_logits(read.flatten(0, 1), vocabulary, config).double()
    # Copy, because a view would keep the probabilities of all words in memory, 18 MB for each text.
    probabilities = logits.softmax(dim=-1)[:, word].unflatten(0, moves.shape).numpy().copy()
    best = logits.argmax(dim=-1).unflatten(0, moves.shape).numpy()
    return EachHeadOff(moves, probabilities, best)


@once
def log_change(trace: Trace, place: int, word: int, to_mean: bool = False) -> Array:
    """ln P of ``word``, a token id, at ``place`` with each head off, minus ln P with all heads on, (L, H).

    Raises ValueError for a model without a vocabulary head.
    """
    before = predictions(trace, [place], [None])[0].probabilities[word]
    found = each_head_off(trace, place, word, to_mean)
    if found.probabilities is None:
        raise ValueError("no word was asked about, so no probability changes.")
    return np.asarray(np.log(found.probabilities) - np.log(before))


def multiplications(config: ModelConfig, n: int) -> float:
    """Estimate the number of multiplications in :func:`each_head_off` for n tokens.

    For each of the L·H heads, the layers from the head's own upward are repeated: half of all layers on average.
    """
    linear = 4 * config.width**2 + 2 * config.width * config.ffn_width
    one_layer = n * linear + 2 * n * n * config.width
    return config.layers * config.heads * one_layer * (config.layers + 1) / 2


def longest(config: ModelConfig, numbers: int) -> int:
    """Return the most tokens that a text may have if the vectors of all runs together may have ``numbers`` numbers."""
    return numbers // (config.layers * config.heads * config.width)


def resting_share(trace: Trace) -> Values:
    """Return the share of attention that each head sends from words to special tokens, averaged over the words, (L, H).

    In a model without special tokens, the share sent to the first token; 0 for a text of one token.
    """
    return trace_metrics(trace, only_words=True).removed


def effect_sizes(trace: Trace, place: int | None, word: int | None, to_mean: bool = False) -> Values:
    """Return the size of the change with each head off, (L, H): |change of ln P| of ``word``, a token id, at ``place``.

    If there is no word, the size is the distance that the last layer's vectors move, as a share of their length.
    """
    if place is None or word is None:
        return each_head_off(trace, None, None, to_mean).moved
    return np.abs(log_change(trace, place, word, to_mean))
