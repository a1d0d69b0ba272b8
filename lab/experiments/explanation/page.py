"""Is attention an explanation? The page: what is asked, drawn and said of the result."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from lab.analysis.flow.maps import rollout
from lab.analysis.heads.values import Values
from lab.charts.base.axes import AxisPlaces, Scale
from lab.charts.base.figure import Figure
from lab.charts.marks.lines import lines
from lab.course.words import escaped, quoted, signed
from lab.evidence.intervals import mean_interval
from lab.evidence.verdicts import ABNAR
from lab.experiments.explanation.learners_order import NAMES, NOT_PLAIN, show_before, show_own
from lab.experiments.explanation.measure import (
    BOUND,
    CLAIMS,
    MEASUREMENT,
    ROLLED,
    TELLS,
    TEXTS,
    WEAK,
    WORDS,
    ExplanationTest,
    TestedOrderClaim,
    asked_texts,
    result,
    untestable,
)
from lab.experiments.explanation.methods import (
    ATTENTION,
    AVERAGE,
    GRADIENT,
    NEAR,
    NORMS,
    ROLLOUT,
    STEPS,
    AskedWord,
    Importance,
    integrated_gradients,
    without_each,
)
from lab.models.encoding import word_of
from lab.models.loading import LoadedModel
from lab.questions.bets import Belief, Bet
from lab.questions.question import Right
from lab.ui.experiments.claim_table import NOTHING, ClaimLine, Lines, markdown, number, two_kinds, with_ends
from lab.ui.experiments.experiment import Experiment
from lab.ui.experiments.page import asking_step, look_there
from lab.ui.parameter_kinds import Parameter
from lab.ui.parameters import FLOW_LAYER, TOKEN

# The orders of tokens that the bet is about, in its order, with their names on screen.
_ORDERS = {
    ATTENTION: "attention in the last layer",
    GRADIENT: "the gradient",
    NEAR: "nearness",
}
# The two numbers that each claim compares in each text.
COMPARED = {
    WEAK: ("gradient × input, τ", "attention of the last layer, τ"),
    TELLS: ("attention of the last layer, ρ beyond nearness and rarity", ""),
    ROLLED: ("rollout, upper layers, ρ", "raw attention, upper layers, ρ"),
}
_SAYS = {
    WEAK: "Gradients say more than attention (Jain & Wallace 2019)",
    TELLS: "Attention says something beyond nearness (after Wiegreffe & Pinter 2019)",
    ROLLED: "Rollout says more than attention in the upper layers (Abnar & Zuidema 2020)",
}
BET = Bet(
    "best",
    "The order by blanking says how much the answer depends on each word. Which other order comes nearest to it?",
    (
        Belief(
            "The order by attention in the last layer",
            "The tokens that the model looks at most should matter most.",
            "attention would agree best with the order by blanking",
        ),
        Belief(
            "The order by a gradient",
            "A gradient says how fast the answer changes with a word, and blanking measures such a change.",
            "the gradient would agree best with the order by blanking",
        ),
        Belief(
            "The order by nearness to the missing word",
            "Words that belong together are usually close together.",
            "nearness would agree best with the order by blanking",
        ),
    ),
)


def decided(found: ExplanationTest) -> Right | None:
    """Answer by the order that agrees best, unless 0 is in the interval of its lead."""
    first, second = sorted(_ORDERS, key=lambda name: -_last(found, name).mean())[:2]
    if mean_interval(_last(found, first) - _last(found, second))[0] <= 0:
        return None
    told = (
        f"Its agreement with the order by blanking (Spearman’s ρ) "
        f"is {signed(_last(found, first).mean())}. The next best order, by "
        f"{_ORDERS[second]}, has {signed(_last(found, second).mean())}."
    )
    return list(_ORDERS).index(first), told


def _last(found: ExplanationTest, name: str) -> Values:
    """The ρ with leave-one-out in the last layer, (texts,)."""
    return np.asarray(found.own.rho[name][:, -1])


# The figure: it needs nothing but the model, so a notebook can draw it again.

# The methods that get a line, no more than a reader can tell apart.
_DRAWN = (ATTENTION, AVERAGE, NORMS, ROLLOUT, GRADIENT, NEAR)


def layer_chart(model: LoadedModel) -> Figure:
    """Draw how each method agrees with leave-one-out after each layer, as a mean over the texts.

    A method without layers is a level line; integrated gradients are only in the table. Runs the experiment if its
    result neither ships nor is known yet. Raises ValueError for a model that the experiment cannot test.
    """
    found = result(model)
    rho = found.own.rho
    layers = rho[ATTENTION].shape[1]
    series = {NAMES[name]: np.broadcast_to(rho[name].mean(axis=0), layers) for name in _DRAWN}
    drawn = lines(
        series,
        AxisPlaces("After layer"),
        Scale("Spearman’s ρ with leave-one-out", format=".2f"),
        title=f"Which methods order the tokens as leave-one-out does, in {model.id}",
    )
    return replace(drawn, table=partial(layer_frame, found))


def layer_frame(found: ExplanationTest) -> pd.DataFrame:
    """One line for each layer: raw attention, lengths and rollout, beside Abnar & Zuidema's values if they have any."""
    rho = found.own.rho
    layers = rho[ATTENTION].shape[1]
    columns: dict[str, object] = {"layer": range(1, layers + 1)}
    columns |= {NAMES[name]: rho[name].mean(axis=0) for name in (ATTENTION, NORMS, ROLLOUT)}
    columns |= {f"twin, {NAMES[name]}": found.twin.rho[name].mean(axis=0) for name in (ATTENTION, ROLLOUT)}
    published = pd.DataFrame(
        {
            "layer": range(1, len(ABNAR[0]) + 1),
            "published, raw": ABNAR[0],
            "published, rollout": ABNAR[1],
        }
    )
    return pd.DataFrame(columns).merge(published, on="layer", how="outer")


