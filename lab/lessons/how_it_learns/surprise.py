"""Surprise: the loss of one blank is −ln p of its right word; the loss of a sentence is the mean over its words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial

import numpy as np

from lab.analysis.words.predictions import Candidate, candidate, prediction_at, word_of
from lab.analysis.words.surprise import SentenceLoss, guessing, sentence_loss, surprise, untrained_run
from lab.charts.base.axes import AxisPlaces, Scale
from lab.charts.base.figure import Figure
from lab.charts.marks.bars import bars
from lab.charts.marks.marked import marked_lines
from lab.course.words import VISIBLE, quoted, share
from lab.lessons.how_it_learns import LESSON
from lab.models.catalogue import twin_of
from lab.models.loading import LoadedModel
from lab.models.trace import Trace
from lab.questions.asking import asks
from lab.questions.basis import derivable
from lab.questions.kinds import which_holds
from lab.questions.question import Question
from lab.questions.returning import Spot
from lab.ui import selection
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import meaning, say_more
from lab.ui.frame.header import idea
from lab.ui.parameters import WORD
from lab.ui.shared.prediction import PredictionView
from lab.ui.terms import say

_OFFERED = 8  # words in the menu
_LEAST = 4.0  # the curve reaches at least as high as this loss
_POINTS = 160
OWN, TWIN, GUESS = "this model", "random weights", "a guess"
_APART = 1.0  # nats between two marks whose names can both be read

IDEA = """
A model learns from its mistakes. For this, it needs one number that says how wrong it was. Tell the model the **right
word** of the blank. How surprised is it?"""


def untrained(model: LoadedModel) -> bool:
    """Return whether a model has learned nothing yet."""
    return twin_of(model.id) is not None or model.id.startswith("toy-untrained")


def losses(traced: Trace, place: int, token_id: int) -> Mapping[str, float]:
    """The loss of a word at ``place``: by the model, by its untrained twin, and of a guess among all words."""
    own = surprise(prediction_at(traced, place, None), token_id)
    found = {OWN: own}
    if not untrained(traced.model):
        found[TWIN] = surprise(prediction_at(untrained_run(traced), place, None), token_id)
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
    """One mark in place of two whose names would cover each other: random weights do about as well as a guess."""
    twin, guess = found.get(TWIN), found[GUESS]
    if twin is None or abs(twin - guess) > _APART:
        return found
    return {OWN: found[OWN], f"{TWIN} ≈ {GUESS}": twin}


def said(traced: Trace, place: int, token_id: int) -> str:
    """State the loss of the chosen word, beside the loss of a guess among all words."""
    found, word = losses(traced, place, token_id), quoted(word_of(traced.model.tokenizer, token_id))
    own, guess = found[OWN], found[GUESS]
    probability = share(math.exp(-own))
    told = f"This model gives {word} the probability {probability}, so its loss is −ln {probability} = **{own:.2f}**."
    if abs(own - guess) < VISIBLE:
        return f"{told} A guess among all words would have the same loss."
    side = "less" if own < guess else "**more**"
    more = "" if own < guess else " If it is sure of a wrong word, a model does worse than a guess."
    words = f"{traced.model.config.vocabulary:,} words"
    return f"{told} That is {side} than the {guess:.2f} of a guess among all {words}.{more}"


def said_of_sentence(found: SentenceLoss) -> str:
    """Compare the mean loss of a sentence with that of the untrained twin."""
    own, twin = -found.trained.mean, -found.untrained.mean
    places = [each.place + 1 for each in found.trained.scores]
    part = "" if found.whole else f" of {len(places)} tokens, from token {places[0]} to token {places[-1]},"
    told = f"The mean{part} is **{own:.2f}**"
    if abs(own - twin) < VISIBLE:
        return f"{told}, and {twin:.2f} with random weights: these weights have learned nothing that helps here."
    return f"{told}. With random weights it is {twin:.2f}, and a guess among all words would have {found.guessing:.2f}."


@asks(
    "token",
    basis=derivable(LESSON, "surprise", "the curve of −ln p"),
    hint="What is −ln of one half of p, written with −ln p?",
    returns=1,
)
def halved(spot: Spot) -> Question | None:
    """Ask how the loss grows if another model gives the right word half the probability."""
    outcomes = {
        "By ln 2 = 0.69, whatever p is": True,
        "It is twice as large": False,
        "By more, if p is large": False,
    }
    why = "−ln(p/2) = −ln p + ln 2. Each halving of the probability adds the same 0.69 to the loss."
    prompt = (
        "One model gives the right word the probability p, another gives it half of p. How much larger is its loss?"
    )
    return which_holds("halved", prompt, why, outcomes, mixed=True)


def per_token(traced: Trace) -> Figure:
    """Draw the loss of each token of the text, each hidden in turn."""
    found = sentence_loss(traced)
    assert found is not None
    names = [f"{each.place + 1} {word_of(traced.model.tokenizer, each.token_id)}" for each in found.trained.scores]
    values = [-each.log_probability for each in found.trained.scores]
    return bars(names, values, Scale("Loss (nats)", format=".2f"), title="The loss of each word, if it alone is hidden")


def _words(view: PredictionView) -> Mapping[str, Candidate]:
    """The words that the learner may call right: the word of the text, if it is known, and the model's best words."""
    truth, tokenizer = view.truth, view.model.tokenizer
    known = truth is not None and truth.token_id != view.model.unknown
    first = [truth] if truth is not None and known else []
    found: dict[str, Candidate] = {}
    for each in (*first, *view.best(_OFFERED)):
        found.setdefault(each.word, candidate(view.prediction, each.token_id, tokenizer))
    return found


def show(view: PredictionView) -> Trace:
    """Let the learner say which word is right, and show the loss on its curve; then the mean over the sentence."""
    idea(IDEA)
    offered = _words(view)
    names = list(offered)
    selection.fit_name(WORD, names, names[0])
    word = offered[WORD.menu("The right word", names, names[0], width=260)]
    draw(partial(curve, view.trace, view.place, word.token_id), "loss")
    meaning(said(view.trace, view.place, word.token_id))
    say(
        "This number, −ln p, is the **loss** of the blank. It is 0 if the model gave everything to the right word, and "
        "the less the word got, the larger it is. It is also called **cross-entropy**, and its unit is the nat. The "
        "loss of many words is their mean:"
    )
    _show_sentence(view)
    code(surprise)
    return view.trace


def _show_sentence(view: PredictionView) -> None:
    """Draw the loss of every word of the sentence, and compare the means."""
    found = sentence_loss(view.plain)
    if found is None:
        return
    draw(partial(per_token, view.plain), "sentence-loss")
    say_more(said_of_sentence(found))
