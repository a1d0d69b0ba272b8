"""What does [CLS] know? A classifier reads a sentence's label from the vectors after each layer."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from lab.analysis.tasks.probing import Accuracy, LabelledTask, accuracy, right
from lab.analysis.tasks.vectors import read
from lab.charts.base.axes import AxisPlaces, Scale
from lab.charts.base.figure import Figure
from lab.charts.marks.banded import banded_lines
from lab.course.sentences.tasks import NEWS_TASK, TASKS, task_of
from lab.course.words import quoted
from lab.lessons.a_task_of_your_own import LESSON
from lab.models.catalogue import twin_of
from lab.models.loading import LoadedModel
from lab.models.memo import once
from lab.models.trace import Trace
from lab.models.twin import untrained_twin
from lab.questions.asking import asks
from lab.questions.basis import bet
from lab.questions.question import MARGIN, Option, Question, shuffled
from lab.questions.returning import Spot
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import meaning, try_this
from lab.ui.frame.header import idea
from lab.ui.parameters import TASK
from lab.ui.play import LessonRun
from lab.ui.quiz.predictions import predict
from lab.ui.tables import show_table
from lab.ui.terms import say

IDEA = """
{mark} {stands} for the whole sentence. What does its vector know of it? Let a **classifier** read a **label** from the
vector: it learns a weight for each number of the vector. The model does not change."""


@dataclass(frozen=True)
class Known:
    """What each layer knows of a task, (L+1) each: the embeddings, then each layer.

    ``mark`` reads the vector of [CLS] (in a causal model, of the last token), ``mean`` the mean of the words; the
    untrained twin has the same.
    """

    mark: tuple[Accuracy, ...]
    mean: tuple[Accuracy, ...]
    twin_mark: tuple[Accuracy, ...]
    twin_mean: tuple[Accuracy, ...]

    @property
    def best(self) -> int:
        """The layer after which the mean of the words knows most; 0 for the embeddings."""
        return int(np.argmax([each.share for each in self.mean]))


@once
def known(model: LoadedModel, task: str) -> Known:
    """Measure a task on each layer of a model and of its untrained twin."""
    chosen = task_of(task)
    own, twin = (read(each, chosen.texts) for each in (model, untrained_twin(model)))
    return Known(
        *(_by_layer(chosen, vectors) for vectors in (own.mark, own.mean, twin.mark, twin.mean)),
    )


def _by_layer(task: LabelledTask, vectors: NDArray[np.float32]) -> tuple[Accuracy, ...]:
    return tuple(accuracy(task, right(task, layer)) for layer in vectors)


def mark_name(model: LoadedModel) -> str:
    """The name of the token that stands for the whole text."""
    return "the last token" if model.config.causal else "[CLS]"


def series(model: LoadedModel, task: str) -> dict[str, list[float]]:
    """The shares by the names of the lines."""
    found = known(model, task)
    return {
        "mean of the words": [each.share for each in found.mean],
        mark_name(model): [each.share for each in found.mark],
        "mean, random weights": [each.share for each in found.twin_mean],
        f"{mark_name(model)}, random weights": [each.share for each in found.twin_mark],
    }


def by_layer(trace: Trace, task: str) -> Figure:
    """Draw the share of sentences whose label is read rightly after each layer, by the model of ``trace``."""
    found = known(trace.model, task)
    band = [each.low for each in found.mean], [each.high for each in found.mean]
    x = AxisPlaces("Read after layer (0: the embeddings)", range(len(found.mean)))
    first, second = task_of(task).labels
    title = f"Is it {first} or {second}? Share of new sentences that are read rightly"
    scale = Scale("Share right", (0.3, 1.0), ".2f")
    return banded_lines(series(trace.model, task), band, x, scale, title=title, level=0.5)


def _of_100(each: Accuracy) -> str:
    return f"{100 * each.share:.0f} of 100"


def said(model: LoadedModel, task: str) -> str:
    """Compare [CLS] after the last layer with the mean of the words, where it is best."""
    found, mark = known(model, task), mark_name(model)
    last, best = found.mark[-1], found.mean[found.best]
    where = "in the embeddings" if found.best == 0 else f"after layer {found.best}"
    if twin_of(model.id) is not None:
        return (
            f"These weights are random. From {mark}, the classifier reads {_of_100(last)} sentences rightly, from the "
            f"mean of the words {_of_100(best)} at best. That much the words tell without any training."
        )
    told = f"From {mark} after the last layer, the classifier reads **{_of_100(last)}** new sentences rightly."
    mean = f"From the mean of the words {where}, it is **{100 * best.share:.0f}**"
    if best.share - last.share > MARGIN / 2:
        return f"{told} {mean} ({100 * best.low:.0f} to {100 * best.high:.0f}). **The mean knows more.**"
    if last.share - best.share > MARGIN / 2:
        return f"{told} {mean} at best. **{_upper(mark)} knows more.**"
    return f"{told} {mean}: about as many."


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


@asks(
    basis=bet(
        "[CLS] was put there to stand for the whole sentence, so its vector knows most.",
        "Nobody has trained [CLS] for this task, so the words’ own vectors know more.",
    ),
    hint="What was [CLS] trained for, when the model learned to fill blanks?",
)
def who_knows_more(spot: Spot) -> Question | None:
    """Ask whether [CLS] after the last layer or the mean of the words knows more of good and bad news."""
    model = spot.trace.model
    if twin_of(model.id) is not None or model.config.causal:
        return None
    found = known(model, NEWS_TASK)
    last, best = found.mark[-1], found.mean[found.best]
    if abs(best.share - last.share) < MARGIN:
        return None
    told = (
        f"From [CLS], {_of_100(last)} sentences are read rightly. From the mean of the words, {_of_100(best)} are, at "
        "best."
    )
    mean = best.share > last.share
    why = (
        "The vector of each word has what the word means in this sentence. [CLS] was not trained to collect it."
        if mean
        else "The last layer has brought what matters here to [CLS]."
    )
    options = (
        Option("From the vector of [CLS] after the last layer", f"{told} {why}", not mean),
        Option("From the mean of the words’ vectors", f"{told} {why}", mean),
    )
    prompt = "From which vector can a classifier read better whether a sentence brings good or bad news?"
    return shuffled("who-knows-more", prompt, options)


def show(view: LessonRun) -> None:
    """Ask which vector knows more; then show what each layer knows of the chosen task."""
    model = view.trace.model
    stands = "alone has seen every word, so it stands" if model.config.causal else "is meant to stand"
    idea(IDEA.format(mark=_upper(mark_name(model)), stands=stands))
    name = TASK.choose("The label", width=280)
    task = TASKS[name]
    _show_examples(task_of(task))
    if not predict(LESSON, who_knows_more(Spot.of(view.trace)) if task == NEWS_TASK else None):
        return
    draw(partial(by_layer, view.trace, task), "cls-knows")
    meaning(said(model, task))
    say(_why(model))
    others = [each for each in TASKS if each != name]
    try_this("another label. Is it in the same layer?", others[0], {TASK: others[0]})
    with st.expander(
        "Every layer, with intervals", icon=":material/table_rows:", on_change="rerun", key="_cls"
    ) as rows:
        if rows.open:
            say(
                f"{len(task_of(task).texts)} sentences, half of each label. Nine tenths of them are learned, the rest "
                "tested, in turn. An interval comes from drawing the sentences again and again."
            )
            show_table(table(model, task))
    code(right)


def _why(model: LoadedModel) -> str:
    if model.config.causal:
        return "This model reads from left to right, so only its last token has seen the whole sentence."
    return (
        "In the embeddings, [CLS] is the same in every sentence. The layers bring something of the words to it, but "
        "nobody has trained it for this label yet."
    )


def _show_examples(task: LabelledTask) -> None:
    """Show a sentence of either label."""
    shown = [task.texts[task.marks.index(label)] for label in (True, False)]
    say(" · ".join(f"{quoted(text)}: {label}" for text, label in zip(shown, task.labels, strict=True)))


def table(model: LoadedModel, task: str) -> pd.DataFrame:
    """Return the share of each layer with its interval."""
    found, mark = known(model, task), mark_name(model)
    lines = {
        "mean of the words": found.mean,
        mark: found.mark,
        "mean, random weights": found.twin_mean,
        f"{mark}, random weights": found.twin_mark,
    }
    rows = {
        name: [f"{each.share:.2f} ({each.low:.2f}–{each.high:.2f})" for each in line] for name, line in lines.items()
    }
    return pd.DataFrame({"after layer": range(len(found.mean)), **rows})