# What is said.


def meaning_of(found: ExplanationTest, model_id: str) -> str:
    """Say how well attention and the plainest baselines agree with leave-one-out, and whether nearness does better."""
    attention, average, near = (float(_last(found, name).mean()) for name in (ATTENTION, AVERAGE, NEAR))
    said = (
        f"In {escaped(model_id)}, the order by attention in the last layer agrees with the order by blanking with a ρ "
        f"of **{signed(attention)}**. With attention averaged over all layers, ρ is {signed(average)}."
    )
    above = [name for rho, name in ((attention, "the last layer"), (average, "the average")) if near > rho]
    than = f"better than {' and '.join(above)}" if above else "worse than both"
    ranked = "Simply ranking the tokens by nearness to the blank, without any model"
    return f"{said} {ranked}, has a ρ of {signed(near)}, {than}."


def line(row: TestedOrderClaim) -> ClaimLine:
    """Return a claim as a line of the table."""
    effect, published = row.tested, CLAIMS[row.claim]
    (first, second), twin = COMPARED[row.claim], row.tested.twin
    beside = f", {second} {number(row.second)}" if second else ""
    return ClaimLine(
        _SAYS[row.claim],
        NOTHING if published is None else number(published),
        f"{with_ends(effect.estimate, effect.low, effect.high)}: {first} {number(row.first)}{beside}",
        NOTHING if twin is None else with_ends(row.twin, twin.low, twin.high),
        effect.count,
        row.judged,
    )


def methods(found: ExplanationTest) -> Lines:
    """A line for each method or control: its ρ with leave-one-out in the last layer, and the twin's."""
    rows = []
    for name, values in found.own.rho.items():
        twin = found.twin.rho.get(name)
        mean = number(float(values[:, -1].mean()))
        low, high = (number(each) for each in mean_interval(values[:, -1]).tolist())
        rows.append(
            (NAMES[name], f"{mean} ({low} to {high})", NOTHING if twin is None else number(float(twin[:, -1].mean())))
        )
    return markdown(("method", "ρ with leave-one-out, last layer", "untrained twin"), rows)


def method(model: LoadedModel) -> str:
    """Say in full how the claim is tested on a model; "" if the model cannot be tested."""
    if untestable(model):
        return ""
    hidden, blank = (
        (
            "The text ends before the word",
            "the mean of all word vectors, because the vocabulary has no mask. The model never met this vector in "
            "training",
        )
        if model.config.causal
        else ("The word is masked", "the mask, which the model knows from its training")
    )
    return (
        f"The lab asks {escaped(model.id)} for one word in each of {len(asked_texts(model))} sentences of UD English "
        f"EWT, which have {WORDS[0]} to {WORDS[-1]} words. {hidden}. The methods explain ln P of the word that the "
        "model finds most likely. **Leave-one-out** puts a blank in the place of each token in turn and measures how "
        f"much ln P changes. The blank is {blank}.\n\n**Six methods** also put the tokens in order: **raw attention** "
        "(from the place of the word, averaged over heads), its mean over **all layers**, the **length of what "
        "arrives** "
        "(‖Σ α·f(x)‖, the vectors that attention adds), **rollout** (attention followed from layer to layer), "
        f"**gradient × input**, and **integrated gradients** ({STEPS} steps from a text of blanks). Gradients count by "
        "their size. Two orders are compared by **Spearman’s ρ**, text by text: 1 means the same order, 0 means that "
        "the orders have nothing in common, and −1 means the reverse order. **Kendall’s τ**, which Jain & Wallace "
        "use, says the same thing on another scale. We choose nothing after seeing the results, so all texts count."
    )


