"""Change the model: its last layer is trained for the task, too; what is gained, what moved, what is forgotten."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from lab.analysis.tasks.logistic import fit
from lab.analysis.tasks.teaching import products_of
from lab.analysis.tasks.tuning import STEPS, Moved, Tuned, moved, scores, tune
from lab.analysis.tasks.vectors import mark_of, together
from lab.analysis.words.in_blank import BLANK as HIDDEN
from lab.analysis.words.in_blank import blank_of
from lab.analysis.words.predictions import candidates
from lab.charts.base.axes import Axis
from lab.charts.base.figure import Figure
from lab.charts.cells.heatmap import heatmap
from lab.course.sentences.first import BLANK, FIRST
from lab.course.words import quoted, share
from lab.figures.axes import KEY, WEIGHT
from lab.lessons.a_task_of_your_own import LESSON
from lab.lessons.a_task_of_your_own.trained_layer import (
    ENOUGH,
    Split,
    chosen_split,
    show_with_trained,
    tuned_again,
)
from lab.lessons.a_task_of_your_own.what_cls_knows import mark_in_words, mark_name
from lab.models.loading import LoadedModel
from lab.models.memo import once
from lab.models.trace import trace
from lab.questions.asking import asks
from lab.questions.basis import derivable
from lab.questions.kinds import which_holds
from lab.questions.question import Question
from lab.questions.spot import Spot
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import meaning, say_more
from lab.ui.frame.header import idea
from lab.ui.parameters import TAUGHT, TAUGHT_OWN
from lab.ui.play import LessonRun
from lab.ui.tables import show_table
from lab.ui.terms import say

IDEA = """
So far the model has not changed; only a classifier on top was learned. Now train the **last layer**, too, by the steps
of lesson 10: its weights move, so that the classifier is less often wrong."""
# The sentence whose row of attention is compared, if the lab's sentences are learned.
LOOKED_AT = "The film was not good."
_VISIBLE = 0.05  # a change of accuracy that is worth a word
_FEW = 20  # tested sentences; of fewer, nothing is said


@dataclass(frozen=True)
class Gain:
    """How many of the ``tested`` sentences are right: with a classifier alone, and with the trained last layer.

    ``mean`` is how many are right with a classifier that reads the mean of the words after the middle layer.
    """

    before: int
    after: int
    mean: int
    tested: int


def gain(model: LoadedModel, tuned: Tuned, found: Split) -> Gain:
    """Compare classifiers on the unchanged model with the trained model, on the sentences that none has seen."""
    mark, mean = alone(model, found)
    with_layer = scores(tuned.model, tuned.head, [found.task.texts[i] for i in found.tested])
    return Gain(mark, _right(found, with_layer), mean, len(found.tested))


@once
def alone(model: LoadedModel, found: Split) -> tuple[int, int]:
    """How many tested sentences are right by a classifier on the unchanged model: from [CLS], and from the mean."""
    vectors = together(model, found.task.texts)
    products = products_of(vectors.mark), products_of(vectors.mean)
    learned, tested = np.array([found.learned]), list(found.tested)
    mark, mean = (_right(found, fit(each, found.task.truth, learned).scores(each[tested])[0]) for each in products)
    return mark, mean


def _right(found: Split, given: NDArray[np.float64]) -> int:
    return int(((given > 0) == found.task.truth[list(found.tested)]).sum())


@dataclass(frozen=True)
class BestWord:
    """The best word of a blank, and its probability."""

    word: str
    probability: float


def best_word(model: LoadedModel, text: str) -> BestWord | None:
    """Ask a model for the blank of a text; a causal model reads only what is before it. None if it cannot be asked."""
    if model.no_words:
        return None
    prediction = blank_of(partial(trace, model), model, text.replace(BLANK, HIDDEN))
    if prediction is None:
        return None
    found = candidates(prediction, 1, model.tokenizer)[0]
    return BestWord(found.word, found.probability)


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


def said(found: Gain, name: str) -> str:
    """State what the training of the last layer has gained."""
    told = (
        f"Before, a classifier was right about {found.before} of {found.tested} new sentences from {name}, and about "
        f"{found.mean} from the mean of the words. With the trained last layer, it is right about **{found.after}** "
        f"from {name}."
    )
    change = (found.after - found.before) / found.tested
    if found.tested < _FEW:
        return f"{told} That is too few sentences to say more."
    if change > _VISIBLE:
        return f"{told} The training has brought to {name} what the task needs."
    if change < -_VISIBLE:
        return f"{told} It has learned its sentences by heart."
    return told


def said_before(model: LoadedModel, found: Split) -> str:
    """State what the unchanged model can do: the task, from two vectors, and a blank."""
    (mark, mean), count = alone(model, found), len(found.tested)
    told = (
        f"So far, a classifier is right about {mark} of {count} new sentences from {mark_in_words(model)}, and about "
        f"{mean} from the mean of the words."
    )
    text = FIRST[0].text
    now = best_word(model, text)
    if now is None:
        return f"{told} What will the training change?"
    blank = f"In *{text.replace(BLANK, '▢')}* its best word is {quoted(now.word)} ({share(now.probability)})."
    return f"{told} {blank} What will the training change?"


def said_of_blank(before: BestWord, after: BestWord, text: str) -> str:
    """State what the model says now in a blank that it filled before."""
    told = (
        f"*{text.replace(BLANK, '▢')}* Before, the model’s best word was {quoted(before.word)} "
        f"({share(before.probability)})."
    )
    if before.word == after.word:
        return f"{told} It still is, with {share(after.probability)}."
    return (
        f"{told} Now it is {quoted(after.word)} ({share(after.probability)}). The same weights fill blanks, and "
        "nothing kept them good at it."
    )


@asks(
    basis=derivable(LESSON, "change-the-model", "the blank before and after"),
    hint="Which weights did the steps move, and who else uses them?",
)
def why_forgotten(spot: Spot) -> Question | None:
    """Ask why training for one task can change what the model says in a blank."""
    why = (
        "The last layer’s weights serve every task. The steps made the loss of this task smaller, and nothing kept the "
        "loss of the blanks small."
    )
    outcomes = {
        "The same weights fill blanks, and nothing kept them good at it": True,
        "The vocabulary head was trained for the new task": False,
        "The sentences of the task contradict what the model had read": False,
    }
    prompt = "After the last layer was trained for a task, the model fills a blank differently. Why?"
    return which_holds("why-forgotten", prompt, why, outcomes, mixed=True)


def _of_matrices(found: tuple[Moved, ...]) -> pd.DataFrame:
    return pd.DataFrame({"matrix": [each.name for each in found], "moved by": [f"{each.share:.1%}" for each in found]})


@dataclass(frozen=True, eq=False)
class Changed:
    """The results that the page shows of a trained model: its gain, the attention from [CLS], matrices, and a blank.

    ``blank`` has the best word of the first page's blank before and after; it is None if the model fills no blanks.
    """

    gain: Gain
    rows: Figure
    moved: tuple[Moved, ...]
    blank: tuple[BestWord, BestWord] | None


def changed(model: LoadedModel, found: Split, tuned: Tuned) -> Changed:
    """Compare the trained model with the unchanged one."""
    before, after = (best_word(each, FIRST[0].text) for each in (model, tuned.model))
    return Changed(
        gain(model, tuned, found),
        rows_of_attention(model, example_of(found), tuned),
        moved(model, tuned.model),
        None if before is None or after is None else (before, after),
    )


def show(view: LessonRun) -> None:
    """Train the last layer at a click; then show what is gained, what moved and what is forgotten."""
    model, found = view.trace.model, chosen_split()
    idea(IDEA)
    _show_examples(found)
    now = show_with_trained(model, found, "changed", partial(changed, model, found))
    if now is None:
        draw(partial(rows_of_attention, model, example_of(found)), "cls-before-and-after")
        say_more(said_before(model, found))
        return
    again = partial(rows_of_attention, model, example_of(found), tuned_again(model, found))
    draw(now.rows, "cls-before-and-after", again=again)
    meaning(said(now.gain, mark_in_words(model)))
    if now.blank is not None:
        say(f"**The price.** {said_of_blank(*now.blank, FIRST[0].text)}")
    say("**How far the matrices of the layer moved**, as a share of their length:")
    show_table(_of_matrices(now.moved))
    say(
        f"{STEPS} steps take a few seconds. In real fine-tuning, all layers move (Devlin et al. 2019, §4.1). That "
        "takes minutes, so the lab does not offer it."
    )
    code(tune)


def _show_examples(found: Split) -> None:
    whose = "your own sentences" if found.own else "the lab’s sentences with good and bad news"
    say(f"{len(found.learned)} of {whose} are learned. The other {len(found.tested)} test what was learned.")
    if TAUGHT.chosen() == TAUGHT_OWN and not found.own:
        st.caption(f"You have too few of your own: {ENOUGH} of each label are needed (in “Teach it”).")
