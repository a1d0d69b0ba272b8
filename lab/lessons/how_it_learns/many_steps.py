"""Many steps: a head learns to look one word back; in toy mode, a toy learns to fill a blank while one watches."""

from __future__ import annotations

from functools import partial

import streamlit as st

from lab.analysis.words.blank_loss import guessing
from lab.analysis.words.masking import masked_run
from lab.analysis.words.predictions import prediction_at
from lab.charts.base.axes import Axis
from lab.charts.base.figure import Figure
from lab.charts.cells.heatmap import Heatmap, heatmap
from lab.course.pages import step_name
from lab.course.words import listed, share
from lab.figures.toy_figures import head_names, whole_vocabulary
from lab.figures.trace_axes import WEIGHT, tokens
from lab.lessons.how_it_learns import LESSON, one_word_back
from lab.lessons.how_it_learns.one_word_back import falling
from lab.models.loading import LoadedModel
from lab.models.trace import Trace
from lab.questions.asking import asks
from lab.questions.basis import bet
from lab.questions.question import Option, Question
from lab.questions.toy_questions import with_blank
from lab.toy.data import as_text, letter
from lab.toy.rules import Rule, rule_named
from lab.toy.run_of_toy import number_run
from lab.toy.training import Snapshot, TrainingRun, chance, logits, train
from lab.ui import runs
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import meaning
from lab.ui.frame.header import idea
from lab.ui.parameters import MODE, TOY, TOY_RULE
from lab.ui.play import LessonRun
from lab.ui.quiz.step_questions import ask_beside
from lab.ui.terms import say
from lab.ui.toys import toy_runs
from lab.ui.toys.watched import LiveTraining

IDEA = """
Training repeats one small step many times, each time with other sentences. Watch a **toy**, a model so small that it
learns in seconds. Its sentences are letters that follow a rule, and nobody tells it the rule."""


def show(view: LessonRun) -> None:
    """Show a head that learns to look one word back; in toy mode, a toy that learns to fill a blank."""
    chosen = view.page.selection
    if chosen[MODE] != TOY:
        one_word_back.show(lambda: ask_beside(LESSON, where_it_looks()))
        return
    plan, words = toy_runs.blank_plan(chosen), toy_runs.ruled_sentence(chosen)
    place, before = len(words) - 1, runs.untrained_toy(plan)

    def stage(run: TrainingRun) -> Figure:
        return letters(run.latest.model, words, place)

    watch = f"The blank of **{with_blank(words, place)}**, while the toy learns:"
    live = LiveTraining(plan, watch, stage, step_name(LESSON, "many-steps"))
    idea(IDEA)
    run = live.train_if_asked()
    rule = rule_named(chosen[TOY_RULE])
    say(
        f"Here is a sentence with a blank: **{with_blank(words, place)}**. {rule.why} So *{letter(words[place])}* "
        "belongs in the blank. Can the toy find this out?"
        if rule.holds(words)
        else f"Your letters **{as_text(words)}** do not follow the rule, so no letter is right. You see what the toy "
        "expects."
    )
    live.offer(run)
    if run is None:
        say("The toy has random weights and has learned nothing yet:")
        draw(partial(letters, before, words, place), "toy-blank")
    else:
        _show_states(run, words, place)
        say("A real model learns in the same way. The small models of this lab took thousands of such steps.")
        code(plan.what.draw, logits, train)


@st.fragment
def _show_states(run: TrainingRun, words: tuple[int, ...], place: int) -> None:
    """Show the loss, the letters and the heads after the slider's step; the slider redraws only this part."""
    stages = {each.step: each for each in run.stages}
    step = st.select_slider("After training step", list(stages), max(stages), key=f"_stage.{run.plan.steps}")
    now = stages.get(step, run.latest)
    left, right_side = st.columns(2)
    with left:
        draw(partial(falling, run, now.step), "toy-loss")
    with right_side:
        draw(partial(letters, now.model, words, place), "toy-blank")
    say("Where do the heads look from the blank? Compare with the random weights of step 0.")
    draw(partial(from_blank, now.model, words, place, now.step), "toy-maps")
    if told := on_right_letter(now, words, place):
        say(told)
    meaning(said(run.kept[0], now, words, place))