def show_texts(model: LoadedModel, found: ExplanationTest) -> None:
    """Draw the texts in which attention and leave-one-out agree most, and others in which they agree least."""
    st.markdown(
        "The token that matters most by leave-one-out is green; the token with the largest weight in the last layer is "
        "orange. A token that is both is green."
    )
    rho = found.own.rho[ATTENTION][:, -1]
    asked = [each for _, _, each in asked_texts(model)]
    order = [at for at in np.argsort(-rho).tolist() if not NOT_PLAIN.search(asked[at].text)]
    half = len(order) // 2
    kinds = {"They agree": order[:half], "They do not": order[half:][::-1]}

    def draw(at: int, key: str) -> None:
        _show_case(model, asked[at], found.texts[at].importance, float(rho[at]), key)

    two_kinds(kinds, draw, "Other texts")


def _show_case(model: LoadedModel, asked: AskedWord, one: Importance, rho: float, key: str) -> None:
    with st.container(border=True):
        st.markdown(marked(model, asked, one))
        expected = word_of(model.tokenizer, one.predicted).strip("␣")
        st.caption(
            f"The model expects {quoted(expected)}, with the probability {np.exp(one.log_p):.2f}. The ρ of the two "
            f"orders is {signed(rho)}."
        )
        with st.container(horizontal=True):
            flow: dict[Parameter[Any], Any] = {TOKEN: asked.place + 1, FLOW_LAYER: 0}
            look_there("flow", asked.text, flow, f"_experiment.flow.{key}", "rollout")
            look_there("masked-language-model", asked.text, {}, f"_experiment.lesson.{key}", asking_step(model))


def marked(model: LoadedModel, asked: AskedWord, one: Importance) -> str:
    """The text as Markdown: blue is the asked place, orange the token with most attention, green the one that matters.

    Words are spelled as in the text: a token that is a part of a word is coloured inside the word.
    """
    heaviest, most = one.scores[ATTENTION][-1].argmax(), np.abs(one.left_out).argmax()
    colours = {asked.context[int(heaviest)]: "orange", asked.context[int(most)]: "green"}
    if not asked.next:
        colours[asked.place] = "blue"
    text, read, marked = asked.encoding.text, 0, ""
    for at, (start, end) in enumerate(asked.encoding.offsets):
        piece = text[max(start, read) : end].strip()
        if asked.encoding.special[at] or not piece:
            continue
        begins = text.index(piece, read)
        between, read = text[read:begins], begins + len(piece)
        marked += " " if between.isspace() else escaped(between)
        marked += f":{colours[at]}-background[{escaped(piece)}]" if at in colours else escaped(piece)
    return marked


# Kendall's τ in the result files of Jain & Wallace 2019, for LSTMs that classify, by task: attention with
# leave-one-out, and gradients with leave-one-out.
JAIN = {"SST": (0.29, 0.66), "IMDb": (0.34, 0.52), "SNLI": (0.29, 0.24)}
_JAIN = ", ".join(f"{task} {signed(gradient - attention, plus=True)}" for task, (attention, gradient) in JAIN.items())


NOTE = (
    "Each figure is the first mean minus the second, text by text, with its 95 % interval (50,000 draws of the texts). "
    "The untrained twin explains its own predictions."
)
EXPERIMENT = Experiment(
    measurement=MEASUREMENT,
    show_before=show_before,
    bet=lambda _: BET,
    decided=decided,
    takes=lambda _: "The measurement takes two minutes for a small model and much longer for a large model.",
    help=f"The lab explains {TEXTS} predictions with every method, and then the untrained twin’s predictions.",
    figure=lambda model, _: partial(layer_chart, model),
    name="explanation-layers",
    caption=lambda *_: (
        "**Leave-one-out** blanks one token at a time. **ρ** is 1 if a method gives the same order as leave-one-out, "
        "and 0 if the two orders have nothing in common. A method that has only one value for the whole model is "
        "drawn as a horizontal line."
    ),
    meaning=meaning_of,
    claims=lambda found: [line(row) for row in found.rows],
    note=NOTE,
    show_own=show_own,
    method=method,
    rule=(
        "The effect is the difference between the two means, text by text. Abnar & Zuidema’s figure is a mean over the "
        "upper half of their layers. Nobody published a comparable figure for the other two claims, so a difference "
        f"counts if it is at least {BOUND}. Jain & Wallace measured LSTM classifiers, so their figures are not "
        "comparable. Their tasks also give different results: Kendall’s τ of gradients minus Kendall’s τ of "
        f"attention is {_JAIN}."
    ),
    data="texts",
    cases="The texts behind the means",
    show_cases=show_texts,
    code=(without_each, integrated_gradients, rollout),
    tables={"The methods": methods},
)
