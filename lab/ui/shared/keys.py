"""A sentence in which one head decides the word in the blank; steps of several lessons begin with this sentence."""

from __future__ import annotations

from lab.course.sentences.agreement import ATTRACTIONS
from lab.figures.sentence import Looking
from lab.models.interventions import Interventions
from lab.models.loading import LoadedModel
from lab.models.trace import Trace
from lab.ui import runs
from lab.ui.page import OpenPage
from lab.ui.parameters import DEFAULT_TEXT, MASKED, MODE, PAIR, TEXT, TOY
from lab.ui.shared.borrowed import borrows
from lab.ui.shared.prediction import PredictionView, blank_view, cannot_predict

_KEYS = ATTRACTIONS[0]  # The verb must fit *keys*, not *cabinet*.


def keys_blank(page: OpenPage, model: LoadedModel, of: Looking | None = None) -> PredictionView | None:
    """Draw the sentence of the keys in place of the course's first sentence, and return its blank.

    ``of`` draws the arcs of a head. Returns None if the learner has a text of their own or has turned to the course's,
    or if the model fills no blanks.
    """
    own = TEXT.chosen() != DEFAULT_TEXT or PAIR.chosen() or MASKED.chosen()
    if own or page.selection[MODE] == TOY or model.config.causal or cannot_predict(model):
        return None
    if not borrows("keys", f"its verb is hidden by {_mask(model)[0]}, and it must fit “keys”."):
        return None
    token, mask_id = _mask(model)
    trace = runs.run(model.id, _KEYS.filled(token), "", Interventions())
    return blank_view(page, trace, trace.token_ids.index(mask_id), of)


def is_keys(trace: Trace) -> bool:
    """Return whether a run is about the sentence of :func:`keys_blank`."""
    return trace.text == _KEYS.filled(_mask(trace.model)[0])


def _mask(model: LoadedModel) -> tuple[str, int]:
    return model.mask or ("", -1)
