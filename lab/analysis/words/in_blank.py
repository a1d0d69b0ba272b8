"""A blank through a model: the prediction for it, and one word as its answer."""

from __future__ import annotations

import re
from collections.abc import Callable

from lab.analysis.words.predictions import Candidate, Prediction, candidate, prediction_at
from lab.models.encoding import MASK
from lab.models.loading import LoadedModel
from lab.models.trace import Trace

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
