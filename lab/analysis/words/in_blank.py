"""A blank through a model: its prediction, one word as its answer or two that compete, and its loss −ln p.

Training makes the loss smaller (Devlin et al. 2019, §3.1, task 1; Radford et al. 2018, §3.1). Its other names are
cross-entropy and negative log-likelihood.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from lab.analysis.words.predictions import Candidate, Prediction, candidate, prediction_at
from lab.models import forward
from lab.models.ablation import ablate_each_head
from lab.models.encoding import MASK
from lab.models.loading import LoadedModel
from lab.models.memo import once
from lab.models.trace import Trace, outputs, trace_encoding
from lab.models.twin import untrained_twin

# The blank in a text, written as BERT's token for a hidden word, and replaced by the token of the model.
BLANK = MASK
_TYPED = re.compile(r"\[MASK\]|_+|▢")  # what a learner may type for a blank
Run = Callable[[str], Trace]  # runs a text through the model


def with_blank(model: LoadedModel, text: str) -> str:
    """Return a text, whose blank may be typed as "_" or "▢", as ``model`` reads it: without a mask, up to the blank."""
    mask = None if model.config.causal else model.mask
    return _TYPED.split(text)[0].rstrip() if mask is None else mask[0].join(_TYPED.split(text))


def blank_at(run: Run, model: LoadedModel, text: str) -> tuple[Trace, int] | None:
    """The run that predicts the blank of ``text``, and the place of the prediction; None without a mask token.

    A causal model reads only the text before the blank.
    """
    if model.config.causal:
        read = run(text.partition(BLANK)[0].rstrip())
        return read, len(read) - 1
    mask = model.mask
    if mask is None:
        return None
    read = run(text.replace(BLANK, mask[0]))
    place = next((i for i, token_id in enumerate(read.token_ids) if token_id == mask[1]), None)
    return None if place is None else (read, place)


def blank_of(run: Run, model: LoadedModel, text: str) -> Prediction | None:
    """The model's prediction for the blank of ``text``; None without a mask token."""
    found = blank_at(run, model, text)
    return None if found is None else prediction_at(*found, None)


def ids_of(model: LoadedModel, word: str) -> tuple[int, ...]:
    """The tokens that are ``word`` alone: with and without a space before it, and a name without its capital, too."""
    spellings = (f"{space}{each}" for each in dict.fromkeys((word, word.lower())) for space in ("", "Ġ", "▁"))
    found = (model.tokenizer.token_to_id(each) for each in spellings)
    return tuple(i for i in found if i is not None and i < model.config.vocabulary)


def in_blank(model: LoadedModel, prediction: Prediction, word: str) -> Candidate | None:
    """Return ``word`` as an answer in the blank, in its most probable spelling; None if it is not a single token."""
    known = [candidate(prediction, i, model.tokenizer) for i in ids_of(model, word)]
    return max(known, key=lambda each: each.logit, default=None)


def surprise(prediction: Prediction, token_id: int) -> float:
    """Return −ln p of a word in nats, without the rounding of a very small p."""
    return prediction.largest + math.log(prediction.total) - float(prediction.scaled[token_id])


def guessing(vocabulary: int) -> float:
    """Return the loss of a model that gives all words of its vocabulary the same probability, ln V, in nats."""
    return math.log(vocabulary)


@once
def untrained_prediction(trace: Trace, place: int) -> Prediction:
    """Return the prediction at a place of the same tokens before the first training step; see :func:`untrained_twin`.

    The run itself is not kept, because the weights of the twin, 92 MB in a small model, would stay with it.
    """
    return prediction_at(trace_encoding(untrained_twin(trace.model), trace.encoding), place, None)


@dataclass(frozen=True, eq=False)
class Preferred:
    """The preference for the first of two words: its share of the probability of both words.

    before    with all heads
    off       (L, H), with each head off, one at a time
    """

    before: float
    off: NDArray[np.float64]


@once
@torch.inference_mode()
def preferred(trace: Trace, place: int, words: tuple[int, int]) -> Preferred:
    """Return the share of the first of two ``words`` (token ids) at ``place``, from 0, as :class:`Preferred`.

    P(first) / (P(first) + P(second)) is the sigmoid of the difference of their logits, so no softmax is needed.

    Raises
    ------
    ValueError
        If the model has no vocabulary head.
    """
    model = trace.model
    read = outputs(model, ablate_each_head(trace)[:, :, place])
    logits = forward.vocabulary_logits(read.flatten(0, 1), model.vocabulary_head, model.config)[:, list(words)].double()
    off = (logits[:, 0] - logits[:, 1]).sigmoid().unflatten(0, read.shape[:2]).numpy()
    first, second = trace.logits(place)[0][list(words)].double()
    return Preferred(float((first - second).sigmoid()), off)