@asks(
    basis=bet(
        "A head looks where somebody has told it to look.",
        "Right answers are enough: steps that make the loss smaller move the head, too.",
    ),
    hint="At which letter is the right answer to be seen?",
)
def where_it_looks() -> Question:
    """Ask where the toy's head comes to look, though nobody tells it."""
    return Question(
        "where-it-looks",
        "In training, the toy is told one thing: the right answer at each letter is the letter before it. Where does "
        "its "
        "head look after some hundred steps?",
        (
            Option(
                "From each letter, at the letter before it",
                "There it finds the answer. Each step moves all numbers in the direction in which the loss of its "
                "sentences gets smaller, also those that say where the head looks.",
                correct=True,
            ),
            Option(
                "At all letters alike, as nobody tells it where to look",
                "Nobody does. But a head that looks at the letter before has a smaller loss, and the steps lead there.",
            ),
            Option(
                "From each letter, at this letter itself",
                "A letter says nothing about the one before it: the letters come in no order.",
            ),
        ),
        mixed=True,
    )


def hidden(model: LoadedModel, words: tuple[int, ...], place: int) -> Trace:
    """Run a toy on a sentence of letters with one letter hidden."""
    return masked_run(number_run(model, as_text(words)), (place,))


def right(model: LoadedModel, words: tuple[int, ...], place: int) -> float:
    """The probability that a toy gives the hidden letter."""
    return float(prediction_at(hidden(model, words, place), place, None).probabilities[words[place]])


def letters(model: LoadedModel, words: tuple[int, ...], place: int) -> Figure:
    """Draw the probability of every letter in the blank."""
    return whole_vocabulary(hidden(model, words, place), place, words[place])


def from_blank(model: LoadedModel, words: tuple[int, ...], place: int, step: int) -> Heatmap:
    """Draw where every head of a toy looks from the blank: a row is a head, which adds up to 1."""
    trace = hidden(model, words, place)
    config, rows = model.config, trace.attention[:, :, place].flatten(0, 1).numpy()
    heads = Axis("", [name.capitalize() for name in head_names(config.layers, config.heads)], things="heads")
    title = f"From the blank: every head after step {step}"
    return heatmap(rows, (heads, tokens(trace, "Looks at")), WEIGHT, title=title)


def on_right_letter(now: Snapshot, words: tuple[int, ...], place: int) -> str:
    """Say how much weight each head gives, from the blank, to the letters that belong there; "" if there are none."""
    rule = now.plan.what
    same = [at for at, word in enumerate(words) if at != place and word == words[place]]
    if not isinstance(rule, Rule) or not rule.holds(words) or not same:
        return ""
    config = now.model.config
    given = hidden(now.model, words, place).attention[:, :, place].flatten(0, 1)[:, same].sum(-1).tolist()
    heads = listed(
        [
            f"{name} gives them {each:.2f}"
            for name, each in zip(head_names(config.layers, config.heads), given, strict=True)
        ]
    )
    return (
        f"Each *{letter(words[place])}* of the sentence is the letter that belongs in the blank, so any of them will "
        f"do. From the blank, {heads}."
    )


def said(first: Snapshot, now: Snapshot, words: tuple[int, ...], place: int) -> str:
    """State what the training did to the loss and, if the sentence follows the rule, to the right letter."""
    told = f"In {now.step} steps, the loss on new sentences went from {first.loss:.2f} to **{now.loss:.2f}**"
    if not now.step:
        return (
            f"Before the first step, the loss on new sentences is **{first.loss:.2f}**. A guess among all letters "
            f"would have {guessing(now.plan.vocabulary):.2f}."
        )
    rule = now.plan.what
    if not isinstance(rule, Rule) or not rule.holds(words):
        return f"{told}. The right letter is the most probable one in **{now.accuracy:.0%}** of new sentences."
    before, after = right(first.model, words, place), right(now.model, words, place)
    return (
        f"{told}, and the right letter *{letter(words[place])}* from {share(before)} to **{share(after)}**. In "
        f"{now.accuracy:.0%} of new sentences, the toy’s first choice is right; for comparison, a toy that always says "
        f"the same letter is right in at most {chance(now.plan):.0%}."
    )
