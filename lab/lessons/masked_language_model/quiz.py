"""The checks of the masked-language-model lesson, on the learner's own text."""

from __future__ import annotations

from functools import partial

from lab.analysis.words.masking import mask_of, maskable, spread, whole_words
from lab.lessons.masked_language_model import LESSON, checks, what_if
from lab.lessons.masked_language_model.telling import telling
from lab.models.interventions import Interventions
from lab.questions.question import Question
from lab.ui import runs
from lab.ui.parameters import MODE, TOY
from lab.ui.quiz.asking import draw_checks
from lab.ui.shared.prediction import PredictionView

_HIDDEN_TOO = 4  # words that are hidden in turn, each in a run of its own


def show_checks(view: PredictionView) -> None:
    """Questions on this text, and one question that the model answers by reading another text."""
    run = partial(runs.run, view.model.id, pair="", changes=Interventions())
    toy = view.page.selection[MODE] == TOY
    questions: list[Question | None] = [
        None if toy else what_if.other_subject(run, view.model, telling(run, view.model)),
        checks.tempered(view.prediction, view.best(1)[0]) if view.causal else _one_more_hidden(view),
        what_if.why_hidden(view.causal),
        next(filter(None, (checks.shifted(each) for each in view.best(5)[2:])), None),
    ]
    draw_checks(LESSON, questions)


def _one_more_hidden(view: PredictionView) -> Question | None:
    """Ask which of up to four visible words, if hidden, costs the best word most; None for a model without a mask."""
    encoding, mask = view.trace.encoding, mask_of(view.model.tokenizer)
    if mask is None:
        return None
    open_to = maskable(encoding, mask[1])
    return what_if.one_more_hidden(view.trace, view.place, spread(whole_words(encoding, open_to), _HIDDEN_TOO))
