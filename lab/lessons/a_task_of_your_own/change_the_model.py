"""Change the model: its last layer is trained for the task, too; what is gained, what moved, what is forgotten."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from lab.analysis.tasks.few_examples import products_of
from lab.analysis.tasks.logistic import fit
from lab.analysis.tasks.sentence_vectors import mark_of, together
from lab.analysis.tasks.tuning import STEPS, Tuned, scores, tune
from lab.analysis.words.in_blank import BLANK as HIDDEN
from lab.analysis.words.in_blank import blank_of
from lab.analysis.words.predictions import Candidate, candidates
from lab.charts.base.axes import Axis
from lab.charts.base.figure import Figure
from lab.charts.cells.heatmap import heatmap
from lab.course.sentences.examples import BLANK, FIRST
from lab.course.words import quoted, share
from lab.figures.trace_axes import KEY, WEIGHT
from lab.lessons.a_task_of_your_own import LESSON
from lab.lessons.a_task_of_your_own.mark import is_written_about, mark_in_words, mark_name
from lab.lessons.a_task_of_your_own.trained_layer import (
    ENOUGH,
    Split,
    chosen_split,
    show_with_trained,
    tuned_again,
)
from lab.models.loading import LoadedModel
from lab.models.memo import once
from lab.models.trace import trace
from lab.questions.asking import asks
from lab.questions.question import Option, Question, derivable
from lab.ui.drawing import code, draw
from lab.ui.parameters import TAUGHT, TAUGHT_OWN
from lab.ui.play import LessonRun
from lab.ui.quiz.step_questions import ask_beside
from lab.ui.screen import caption, meaning, say

IDEA = f"""
So far, only the **classifier** has learned. Now {STEPS} steps, like those of lesson 10, also move the weights of the
model’s **last layer**. {{learned}} of {{count}} {{whose}} are learned, and the other {{tested}} test what was
learned."""
BEFORE = """
A classifier on the unchanged model gets {before} of {tested} new sentences right from {mark}, and {mean} from
the mean of the words."""
READING = """
From {mark}, the classifier got {before} of {tested} new sentences right. With the trained layer, it gets **{after}**
right: {gained} are newly right, {lost} newly wrong. From the mean of the words, it got {mean} right.
(It gets {known} of the {count} sentences right that it has learned.)"""
PRICE = "**The price.** *{text}* Before, the model’s best word was {first} ({p}). Now it is {now} ({q})."
CAPTION = """
Every other layer and the vocabulary head are as they were. Usual fine-tuning moves all weights (Devlin et al. 2019,
§3.2)."""


def show(view: LessonRun) -> None:
    """Train the last layer at a click; then show the gain, the vectors that moved and the forgotten capitals."""
    model, found = view.trace.model, chosen_split()
    whose = "sentences of your own" if found.own else "sentences of the lab with good and bad news"
    learned, tested = len(found.learned), len(found.tested)
    say(IDEA.format(learned=learned, count=learned + tested, whose=whose, tested=tested))
    if TAUGHT.chosen() == TAUGHT_OWN and not found.own:
        st.caption(f"You have too few of your own: {ENOUGH} of each label are needed (in “Teach it”).")
    now = show_with_trained(model, found, "changed", partial(changed, model, found))
    if now is None:
        draw(partial(rows_of_attention, model, example_of(found)), "cls-before-and-after")
        meaning(said_before(model, found))
        return
    again = partial(rows_of_attention, model, example_of(found), tuned_again(model, found))
    draw(now.rows, "cls-before-and-after", again=again)
    meaning(READING.format(mark=mark_in_words(model), **vars(now.gain)).strip())
    written = is_written_about(model, own=found.own)
    if ask_beside(LESSON, better_or_luck()):
        if written:
            say(WRITTEN)
        if now.blank is not None:
            say(said_of_blank(*now.blank, FIRST[0].text) + WRITTEN_PRICE * written)
        caption(CAPTION)
    code(tune)


def _listed(counts: Sequence[int]) -> str:
    *most, last = map(str, counts)  # a count may occur twice
    return f"{', '.join(most)} and {last}"


# The course's model and the lab's sentences, computed again by tests: new sentences that are right from [CLS], with a
# classifier alone and in five trainings, each with the learned sentences in another order; how often, in a hundred
# cases, luck alone gives at least such a difference (McNemar's test); capitals that are still named.
ALONE, TRAINED, BY_LUCK, CAPITALS = 44, (51, 47, 46, 50, 51), (4, 58, 77, 7, 4), (5, 23, 13, 19, 20)
NAMED = 37
# Means over twenty ways to halve the sentences, and the 95 % interval of the gain from drawing the pairs again.
HALVED, HALVED_TRAINED, HALVED_MEAN, INTERVAL = 46, 51, 51, (2, 8)
WRITTEN = f"""
**Is [CLS] better now?** One training cannot tell: with the learned sentences in five orders, {ALONE} become
{_listed(TRAINED)}. (Luck alone gives as much in {_listed(BY_LUCK)} of 100 cases, by McNemar’s test.) Twenty ways to
halve the sentences can: on average, {HALVED} become {HALVED_TRAINED}, and the gain’s 95 % interval is {INTERVAL[0]} to
{INTERVAL[1]}. But from the mean of the words, without the training, {HALVED_MEAN} are right on average, too."""
WRITTEN_PRICE = f"""
After the five trainings, the model names {min(CAPITALS)} to {max(CAPITALS)} of the {NAMED} capitals that it named
before."""
# The sentence whose row of attention is compared, if the lab's sentences are learned.
LOOKED_AT = "The film was not good."


@dataclass(frozen=True)
class Gain:
    """How many sentences are right: with a classifier alone, and with the trained last layer.

    Of the ``tested`` sentences, ``before`` and ``after`` are right from [CLS], ``gained`` only after the training,
    ``lost`` only before it, and ``mean`` from the mean of the words after the middle layer. Of the ``count`` sentences
    that were learned, ``known`` are right after the training.
    """

    tested: int
    count: int
    before: int
    after: int
    gained: int
    lost: int
    mean: int
    known: int


def gain(model: LoadedModel, tuned: Tuned, found: Split) -> Gain:
    """Compare classifiers on the unchanged model with the trained model, on the sentences that none has seen."""
    texts, (mark, mean) = found.task.texts, alone(model, found)
    after, known = (
        _right(found, places, scores(tuned.model, tuned.head, [texts[i] for i in places]))
        for places in (found.tested, found.learned)
    )
    right = (int(each.sum()) for each in (mark, after, after & ~mark, mark & ~after, mean, known))
    return Gain(len(after), len(known), *right)


@once
def alone(model: LoadedModel, found: Split) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which tested sentences are right by a classifier on the unchanged model: from [CLS], and from the mean."""
    vectors = together(model, found.task.texts)
    products = products_of(vectors.mark), products_of(vectors.mean)
    learned, tested = np.array([found.learned]), list(found.tested)
    given = (fit(each, found.task.truth, learned).scores(each[tested])[0] for each in products)
    mark, mean = (_right(found, found.tested, each) for each in given)
    return mark, mean


