"""The toy of the masked-language-model lesson: sentences by a rule, and a small model that learns to fill the blank."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

from lab.analysis.words.masking import masked_run
from lab.analysis.words.predictions import prediction_at
from lab.charts.base.figure import Figure
from lab.course.words import share
from lab.lessons.masked_language_model import LESSON, figures
from lab.models.loading import LoadedModel
from lab.models.trace import Trace
from lab.questions.toys import missing_letter, with_blank
from lab.toy.data import as_text, letter
from lab.toy.rules import rule_named
from lab.toy.runs import number_run
from lab.toy.training import TrainingRun, chance, logits, train
from lab.ui import runs
from lab.ui.drawing import code, draw
from lab.ui.page import LessonPage, OpenPage
from lab.ui.parameters import TOY_RULE
from lab.ui.quiz.predictions import predict
from lab.ui.tables import show_table
from lab.ui.terms import say
from lab.ui.toys import toy_runs
from lab.ui.toys.steps import say_trained, show_validation
from lab.ui.toys.watched import LiveTraining, show_curves

_PURPOSE = (
    "A toy shows how a model learns to fill a blank. Its sentences are letters that follow a rule, and the model "
    "is small enough to learn the rule in seconds."
)


def show_toy_trace(page: OpenPage) -> Trace:
    """Run the chosen sentence through the sidebar's toy, and say how far this toy is trained."""
    plan = toy_runs.blank_plan(page.selection)
    say_trained(_PURPOSE, plan)
    return number_run(toy_runs.toy(plan), as_text(toy_runs.ruled_sentence(page.selection)))


def show_rule(page: LessonPage) -> None:
    """Show the sentences and their rule; validation and summary are behind a click."""
    data, rule = toy_runs.ruled(page.selection), rule_named(page.selection[TOY_RULE])
    say(
        f"{rule.description} Each letter is a word. If you hide one letter, the other letters show which letter it "
        "was. Nobody tells the model the rule. The model only reads sentences like these, each with one hidden "
        "letter, and must find the rule itself."
    )
    blank = [with_blank(words, len(words) - 1) for words in data.sentences]
    columns = {"sentence": [as_text(words) for words in data.sentences], "last letter hidden": blank}
    show_table(pd.DataFrame(columns, index=range(1, len(blank) + 1)), numbered=True)
    following = sum(map(rule.holds, data.sentences))
    found = f"{following} of {len(blank)}"
    show_validation(data, ("sentences follow the rule", "all", found, following == len(blank)))


def show_learning(page: LessonPage) -> None:
    """Show the blank, a prediction, the training with its bars, and its outcome."""
    plan, words = toy_runs.blank_plan(page.selection), toy_runs.ruled_sentence(page.selection)
    place, before = len(words) - 1, runs.untrained_toy(plan)

    def stage(run: TrainingRun) -> Figure:
        return _bars(run.latest.model, words, place)()

    live = LiveTraining(plan, f"The blank of **{with_blank(words, place)}**, while the toy learns:", stage)
    say(
        f"The toy reads **{with_blank(words, place)}** and gives every word of its vocabulary a probability for the "
        "blank. It begins with random weights. After each batch of sentences, training changes the weights a little, "
        "so that the hidden letters become more probable."
    )
    run = live.train_if_asked()
    rule = rule_named(page.selection[TOY_RULE])
    follows = rule.holds(words)
    if not follows:
        say(
            f"Your letters **{as_text(words)}** do not follow the rule, so no letter is right here. You see which "
            "letter the toy expects."
        )
    question = missing_letter(rule, words, place) if follows else None
    if not predict(LESSON, question, in_sight=run is not None):
        return
    live.offer(run)
    if run is None:
        say("The toy has not learned anything yet:")
        draw(_bars(before, words, place), "toy-blank")
    else:
        _show_learned(run, words, place)


def _bars(model: LoadedModel, words: tuple[int, ...], place: int) -> partial[Figure]:
    return partial(figures.whole_vocabulary, _hidden(model, words, place), place, words[place])


def _hidden(model: LoadedModel, words: tuple[int, ...], place: int) -> Trace:
    return masked_run(number_run(model, as_text(words)), (place,))


def _show_learned(run: TrainingRun, words: tuple[int, ...], place: int) -> None:
    """Show the bars before training and now, the share of right answers, the curves, the code."""
    first, now = run.kept[0], run.latest
    left, right = st.columns(2)
    for at, column, title in ((first, left, "Before training"), (now, right, f"After {now.step} steps")):
        with column:
            say(f"**{title}**")
            draw(_bars(at.model, words, place), f"toy-blank-{title.split()[0].lower()}")
    hidden = [_hidden(each.model, words, place) for each in (first, now)]
    before, after = (float(prediction_at(each, place, None).probabilities[words[place]]) for each in hidden)
    say(
        f"**What this means.** Before training, *{letter(words[place])}* had the probability {share(before)}. Now it "
        f"has **{share(after)}**. In **{now.accuracy:.1%}** of new sentences, the right letter is the most probable "
        f"one. Always guessing the most frequent letter would be right in {chance(run.plan):.1%}."
    )
    show_curves(run)
    say("Next, hide any letter of any sentence. The training used the same forward pass as the lessons.")
    code(run.plan.what.draw, logits, train)
