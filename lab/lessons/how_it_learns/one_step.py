"""One step: the loss over one weight and its slope; then a step of all weights, with a learning rate."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import streamlit as st

from lab.charts.base.axes import AxisPlaces, Scale
from lab.charts.base.figure import Figure
from lab.charts.marks.curve import curve
from lab.charts.marks.lines import marked_lines
from lab.course.words import signed
from lab.lessons.how_it_learns import LESSON
from lab.questions.asking import asks
from lab.questions.question import Option, Question, derivable
from lab.toy import gradient_step
from lab.toy.data import letter
from lab.toy.gradient_step import RATES, REACH, Slope, Weight, descent, sentences, slope
from lab.toy.rules import hidden_id
from lab.toy.training import Plan
from lab.ui.drawing import code, draw
from lab.ui.play import LessonRun
from lab.ui.quiz.step_questions import ask_beside
from lab.ui.screen import meaning, say, say_more
from lab.ui.toys import toy_runs

IDEA = """
The loss says how wrong a model is. How does it get smaller? Here is a **toy**, a model so small that it learns in
seconds. It has learned nothing yet. Move one of its **weights**. All others stay as they are."""
ALL = """
**All weights at once.** *Gradient descent* moves every weight against its own gradient, by gradient × **learning
rate**."""
BATCH = """
The gradient comes from a **batch** of {count} sentences. Each step takes other sentences, so that the model does not
learn only these. This is the plain rule. A whole training uses refined ones, such as AdamW (Loshchilov & Hutter 2019),
which moves each weight by a mean of its gradients so far, in a length of its own."""
_FLAT = 0.02  # a slope this small leads nowhere
_STEP = 1.0  # the learning rate of the nudge of the one weight
_TANGENT = 0.9  # half the length of the straight line at the dot
_APART = 0.01  # positions of the slider
_RATE, _WEIGHT = "_learning_rate", "_one_weight"


def show(view: LessonRun) -> None:
    """Show the valley of one weight with its slope, then a step of all weights."""
    plan = toy_runs.blank_plan(view.page.selection)
    say(IDEA)
    _show_weight(plan)
    say(ALL)
    _show_rate(plan)
    say(BATCH.format(count=sentences(plan)))
    ask_beside(LESSON, which_way())
    code(gradient_step.slope, gradient_step.descent)


@st.fragment
def _show_weight(plan: Plan) -> None:
    """Draw the loss over one weight; the slider and the button move the weight, and redraw only this part."""
    found = gradient_step.weight(plan)
    middle = round(found.value, 2)  # the ends are multiples of the step: otherwise Streamlit's slider leaves its range
    low, high = round(middle - REACH, 2), round(middle + REACH, 2)
    key = f"{_WEIGHT}.{plan.what.id}.{plan.seed}.{plan.layers}.{plan.heads}"
    st.session_state.setdefault(key, middle)

    def nudge() -> None:
        here = st.session_state[key]
        st.session_state[key] = min(high, max(low, here - _STEP * slope(plan, here).gradient))

    with st.container(horizontal=True, vertical_alignment="bottom"):
        say(f"The weight is {name_of(plan, found)} (lesson 2).")
        st.button("One nudge downhill", icon=":material/south_east:", on_click=nudge, key="_nudge")
    value = st.slider("The weight", low, high, step=_APART, key=key, format="%.2f")
    draw(partial(valley, plan, value), "valley")
    here = slope(plan, value)
    meaning(said(here))
    st.caption(checked(here))


@st.fragment
def _show_rate(plan: Plan) -> None:
    """Draw the loss after a step of all weights; the slider chooses the learning rate."""
    rate = st.select_slider("Learning rate", RATES, 0.01, key=_RATE, format_func=lambda each: f"{each:g}")
    draw(partial(by_rate, plan, rate), "rates")
    say_more(said_of_step(taken(plan, rate)))


def name_of(plan: Plan, weight: Weight) -> str:
    """Name the weight: a number in the vector of a letter, or of the blank."""
    owner = "the blank" if weight.row == hidden_id(plan.vocabulary) else f"the letter *{letter(weight.row)}*"
    return f"number {weight.column + 1} of the vector of {owner}"


def valley(plan: Plan, value: float) -> Figure:
    """Draw the loss over one weight, and at ``value`` a ring and a dashed line with the slope of the curve there."""
    found, here = gradient_step.weight(plan), slope(plan, value)
    ends = np.array([max(found.at[0], value - _TANGENT), min(found.at[-1], value + _TANGENT)])
    return curve(
        (found.at, found.losses),
        ([value], [here.loss]),
        ("The weight", "Loss (nats)", "Dot"),
        title="The loss over one weight",
        highlight=0,
        other=(ends, here.loss + here.gradient * (ends - value)),
    )


def said(here: Slope) -> str:
    """State the slope, and in which direction the loss falls."""
    told = f"Here the slope is **{signed(here.gradient)}**"
    if abs(here.gradient) < _FLAT:
        return f"{told}: the curve is nearly flat, so a small move of this weight changes the loss hardly at all."
    more, less = ("larger", "smaller") if here.gradient > 0 else ("smaller", "larger")
    return (
        f"{told}: if the weight gets a little {more}, the loss grows, and if it gets a little {less}, the loss falls."
    )


def checked(here: Slope) -> str:
    """Compare the slope with a finite difference."""
    return (
        "The slope is the **gradient** of this weight. A nudge moves the weight by this slope, so nudges are small "
        f"where the curve is flat, as near the bottom. From the derivatives of all operations, it is "
        f"{signed(here.gradient, 4)}. "
        "From the losses with this weight a little smaller and a little larger, it is "
        f"{signed(here.difference, 4)}."
    )


def by_rate(plan: Plan, rate: float) -> Figure:
    """Draw the loss after one step of all weights over the learning rate, with a mark at ``rate``."""
    found = descent(plan)
    after = {"loss after one step": found.losses, "loss before": np.full(len(RATES), found.loss)}
    mark = {"loss after one step": (rate, float(found.losses[RATES.index(rate)]))}
    x, y = AxisPlaces("Learning rate", RATES), Scale("Loss (nats)", format=".2f")
    return marked_lines(after, mark, x, y, title="One step of all weights, with different learning rates")


@dataclass(frozen=True)
class StepTaken:
    """One step of all weights with a learning rate: the loss before and after, how far the weights moved."""

    rate: float
    before: float
    after: float
    moved: float
    weights: int
    best: float


def taken(plan: Plan, rate: float) -> StepTaken:
    """Take one step with this learning rate; ``best`` is the rate after which the loss is smallest."""
    found = descent(plan)
    best = RATES[int(found.losses.argmin())]
    after = float(found.losses[RATES.index(rate)])
    return StepTaken(rate, found.loss, after, found.moved(rate), found.weights, best)


def said_of_step(found: StepTaken) -> str:
    """State what the step did to the loss, and whether its rate was too large."""
    told = (
        f"All {found.weights:,} weights move together, by {found.moved:.1%} of the length of all weights as one "
        f"vector, and the loss goes from {found.before:.2f} to **{found.after:.2f}**."
    )
    if found.after > found.before:
        return f"{told} This rate is too large: the step jumps over the valley and lands higher up."
    if found.rate < found.best:
        return f"{told} A larger rate would get further in one step."
    if found.rate == RATES[-1] == found.best:
        return f"{told} No smaller rate gets as far in one step."
    return f"{told} A {'larger rate would do worse' if found.rate == found.best else 'smaller rate would do better'}."


@asks(
    basis=derivable(LESSON, "one-step", "the slope of the curve at the dot"),
    hint="On which side of the dot is the curve lower?",
)
def which_way() -> Question:
    """Ask in which direction training moves a weight whose gradient is positive."""
    return Question(
        "which-way",
        "The gradient of a weight is +0.4. What does the next step of gradient descent do with it?",
        (
            Option(
                "It makes the weight smaller",
                "A positive slope means that the loss grows if the weight grows. So the step goes the other way.",
                correct=True,
            ),
            Option(
                "It makes the weight larger, as the gradient is positive",
                "The gradient points to where the loss grows. Training wants it to fall.",
            ),
            Option(
                "It sets the weight to 0.4, as the gradient says",
                "The gradient is a slope, not a place. It says in which direction to go, and the rate says how far.",
            ),
        ),
        mixed=True,
    )


@asks(
    basis=derivable(LESSON, "one-step", "the curve over the learning rate"),
    hint="The slope is only the slope at the dot. What does it know of the curve far away?",
)
def too_far() -> Question:
    """Ask why a step in the right direction can make the loss larger."""
    return Question(
        "too-far",
        "A step went against the gradient, and the loss of the same sentences still grew. Why?",
        (
            Option(
                "The gradient pointed uphill",
                "It always does, and the step went against it. At first, this leads downhill.",
            ),
            Option(
                "The step was too long for the slope at its start",
                "The gradient is the slope at one place. A long step leaves the part of the curve that it describes.",
                correct=True,
            ),
            Option(
                "The batch had too few sentences to be typical",
                "This matters for other sentences. Here, the loss of the same sentences grew.",
            ),
        ),
        mixed=True,
    )
