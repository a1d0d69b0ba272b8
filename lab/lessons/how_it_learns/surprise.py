"""Surprise: the loss of a blank is −ln p of its right word."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial

import numpy as np

from lab.analysis.words.in_blank import guessing, surprise, untrained_prediction
from lab.analysis.words.predictions import Candidate, candidate, prediction_at, word_of
from lab.charts.base.axes import AxisPlaces, Scale
from lab.charts.base.figure import Figure
from lab.charts.marks.lines import marked_lines
from lab.course.words import quoted, share
from lab.lessons.how_it_learns import LESSON
from lab.models.catalogue import twin_of
from lab.models.loading import LoadedModel
from lab.models.trace import Trace
from lab.questions.asking import asks
from lab.questions.question import Option, Question, derivable
from lab.ui import selection
from lab.ui.drawing import code, draw
from lab.ui.parameters import WORD
from lab.ui.screen import meaning, say
from lab.ui.shared.prediction import PredictionView

_OFFERED = 8  # words in the menu
_LEAST = 4.0  # the curve reaches at least as high as this loss
_POINTS = 160
OWN, TWIN, GUESS = "this model", "random weights", "a guess"
_APART = 1.0  # nats between two marks whose names can both be read

IDEA = """
A model learns from its mistakes. For this, it needs one number that says how wrong it was. Tell the model the **right
word** of the blank. How surprised is it?"""
READING = """
This model gives {word} the probability {p}, so its loss is −ln {p} ≈ **{loss:.2f}**. A guess among all {count:,} words
would have {guess:.2f}."""
NAMES = """
This number, −ln p, is the **loss** of the blank, also called **cross-entropy**; its unit is the nat. It is 0 if the
model gave everything to the right word, and the less the word got, the larger it is. The loss of many blanks is their
mean."""


def show(view: PredictionView) -> Trace:
    """Let the learner say which word is right, and show the loss on its curve; then the mean over the sentence."""
    say(IDEA)
    offered = _words(view)
    names = list(offered)
    selection.fit_name(WORD, names, names[0])
    word = offered[WORD.menu("The right word", names, names[0], width=260)]
    draw(partial(curve, view.trace, view.place, word.token_id), "loss")
    meaning(said(view.trace, view.place, word.token_id))
    say(NAMES)
    code(surprise)
    return view.trace


def untrained(model: LoadedModel) -> bool:
    """Return whether a model has learned nothing yet."""
    return twin_of(model.id) is not None or model.id.startswith("toy-untrained")


def losses(traced: Trace, place: int, token_id: int) -> Mapping[str, float]:
    """The loss of a word at ``place``: by the model, by its untrained twin, and of a guess among all words."""
    own = surprise(prediction_at(traced, place, None), token_id)
    found = {OWN: own}
    if not untrained(traced.model):
        found[TWIN] = surprise(untrained_prediction(traced, place), token_id)
    return {**found, GUESS: guessing(traced.model.config.vocabulary)}


def curve(traced: Trace, place: int, token_id: int) -> Figure:
    """Draw the loss −ln p over the probability p of the right word, with a mark for each of :func:`losses`."""
    found = _told_apart(losses(traced, place, token_id))
    highest = max(_LEAST, 1.08 * max(found.values()))
    at = np.exp(-np.linspace(0.0, highest, _POINTS))
    marks = {name: (math.exp(-loss), loss) for name, loss in found.items()}
    places, scale = AxisPlaces("Probability of the right word", tuple(at)), Scale("Loss (nats)", (0.0, highest), ".2f")
    title = f"The loss, if “{word_of(traced.model.tokenizer, token_id)}” is right"
    return marked_lines({"−ln p": 0.0 - np.log(at)}, marks, places, scale, title=title, log=False)


def _told_apart(found: Mapping[str, float]) -> Mapping[str, float]:
    """Without the mark of a guess, if its name would cover that of random weights; the text has its loss."""
    twin, guess = found.get(TWIN), found[GUESS]
    if twin is None or abs(twin - guess) > _APART:
        return found
    return {OWN: found[OWN], TWIN: twin}


def said(traced: Trace, place: int, token_id: int) -> str:
    """State the loss of the chosen word, beside the loss of a guess among all words."""
    found = losses(traced, place, token_id)
    return READING.format(
        word=quoted(word_of(traced.model.tokenizer, token_id)),
        p=_as_read(math.exp(-found[OWN])),
        loss=found[OWN],
        count=traced.model.config.vocabulary,
        guess=found[GUESS],
    )


def _as_read(p: float) -> str:
    """Write a small probability with three significant digits, so that −ln p agrees with the loss beside it."""
    return share(p) if p > 0.1 else f"{p:.3g}"


@asks(
    basis=derivable(LESSON, "surprise", "the curve of −ln p"),
    hint="What is −ln of one half of p, written with −ln p?",
)
def halved() -> Question:
    """Ask how the loss grows if another model gives the right word half the probability."""
    return Question(
        "halved",
        "One model gives the right word the probability p, another gives it half of p. How much larger is its loss?",
        (
            Option(
                "It is twice as large, because p is half as large",
                "Then the loss would be 1/p, or the like. The loss is a logarithm: a factor becomes a sum.",
            ),
            Option(
                "By more, if p is small",
                "The curve is steep where p is small. But there, half of p is a small step, too: it adds 0.69 as well.",
            ),
            Option(
                "By ln 2 = 0.69, whatever p is",
                "−ln(p/2) = −ln p + ln 2. Each halving of the probability adds the same 0.69.",
                correct=True,
            ),
        ),
        mixed=True,
    )


def _words(view: PredictionView) -> Mapping[str, Candidate]:
    """The words that the learner may call right: the word of the text, if it is known, and the model's best words."""
    truth, tokenizer = view.truth, view.model.tokenizer
    known = truth is not None and truth.token_id != view.model.unknown
    first = [truth] if truth is not None and known else []
    found: dict[str, Candidate] = {}
    for each in (*first, *view.best(_OFFERED)):
        found.setdefault(each.word, candidate(view.prediction, each.token_id, tokenizer))
    return found
