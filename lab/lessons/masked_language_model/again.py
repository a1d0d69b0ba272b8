"""The questions of lesson 9 that return later."""

from __future__ import annotations

from collections.abc import Iterator

from lab.analysis.words.masking import asked_run
from lab.analysis.words.predictions import candidate, candidates, prediction_at
from lab.course.words import named
from lab.lessons.masked_language_model import checks
from lab.questions.question import Question
from lab.questions.returning import Spot


def questions(spot: Spot) -> Iterator[Question | None]:
    """Ask which word comes last, and how logits become probabilities."""
    trace, model = spot.trace, spot.trace.model
    asked = asked_run(trace) if model.weights.vocabulary_head is not None else None
    if asked is None:
        return
    run, place = asked
    prediction = prediction_at(run, place, None)
    best = candidates(prediction, 5, model.tokenizer)
    hidden = run is not trace
    truth = candidate(prediction, trace.token_ids[place], model.tokenizer) if hidden else None
    where = f"Hide {named(trace, place)}" if hidden else f"Look at {named(trace, place)}"
    what = "there" if hidden or not model.config.causal else "after it, at temperature 1"
    prompt = f"{where}. Which word does the model find most probable {what}?"
    if truth is not None and truth.rank == 1:  # the prompt has it
        before = f"{where}. The model finds that word most probable there, too."
        yield checks.next_best_word(before, best, model.config.vocabulary)
    else:
        yield checks.best_word(prompt, best[:4], truth, model.config.vocabulary)
    yield checks.others_fall(prediction, best[:3])
    if truth is not None:
        yield checks.shown_word(truth, candidate(prediction_at(trace, place, None), truth.token_id, model.tokenizer))
    yield checks.shifted(best[3])
    if model.config.causal:
        yield checks.tempered(prediction, best[0])
