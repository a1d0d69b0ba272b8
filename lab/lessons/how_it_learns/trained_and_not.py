"""Trained and not: the machine with random weights behind its switch, and the pictures of the course that survive."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from lab.analysis.heads.patterns import trace_patterns
from lab.analysis.words.masking import asked_run, whole_words
from lab.analysis.words.neighbours import nearest_in_table
from lab.analysis.words.predictions import prediction_at, word_of
from lab.analysis.words.surprise import untrained_run
from lab.course.pages import lesson_of, number
from lab.course.words import in_words, quoted, share
from lab.models.loading import LoadedModel
from lab.models.memo import once
from lab.models.trace import Trace
from lab.models.twin import untrained_twin
from lab.ui.frame.closing import meaning
from lab.ui.frame.header import idea
from lab.ui.play import LessonRun
from lab.ui.shared.machine import MachineSetting, show_machine
from lab.ui.tables import show_table
from lab.ui.terms import say

IDEA = """
Here is the machine before its first training step: **the same parts with random weights**. Switch between the two.
Which pictures of the course are still there?"""
# The lessons whose pictures here follow from the formulas, whatever the weights are.
_MADE = ("self-attention", "multi-head-attention")
_CLEAR = 0.5  # a head that spends so much on its pattern has it clearly


@dataclass(frozen=True)
class CoursePicture:
    """One picture of the course: what it shows with trained and with random weights, and whether that is the same."""

    lesson: str
    asked: str
    trained: str
    untrained: str
    survives: bool


def _sums(trace: Trace) -> str:
    """The range of the sums of all rows of attention; one number if they are equal."""
    low, high = (f"{float(each):.2f}" for each in trace.attention.sum(-1).aminmax())
    return low if low == high else f"{low} to {high}"


def _word_of(trace: Trace) -> int | None:
    """The place of the longest whole word of the text."""
    words = whole_words(trace.encoding, [i for i, special in enumerate(trace.encoding.special) if not special])
    return max(words, key=lambda i: len(trace.labels[i]), default=None)


def _near(model: LoadedModel, token_id: int) -> tuple[str, float]:
    nearest = nearest_in_table(model, token_id, 1).nearest[0]
    return nearest.word, nearest.cosine


def _neighbour(trace: Trace, model: LoadedModel) -> CoursePicture | None:
    place = _word_of(trace)
    if place is None:
        return None
    token_id = trace.token_ids[place]
    (now, cosine), (then, other) = _near(trace.model, token_id), _near(model, token_id)
    asked = f"Which word’s vector is most like that of {quoted(trace.labels[place])}?"
    return CoursePicture(
        "embeddings", asked, f"{quoted(now)}, cosine {cosine:.2f}", f"{quoted(then)}, cosine {other:.2f}", now == then
    )


def _previous(trace: Trace, twin: Trace) -> CoursePicture | None:
    scores = [float(trace_patterns(each).previous_token.max()) for each in (trace, twin)]
    if not np.isfinite(scores).all():
        return None
    now, then = (f"{score:.2f} of a row" for score in scores)
    asked = "How much does the clearest head give to the token before?"
    return CoursePicture("head-specialization", asked, now, then, (scores[0] >= _CLEAR) == (scores[1] >= _CLEAR))


def _word(trace: Trace, twin: LoadedModel) -> CoursePicture | None:
    asked = asked_run(trace)
    if asked is None:
        return None
    run, place = asked
    found = []
    for each in (run, untrained_run(run)):
        prediction = prediction_at(each, place, None)
        best = prediction.best(1)[0]
        found.append((word_of(twin.tokenizer, best), share(float(prediction.probabilities[best])), best))
    (now, p, first), (then, q, other) = found
    blank = "Which word comes next?" if trace.model.config.causal else "Which word fits the last blank best?"
    return CoursePicture("masked-language-model", blank, f"{quoted(now)}, {p}", f"{quoted(then)}, {q}", first == other)


@once
def pictures(trace: Trace) -> tuple[CoursePicture, ...]:
    """Compare the pictures of the course with trained and with random weights, on the text of ``trace``."""
    model, twin = untrained_twin(trace.model), untrained_run(trace)
    n, config = len(trace), trace.model.config
    shape = f"{config.heads} × {n} × {n}"
    found = (
        CoursePicture("multi-head-attention", "Which shape has the attention of a layer?", shape, shape, True),
        CoursePicture("self-attention", "What do the weights of a row add up to?", _sums(trace), _sums(twin), True),
        _neighbour(trace, model),
        _previous(trace, twin),
        _word(trace, model),
    )
    return tuple(sorted((each for each in found if each is not None), key=lambda each: number(lesson_of(each.lesson))))


def said(found: tuple[CoursePicture, ...]) -> str:
    """Say which of the pictures are the same with random weights."""
    gone = [each for each in found if not each.survives]
    if not gone:
        return "All of these answers are the same with random weights, so this text shows nothing that was learned."
    kept = len(found) - len(gone)
    made = ", since the architecture makes them" * all(each.lesson in _MADE for each in found if each.survives)
    return (
        f"**{in_words(kept).capitalize()}** of these answers are the same with random weights{made}. "
        f"The other **{in_words(len(gone))}** differ: those were learned."
    )


def show(view: LessonRun) -> None:
    """Draw the machine, which begins with random weights, and compare the pictures of the course."""
    idea(IDEA)
    show_machine(view.trace, "machine-untrained", MachineSetting(here="how-it-learns", twin=True))
    found = pictures(view.trace)
    rows = [(f"{number(lesson_of(each.lesson))}", each.asked, each.trained, each.untrained) for each in found]
    show_table(pd.DataFrame(rows, columns=["lesson", "question", "trained", "random weights"]))
    meaning(said(found))
    say(
        "So a picture alone proves no learning. Whoever finds a pattern in a model should look for it in the "
        "untrained model, too. The experiments of this lab do so."
    )