def _right(found: Split, places: Sequence[int], given: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which of these sentences are right by the scores that they were given."""
    hits: NDArray[np.bool_] = (given > 0) == found.task.truth[list(places)]
    return hits


def best_word(model: LoadedModel, text: str) -> Candidate | None:
    """Ask a model for the blank of a text; a causal model reads only what is before it. None if it cannot be asked."""
    if model.no_words:
        return None
    prediction = blank_of(partial(trace, model), model, text.replace(BLANK, HIDDEN))
    return None if prediction is None else candidates(prediction, 1, model.tokenizer)[0]


def example_of(found: Split) -> str:
    """A sentence to look at: the lab's, or the first of the learner's own that was not learned."""
    return found.task.texts[found.tested[0]] if found.own else LOOKED_AT


def rows_of_attention(model: LoadedModel, text: str, tuned: Tuned | None = None) -> Figure:
    """Draw the last layer's attention from [CLS], as a mean over the heads: before the training, and after it."""
    both = [trace(each, text) for each in (model, *([] if tuned is None else [tuned.model]))]
    place = mark_of(both[0].encoding, model.config.causal)
    rows = np.stack([each.attention[-1].mean(0)[place].numpy() for each in both])
    axes = Axis("Last layer", ("before", "after")[: len(both)]), Axis(KEY, both[0].labels)
    title = f"Where {mark_name(model)} looks in the last layer, as a mean over its heads"
    return heatmap(rows, axes, WEIGHT, title=title)


def said_before(model: LoadedModel, found: Split) -> str:
    """State what a classifier on the unchanged model can do from either vector."""
    mark, mean = alone(model, found)
    counts = {"before": int(mark.sum()), "mean": int(mean.sum()), "tested": len(mark)}
    return BEFORE.format(mark=mark_in_words(model), **counts).strip()


def said_of_blank(before: Candidate, after: Candidate, text: str) -> str:
    """State what the model says now in a blank that it filled before."""
    (first, p), (now, q) = ((quoted(each.word), share(each.probability)) for each in (before, after))
    return PRICE.format(text=text.replace(BLANK, "▢"), first=first, p=p, now=now, q=q)


@asks(
    basis=derivable(LESSON, "change-the-model", "newly right and newly wrong, in two trainings"),
    hint="How would 7 and 5 look if each changed sentence had tossed a coin?",
)
def better_or_luck() -> Question:
    """Ask what two trainings that differ only in the order of the sentences show."""
    return Question(
        "better-or-luck",
        "lab-minilm’s last layer is trained twice, on the same sentences in another order. The one time, 8 of the 62 "
        "new sentences are newly right from [CLS], and 1 newly wrong; the other time, 7 are newly right, and 5 wrong. "
        "What do these two trainings show?",
        (
            Option(
                "The training makes [CLS] better at the task",
                "It does, as twenty other halves of the sentences show. But these two trainings do not show it: seven "
                "against five is what coins give.",
            ),
            Option(
                "The first order is the better one, so it should be kept",
                "Who keeps the best of several trainings by its test also keeps the luck in that test.",
            ),
            Option(
                "Only more tests can tell a gain from luck",
                "8 against 1 is rare by luck, 7 against 5 is not, and only the order differs. More sentences can tell.",
                correct=True,
            ),
        ),
        mixed=True,
    )


@dataclass(frozen=True, eq=False)
class Changed:
    """The results that the page shows of a trained model: its gain, the attention from [CLS], and a blank.

    ``blank`` has the best word of the first page's blank before and after; it is None if the model fills no blanks.
    """

    gain: Gain
    rows: Figure
    blank: tuple[Candidate, Candidate] | None


def changed(model: LoadedModel, found: Split, tuned: Tuned) -> Changed:
    """Compare the trained model with the unchanged one."""
    before, after = (best_word(each, FIRST[0].text) for each in (model, tuned.model))
    return Changed(
        gain(model, tuned, found),
        rows_of_attention(model, example_of(found), tuned),
        None if before is None or after is None else (before, after),
    )
