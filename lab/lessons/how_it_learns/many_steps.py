"""Many steps: a head learns to look one word back; in toy mode, a toy learns to fill a blank while one watches."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import streamlit as st

from lab.analysis.words.in_blank import guessing
from lab.analysis.words.masking import masked_run
from lab.analysis.words.predictions import prediction_at
from lab.charts.base.axes import Axis, AxisPlaces, Scale
from lab.charts.base.figure import Figure
from lab.charts.cells.heatmap import Heatmap, heatmap
from lab.charts.marks.lines import marked_lines
from lab.course.pages import step_name
from lab.course.words import listed, share
from lab.figures import attention
from lab.figures.toy_figures import head_names, whole_vocabulary
from lab.figures.trace_axes import WEIGHT, tokens
from lab.lessons.how_it_learns import LESSON
from lab.models.loading import LoadedModel
from lab.models.trace import Trace
from lab.questions.asking import asks
from lab.questions.question import Option, Question, bet
from lab.questions.toy_questions import with_blank
from lab.toy.data import as_text, letter
from lab.toy.models import number_run
from lab.toy.rules import Rule, rule_named
from lab.toy.training import Plan, Snapshot, TrainingRun, chance, logits, train
from lab.ui import runs
from lab.ui.drawing import code, draw
from lab.ui.parameters import MODE, TOY, TOY_RULE
from lab.ui.play import LessonRun
from lab.ui.quiz.step_questions import ask_beside
from lab.ui.screen import meaning, say
from lab.ui.toys import toy_runs
from lab.ui.toys.watched import LiveTraining

IDEA = """
Training repeats one small step many times, each time with other sentences. Watch a **toy**, a model so small that it
learns in seconds. Its sentences are letters that follow a rule, and nobody tells it the rule."""


def show(view: LessonRun) -> None:
    """Show a head that learns to look one word back; in toy mode, a toy that learns to fill a blank."""
    chosen = view.page.selection
    if chosen[MODE] != TOY:
        show_one_word_back(lambda: ask_beside(LESSON, where_it_looks()))
        return
    plan, words = toy_runs.blank_plan(chosen), toy_runs.ruled_sentence(chosen)
    place, before = len(words) - 1, runs.untrained_toy(plan)

    def stage(run: TrainingRun) -> Figure:
        return letters(run.latest.model, words, place)

    watch = f"The blank of **{with_blank(words, place)}**, while the toy learns:"
    live = LiveTraining(plan, watch, stage, step_name(LESSON, "many-steps"))
    say(IDEA)
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


ONE_BACK = """
Training repeats one small step many times, each time with other sentences. Watch another **toy**, with one head, so
small that it learns in seconds. Its sentences are letters, and the right answer at each letter is the letter before it.
(The first letter has no right answer.) Nobody tells the toy where to look."""
UNTRAINED = "The toy has random weights. Where does its head look? Each row is a letter that looks."
WATCH = "The head’s map, while the toy learns:"
READING = """
After {step} steps, a letter gives the letter before it **{now:.2f}** of its attention, on average ({first:.2f} before
the first step). The loss on new sentences went from {before:.2f} to {after:.2f}."""
WRITTEN = """ So the head has come to look one letter back, though the toy was told only which answers are right. Head
1-3 of lab-minilm mostly looks one token back."""
LIKE = "A real model learns in the same way. The small models of this lab took thousands of such steps."
LEAST = 0.5  # a head that gives the letter before less than this has not learned to look there
SENTENCE = (3, 1, 6, 2, 5, 4, 8, 7)  # letters in no order, each once
PLAN = Plan("previous", layers=1, vocabulary=8, max_length=8, seed=0, heads=1)


def show_one_word_back(ask: Callable[[], bool]) -> None:
    """Show the head of the untrained toy; ``ask`` where it will look; show the training, and any state of it.

    ``ask`` returns whether the answer may be seen.
    """
    live = LiveTraining(PLAN, WATCH, lambda run: head_map(run.latest.model), step_name(LESSON, "many-steps"))
    say(ONE_BACK)
    run = live.train_if_asked()
    live.offer(run)
    if run is None:
        say(UNTRAINED)
        draw(partial(head_map, runs.untrained_toy(PLAN)), "toy-map")
    if not ask() or run is None:
        return
    _show_one_back(run)
    say(LIKE)
    code(PLAN.what.draw, logits, train)


@st.fragment
def _show_one_back(run: TrainingRun) -> None:
    """Show the loss and the map after the slider's step; the slider redraws only this part."""
    stages = {each.step: each for each in run.stages}
    step = st.select_slider("After training step", list(stages), max(stages), key=f"_stage.{run.plan.steps}.back")
    now = stages.get(step, run.latest)
    left, right = st.columns(2)
    with left:
        draw(partial(head_map, now.model), "toy-map")
    with right:
        draw(partial(falling, run, now.step), "toy-loss")
    meaning(one_back_said(run.kept[0], now))


def head_map(model: LoadedModel) -> Heatmap:
    """Draw where each letter of the sentence looks."""
    return attention.attention_map(number_run(model, as_text(SENTENCE)), 0, 0, title="Where the head looks")


def one_back(model: LoadedModel) -> float:
    """The share that a letter gives to the letter before it, on average."""
    return float(number_run(model, as_text(SENTENCE)).attention[0, 0].diagonal(-1).mean())


def falling(run: TrainingRun, step: int) -> Figure:
    """Draw the loss on new sentences over the steps of the training, and mark one step."""
    steps, losses, _ = zip(*run.curve, strict=True)
    mark = {"chosen step": (float(step), losses[steps.index(step)])}
    x, y = AxisPlaces("Step of training", steps), Scale("Loss", (0.0, math.ceil(2 * max(losses)) / 2), ".2f")
    return marked_lines({"Loss on new sentences": losses}, mark, x, y, title="The loss falls", log=False)


def one_back_said(first: Snapshot, now: Snapshot) -> str:
    """Say how much the head looks one letter back, and what became of the loss."""
    share = one_back(now.model)
    told = READING.format(
        step=now.step, now=share, first=one_back(first.model), before=first.loss, after=now.loss
    )  # fmt: skip
    return told + WRITTEN * (share >= LEAST)
