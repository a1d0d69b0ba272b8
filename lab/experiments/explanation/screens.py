"""The page of the experiment about explanations, from the learner's own order to the texts behind a mean."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import streamlit as st

from lab.analysis.flow.rollout import rollout
from lab.course.words import escaped, signed
from lab.evidence.published import JAIN
from lab.evidence.shipped import model_hash
from lab.experiments.explanation import meanings, measure, order, texts
from lab.experiments.explanation.agreement import BOUND
from lab.experiments.explanation.figures import (
    agreement_chart,
    as_frame,
    claim_frame,
    layer_chart,
    layer_frame,
    method_table,
)
from lab.experiments.explanation.measure import MEASUREMENT, TEXTS, WORDS, ExplanationTest, asked_texts
from lab.experiments.explanation.methods import STEPS, integrated_gradients, without_each
from lab.models.loading import LoadedModel
from lab.models.trace import Trace
from lab.ui.drawing import code, draw, show_numbers
from lab.ui.experiments.guesses import is_predicted, show_score
from lab.ui.experiments.page import ExperimentPage
from lab.ui.experiments.results import origin, show_rule, show_verdict
from lab.ui.frame.script import meaning
from lab.ui.long_work import offer
from lab.ui.tables import DECIMAL, Column, show_table

_TWIN = Column("untrained twin", 80, DECIMAL, "twin", "The untrained twin: the same model with random weights.")
_ORDERS = (
    Column("method", 170),
    *(Column(name, 80, DECIMAL) for name in ("ρ", "low", "high", "beyond")),
    *(Column(name, 104, DECIMAL) for name in ("beyond, low", "beyond, high")),
    _TWIN,
    Column("n", 50),
)
_CLAIMS = (
    Column("whose", 122),
    Column("verdict", 90),
    Column("first", 140),
    Column("mean of first", 58, DECIMAL, "mean"),
    Column("second", 132),
    Column("mean of second", 58, DECIMAL, "mean"),
    Column("ours", 54, DECIMAL, help="The difference between the two means."),
    Column("low", 52, DECIMAL),
    Column("high", 52, DECIMAL),
    Column("published", 82, DECIMAL),
    replace(_TWIN, width=54),
    Column("n", 46),
)
_LAYERS = (
    Column("layer", 60),
    *(Column(name, 110, DECIMAL) for name in ("raw attention", "length of what arrives", "rollout")),
    *(
        Column(f"twin, {name}", 110, DECIMAL, f"twin: {short}")
        for name, short in (("raw attention", "raw"), ("rollout", "rollout"))
    ),
    *(Column(f"published, {name}", 130, DECIMAL, f"published: {name}") for name in ("raw", "rollout")),
)


def show(page: ExperimentPage) -> Trace | None:
    """Draw the whole experiment; returns one of its runs, for the badge."""
    model = page.model()
    if reason := _untestable(model):
        st.info(f"**Not testable here.** {escaped(reason)}", icon=":material/info:")
        return None
    name, number = f"{MEASUREMENT.id}.{model.id}", order.example(model)
    if not is_predicted(name):
        order.ask_order(model, asked_texts(model)[number][2], open=True)
    if not page.predicted(name, meanings.ASKS):
        return None
    found = measure.known(model)
    if found is None:
        st.markdown(
            f"{escaped(model.id)} has not been measured yet. The measurement takes two minutes for a small model and "
            "far longer for a large one."
        )
        _run(model, "Run the experiment")
        return None
    trace = order.show_order(model, found, number)
    show_score(name, meanings.ASKS, meanings.answers(found))
    _result(model, found)
    with st.expander("The texts behind the means", icon=":material/format_quote:"):
        texts.show(model, found)
    return trace


def _untestable(model: LoadedModel) -> str:
    """The reason why a model cannot be tested, in a sentence; "" if the model can."""
    if not (reason := measure.untestable(model)) and not asked_texts(model):
        return f"The vocabulary of {model.id} has too few whole words for these sentences."
    return reason


def method(model: LoadedModel) -> str:
    """Say in full how the claim is tested on a model; "" if the model cannot be tested."""
    if _untestable(model):
        return ""
    hidden, blank = (
        (
            "The text ends before the word",
            "the mean of all word vectors, because the vocabulary has no mask: a vector that the model never met",
        )
        if model.config.causal
        else ("The word is masked", "the mask, which the model knows from its training")
    )
    return (
        f"The lab asks {escaped(model.id)} for one word in each of {len(asked_texts(model))} sentences of UD English "
        f"EWT, which have {WORDS[0]} to {WORDS[-1]} words. {hidden}; the methods explain ln P of the word that the "
        "model finds likeliest. **Leave-one-out** puts a blank in the place of each token in turn and measures how "
        f"much ln P changes. The blank is {blank}.\n\n**Six methods** also put the tokens in order: **raw attention** "
        "(from the place of the word, mean over heads), its mean over **all layers**, the **length of what arrives** "
        "(‖Σ α·f(x)‖, the vectors that attention adds), **rollout** (attention followed from layer to layer), "
        f"**gradient × input**, and **integrated gradients** ({STEPS} steps from a text of blanks). Gradients count by "
        "their size. Two orders are compared by **Spearman’s ρ**, text by text: 1 means the same order, 0 nothing in "
        "common, −1 the reverse order. **Kendall’s τ**, which Jain & Wallace use, says the same on another scale. We "
        "choose nothing by its result, so all texts count."
    )


def _run(model: LoadedModel, label: str) -> None:
    help = f"The lab explains {TEXTS} predictions with every method, and then the untrained twin’s predictions."
    offer((MEASUREMENT.id, model_hash(model)), label, partial(measure.again, model), help)


def _result(model: LoadedModel, found: ExplanationTest) -> None:
    draw(partial(layer_chart, model), "explanation-layers")
    st.caption(
        "**Leave-one-out** blanks one token at a time. **ρ** is 1 if a method gives the same order, and 0 if the two "
        "orders have nothing in common. A method without layers is drawn as a horizontal line."
    )
    meaning(meanings.meaning_of(found, model.id))
    show_verdict(meanings.verdict_of(found))
    with st.expander("More about the result", icon=":material/notes:"):
        st.markdown(meanings.in_full(found))
        st.caption(meanings.gap_of(found))
    with st.expander("All methods in numbers", icon=":material/table_rows:"):
        _numbers(model, found)
    with st.expander("The three claims in numbers, and why", icon=":material/table_rows:"):
        _claims(found)
    _rule()
    with st.expander(
        "Do the methods agree among themselves?", icon=":material/compare:", on_change="rerun", key="_methods_agree"
    ) as agree:
        if agree.open:
            _agreement(model, found)
    with st.expander("Layer by layer, beside the published figures", icon=":material/table_rows:"):
        show_table(layer_frame(found), _LAYERS)
        st.caption(
            "The published figures are from Abnar & Zuidema 2020, with blank-out, for their model of six layers."
        )
    with origin(found.made, "texts"):
        _run(model, "Measure it again here")
    code(without_each, integrated_gradients, rollout)


def _numbers(model: LoadedModel, found: ExplanationTest) -> None:
    show_table(as_frame(found), _ORDERS)
    st.caption(
        "**ρ**: the agreement with leave-one-out in the last layer, with its 95 % interval (2,000 bootstraps over the "
        "texts). **Beyond**: partial ρ, the agreement that is left when nearness and rarity (how seldom the token "
        "occurs in these sentences) are held fixed. **Nearness alone**: a token counts as more important, the nearer "
        "it is to the blank. **Untrained twin**: the same model with random weights explains its own predictions; "
        "integrated gradients are left out there."
    )
    show_numbers(partial(method_table, model), "explanation-methods", partial(method_table, model))


def _agreement(model: LoadedModel, found: ExplanationTest) -> None:
    draw(partial(agreement_chart, model), "explanation-agreement")
    st.markdown(meanings.yardstick_of(found))
    st.caption(
        "Neely et al. 2022 find that for transformers, no two methods agree strongly. So a rank correlation alone "
        "cannot show that a method is wrong; leave-one-out is only one more method, and it misses what two tokens say "
        "together."
    )


def _claims(found: ExplanationTest) -> None:
    show_table(claim_frame(found), _CLAIMS, long_texts=True)
    for row in found.rows:
        st.markdown(f"**{row.judged.verdict.value.capitalize()}**: {meanings.compared(row)} {row.judged.why}")


def _rule() -> None:
    jain = ", ".join(
        f"{task} {signed(gradient - attention, plus=True)}" for task, (attention, gradient) in JAIN.items()
    )
    show_rule(
        "The effect is the difference between the two means, text by text. Abnar & Zuidema’s figure is a mean over the "
        "upper half of their layers. Nobody published a comparable figure for the other two claims, so a difference "
        f"must be at least {BOUND}. Jain & Wallace measured LSTM classifiers, so their figures are not "
        "comparable. Their tasks also disagree with each other: Kendall’s τ of gradients minus the τ of attention is "
        f"{jain}."
    )
