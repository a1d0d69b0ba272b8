"""What does [CLS] know? A classifier reads a sentence's label from the vectors after each layer."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import pandas as pd
import streamlit as st

from lab.analysis.tasks.probing import Accuracy, LabelledTask, accuracy, lead, right
from lab.analysis.tasks.vectors import middle, read
from lab.charts.base.axes import AxisPlaces, Scale
from lab.charts.base.figure import Figure
from lab.charts.marks.banded import banded_lines
from lab.course.sentences.tasks import NEWS_TASK, TASKS, task_of
from lab.course.words import capital, quoted, token_in_words
from lab.lessons.a_task_of_your_own import LESSON
from lab.models.catalogue import twin_of
from lab.models.loading import LoadedModel
from lab.models.memo import once
from lab.models.twin import untrained_twin
from lab.questions.asking import asks
from lab.questions.basis import bet
from lab.questions.question import MARGIN, Option, Question, shuffled
from lab.questions.spot import Spot
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import meaning, try_this
from lab.ui.frame.header import idea
from lab.ui.parameters import TASK
from lab.ui.play import LessonRun
from lab.ui.quiz.predictions import predict
from lab.ui.tables import show_table
from lab.ui.terms import say

IDEA = """
{mark} {role}. What does its vector know of the sentence? Let a **classifier** read a **label** from the vector: it
learns a weight for each number of the vector. The model does not change."""


@dataclass(frozen=True)
class Known:
    """What each layer knows of a task, (L+1) each: the embeddings, then each layer.

    ``mark`` reads the vector of [CLS] (in a causal model, of the last token), ``mean`` the mean of the words; the
    untrained twin has the same. ``leads`` is how much more the mean of the words knows than [CLS] after each layer.
    """

    mark: tuple[Accuracy, ...]
    mean: tuple[Accuracy, ...]
    twin_mark: tuple[Accuracy, ...]
    twin_mean: tuple[Accuracy, ...]
    leads: tuple[Accuracy, ...]


@once
def known(model: LoadedModel, task: str) -> Known:
    """Measure a task on each layer of a model and of its untrained twin."""
    chosen = task_of(task)
    own, twin = (read(each, chosen.texts) for each in (model, untrained_twin(model)))
    found = [[right(chosen, layer) for layer in each] for each in (own.mark, own.mean, twin.mark, twin.mean)]
    lines = [tuple(accuracy(chosen, layer) for layer in each) for each in found]
    leads = tuple(lead(chosen, mean, mark) for mark, mean in zip(*found[:2], strict=True))
    return Known(lines[0], lines[1], lines[2], lines[3], leads)


def mark_name(model: LoadedModel) -> str:
    """Return the name of the token whose vector is for the whole text, as in a figure."""
    return "the last token" if model.config.causal else model.first_token or "the first token"


def mark_in_words(model: LoadedModel) -> str:
    """Return :func:`mark_name` for Markdown."""
    return token_in_words(mark_name(model))


def series(model: LoadedModel, task: str) -> dict[str, list[float]]:
    """The shares by the names of the lines."""
    found = known(model, task)
    return {
        "mean of the words": [each.share for each in found.mean],
        mark_name(model): [each.share for each in found.mark],
        "mean, random weights": [each.share for each in found.twin_mean],
        f"{mark_name(model)}, random weights": [each.share for each in found.twin_mark],
    }


def by_layer(model: LoadedModel, task: str) -> Figure:
    """Draw the share of sentences whose label is read rightly after each layer of a model."""
    found = known(model, task)
    band = [each.low for each in found.mean], [each.high for each in found.mean]
    x = AxisPlaces("Read after layer (0: the embeddings)", range(len(found.mean)))
    first, second = task_of(task).labels
    title = f"Is it {first} or {second}? Share of new sentences that are right"
    scale = Scale("Share right", (0.3, 1.0), ".2f")
    return banded_lines(series(model, task), band, x, scale, title=title, level=0.5)


def _of_100(each: Accuracy) -> str:
    return f"{100 * each.share:.0f} of 100"


def said(model: LoadedModel, task: str) -> str:
    """Compare [CLS] with the mean of the words after the middle layer, and after the last one."""
    found, mark = known(model, task), mark_in_words(model)
    at = middle(model)
    told = (
        f"After layer {at}, a classifier is right about **{_of_100(found.mark[at])}** new sentences from the vector of "
        f"{mark}, and about **{_of_100(found.mean[at])}** from the mean of the words. {_who(found, at, mark)}"
    )
    if twin_of(model.id) is not None:
        return f"These weights are random. {told}"
    if at == model.config.layers:
        return told
    mean, own = (f"{100 * each[-1].share:.0f}" for each in (found.mean, found.mark))
    return f"{told} After the last layer, these are {own} and {mean} of 100. {_who(found, -1, mark, ' there')}"


def _who(found: Known, at: int, mark: str, where: str = "") -> str:
    """Say which of the two vectors knows more after a layer, if the interval of the difference leaves out 0."""
    if found.leads[at].low > 0:
        return f"**The mean knows more{where}.**"
    if found.leads[at].high < 0:
        return f"**{capital(mark)} knows more{where}.**"
    return f"Neither clearly knows more{where}."


@asks(
    basis=bet(
        "The first token belongs to no word, so the layers collect in it what the sentence says.",
        "Each word’s own vector says what the word means here, and the first token was not trained to collect it.",
    ),
    hint="What was the first token trained for, when the model learned to fill blanks?",
)
def who_knows_more(spot: Spot) -> Question | None:
    """Ask whether [CLS] or the mean of the words knows more of good and bad news, after the middle layer."""
    model = spot.trace.model
    if twin_of(model.id) is not None or model.config.causal or model.first_token is None:
        return None
    found, at = known(model, NEWS_TASK), middle(model)
    if found.leads[at].low <= MARGIN / 2 and found.leads[at].high >= -MARGIN / 2:
        return None
    mean, mark = found.leads[at].share > 0, mark_in_words(model)
    why = (
        f"From {mark}, it is right about {_of_100(found.mark[at])} sentences, from the mean about "
        f"{_of_100(found.mean[at])}."
    )
    options = (
        Option(
            f"From {mark}: it belongs to no word, so the layers collect there what the sentence says", why, not mean
        ),
        Option(f"From the mean of the words: {mark} was not trained to collect what they mean", why, mean),
    )
    prompt = (
        f"A classifier should tell good news from bad news, after layer {at} of {model.config.layers}. From which "
        "vector is it right more often?"
    )
    return shuffled("who-knows-more", prompt, options)


def show(view: LessonRun) -> None:
    """Ask which vector knows more; then show what each layer knows of the chosen task."""
    model = view.trace.model
    idea(IDEA.format(mark=capital(mark_in_words(model)), role=_role(model)))
    name = TASK.choose("The label", width=280)
    task = TASKS[name]
    _show_examples(task_of(task))
    if not predict(LESSON, who_knows_more(Spot.of(view.trace)) if task == NEWS_TASK else None):
        return
    draw(partial(by_layer, view.trace.model, task), "cls-knows")
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


def _role(model: LoadedModel) -> str:
    if model.config.causal:
        return "is the only one that has seen every word"
    return "belongs to no word" if model.first_token else "is a word, for this model adds no token for the whole text"


def _why(model: LoadedModel) -> str:
    if model.config.causal:
        return "This model reads from left to right, so only its last token has seen the whole sentence."
    if model.first_token is None:
        return "The layers bring something of the other words to it, but nobody has trained it for this label yet."
    return (
        f"In the embeddings, {mark_in_words(model)} is the same in every sentence. The layers bring something of the "
        "words to it, but nobody has trained it for this label yet."
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
