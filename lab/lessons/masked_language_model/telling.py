"""A blank through a model: the word that the model expects, and the lab's sentence that shows most about it."""

from __future__ import annotations

from collections.abc import Callable

from lab.analysis.words.masking import mask_of
from lab.analysis.words.predictions import Prediction, prediction_at
from lab.course.sentences.blanks import BLANK, BLANKS, Blank
from lab.models.loading import LoadedModel
from lab.models.trace import Trace

Run = Callable[[str], Trace]  # runs a text through the model


def blank_of(run: Run, model: LoadedModel, text: str) -> Prediction | None:
    """The model's prediction for the blank of ``text``; a causal model reads only the text before the blank."""
    before, _, _ = text.partition(BLANK)
    if model.config.causal:
        read = run(before.rstrip())
        return prediction_at(read, len(read) - 1, None)
    mask = mask_of(model.tokenizer)
    if mask is None:
        return None
    read = run(text.replace(BLANK, mask[0]))
    places = [i for i, token_id in enumerate(read.token_ids) if token_id == mask[1]]
    return prediction_at(read, places[0], None) if places else None


def telling(run: Run, model: LoadedModel) -> Blank:
    """The first sentence to which this model has two answers, before and after the change; otherwise the first one."""
    for blank in BLANKS:
        both = [blank_of(run, model, text) for text in (blank.text, blank.changed)]
        if len({each.best(1)[0] for each in both if each is not None}) == len(both):
            return blank
    return BLANKS[0]
