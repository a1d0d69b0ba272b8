"""The page of the experiment on needed heads, from the prediction to the pairs behind a number."""

from __future__ import annotations

from functools import partial

import streamlit as st

from lab.course.words import escaped
from lab.evidence.lexicon import TEMPLATES
from lab.evidence.shipped import model_hash
from lab.experiments.needed_heads import figures, meanings, measure, sentences
from lab.experiments.needed_heads.ablations import without_each_head
from lab.experiments.needed_heads.claims import CLAIMS, NEEDED, PUBLISHED
from lab.experiments.needed_heads.measure import MEASUREMENT, PAIRS, RANDOM_ORDERS, SAMPLE, NeededTest
from lab.experiments.needed_heads.pruning import importance
from lab.models.loading import LoadedModel
from lab.models.trace import Trace
from lab.ui.drawing import code, draw, show_numbers
from lab.ui.experiments.guesses import show_score
from lab.ui.experiments.page import ExperimentPage
from lab.ui.experiments.results import origin, show_rule, show_verdict
from lab.ui.frame.script import meaning
from lab.ui.long_work import offer
from lab.ui.shared.met_again import met_again
from lab.ui.tables import DECIMAL, SHARE, Column, show_table

_MEASURED = (
    Column("ours", 62, SHARE, "at 0", "The effect when the heads write 0."),
    Column("low", 62, SHARE),
    Column("high", 62, SHARE),
    Column("at its mean", 62, SHARE, "at mean", "The effect when the heads write their mean over the sentence."),
    Column("at its mean, low", 62, SHARE, "low"),
    Column("at its mean, high", 62, SHARE, "high"),
)
_TWIN = Column("untrained twin", 62, SHARE, "twin", "The untrained twin: the same model with random weights.")
_CLAIMS = (
    Column("claim", 150),
    Column("verdict", 96),
    *_MEASURED,
    _TWIN,
    Column("control", 62, SHARE),
    Column("n", 40),
    Column("heads", 106),
)
_BY_TEMPLATE = (
    Column("template", 120),
    Column("claim", 130),
    Column("verdict", 96),
    *_MEASURED,
    _TWIN,
    Column("n", 40),
    Column("costly heads", 76),
)
_TEMPLATES = (
    Column("template", 150),
    Column("example", 150),
    Column("drawn", 58),
    Column("dropped", 70),
    Column("pairs", 54),
    Column("different", 68),
    *(Column(name, 70, SHARE) for name in ("accuracy", "low", "high")),
    Column("untrained twin", 70, SHARE, "twin", "The untrained twin: the same model with random weights."),
    Column("logit difference", 70, DECIMAL, "logit diff."),
)
_ABLATIONS = (
    Column("ablation", 130),
    Column("the head’s replacement", 270),
    Column("heads told from 0", 140),
    *(Column(name, 60) for name in ("of", "fall", "rise")),
    Column("largest", 80),
    Column("change", 80, DECIMAL),
)
_MAP, _TABLE = "_experiment_map", ":material/table_rows:"
_WHY_NOT = Column("why not", 200)
_ELSEWHERE = (
    Column("template", 300),
    Column("accuracy", 90, SHARE, "ours"),
    *(Column(name, 120, SHARE) for name in ("BERT base", "people (Goldberg)", "GPT-2 large", "people (BLiMP)")),
)


def show(page: ExperimentPage) -> Trace | None:
    """Draw the whole experiment; returns one of its runs, for the badge."""
    model = page.model()
    found = measure.known(model)
    if found is None and (reason := measure.untestable(model)):
        st.info(f"**Not testable here.** {escaped(reason)}", icon=":material/info:")
        return None
    name, asked = f"{MEASUREMENT.id}.{model.id}", meanings.asks(model.config)
    if not page.predicted(name, asked):
        return None
    if found is None:
        st.markdown(
            f"{escaped(model.id)} has not been measured yet. Measuring a model of this size takes about {_time(model)}."
        )
        _run(model, "Run the experiment")
        return None
    with st.spinner("Computing the intervals …"):  # computed once for all visits, because it takes seconds
        _ = found.rows
    show_score(name, asked, meanings.answers(found))
    _result(model, found)
    _more(model, found)
    show_rule(meanings.RULES)
    with origin(found.made, "pairs"):
        _run(model, "Measure it again here")
    code(measure.replicate, without_each_head, importance)
    with st.expander("The pairs behind a number", icon=":material/format_quote:"):
        return sentences.show(model, found)


def method(model: LoadedModel) -> str:
    """Say in full how the claim is tested on a model."""
    asked = "after the words before it" if model.config.causal else "at the mask"
    return (
        f"Templates make at least {PAIRS} **minimal pairs**, such as *The boys near the tree* **are** or **is** *old*. "
        "One form fits, the other does not. The **logit difference** is the logit of the good form minus the logit of "
        f"the bad one, {asked}; above 0 the good form wins, and the **accuracy** is the share of pairs in which it "
        "does. Each head is taken away, one at a time: its output becomes 0, or its mean over the sentence. A head, or "
        "an order of heads, is chosen on half **A** and measured on half **B**, which has other nouns. A gradient "
        "finds the least important heads: **I_h** says how much the loss of the good form changes with a factor before "
        "the head; it is divided by the norm of these numbers in the layer."
    )


def _time(model: LoadedModel) -> str:
    minutes = measure.minutes(model.config)
    if minutes < 2:
        return "two minutes or less"
    return f"{minutes:.0f} minutes" if minutes < 90 else f"{minutes / 60:.0f} hours"


def _run(model: LoadedModel, label: str) -> None:
    help = "The model reads every pair without each head, in five ways, and then with more and more heads removed."
    offer((MEASUREMENT.id, model_hash(model)), label, partial(measure.again, model), help)


def _result(model: LoadedModel, found: NeededTest) -> None:
    template = st.session_state.get(_MAP, "")
    template = template if template in _templates(found) else ""  # another model may not have this template
    draw(partial(figures.effect_map, model, template), "needed-heads")
    count = int(found.of(template).sum()) if template else len(found.pairs)
    st.caption(
        f"Mean over {count} pairs. The **logit difference** says how much the model prefers the right form: below 0, "
        "this preference is weaker without the head."
    )
    meaning(meanings.meaning_of(found, model.id))
    show_verdict(meanings.verdict_of(found))
    met_again(model, found.row(NEEDED).heads[0])
    with st.expander("More about the result", icon=":material/notes:"):
        st.markdown(meanings.in_full(found, model.id))
        st.markdown(meanings.bias_of(found))
    with st.expander("All claims in numbers, and why", icon=":material/table_rows:"):
        show_table(figures.claim_frame(found).round(4), _CLAIMS, long_texts=True)
        st.caption(
            f"**For free**: at a cost of less than {meanings.POINTS} of accuracy. **Low** and **high**: the 95 % "
            "interval, or bounds of a share of heads or layers. **Control**: the mean of all other heads; if one head "
            "is kept, the mean of all heads of the layer; for a fifth of the heads, the same number of heads in random "
            "order. **n**: the number of different sentences (only those of B, if heads were chosen). **Heads**: the "
            "heads chosen on A."
        )
        show_numbers(partial(figures.claim_table, model), "needed-claims", partial(figures.claim_table, model))
        for row in found.rows:
            st.markdown(
                f"**{row.judged.verdict.value.capitalize()}**: {CLAIMS[row.id]}. {row.judged.why} Published: "
                f"{PUBLISHED[row.id]}."
            )
        st.caption("BLEU is a score for translations, from 0 to 100.")


def _templates(found: NeededTest) -> dict[str, str]:
    """The names of the templates that the model was tested on, by id; "" means all of them."""
    return {"": "all templates"} | {each.id: each.name for each in TEMPLATES if found.of(each.id).any()}


def _more(model: LoadedModel, found: NeededTest) -> None:
    """Draw, folded, each template, heads taken away together, other ablations, and how often the model is right."""
    with st.expander("Template by template", icon=_TABLE, on_change="rerun", key="_needed_templates") as templates:
        if templates.open:
            _by_template(found)
    with st.expander("Taken away together", icon=_TABLE, on_change="rerun", key="_needed_together") as together:
        if together.open:
            _together(model)
    with st.expander("Taken away in five ways", icon=_TABLE, on_change="rerun", key="_needed_ways") as ways:
        if ways.open:
            _ways(model, found)
    with st.expander(
        "How well the model does with all heads", icon=_TABLE, on_change="rerun", key="_needed_can"
    ) as can:
        if can.open:
            _can(found)


def _by_template(found: NeededTest) -> None:
    names = _templates(found)
    st.selectbox("The map above shows", list(names), key=_MAP, format_func=names.__getitem__)
    st.markdown(meanings.needed_where(found))
    st.markdown(meanings.by_template(found))
    show_table(figures.template_claims(found).round(4), _BY_TEMPLATE, long_texts=True)


def _together(model: LoadedModel) -> None:
    draw(partial(figures.pruning_chart, model), "needed-pruning")
    st.caption(
        "On half B. **I_h**, the gradient importance, says how much the loss of the good form changes with a factor "
        "before the head; it is measured on A and divided by the norm of these numbers in the layer. **Greedily**: at "
        f"each step, the heads whose removal costs least on {SAMPLE} pairs of A are removed, and the other heads are "
        f"measured again. **At random**: the mean over {RANDOM_ORDERS} random orders."
    )


def _ways(model: LoadedModel, found: NeededTest) -> None:
    draw(partial(figures.ablation_map, model), "needed-ablations")
    st.markdown(meanings.agreement_of(found))
    show_table(figures.ablation_frame(found), _ABLATIONS)
    st.caption(
        "All numbers are from half B. **Heads told from 0**: heads with p < 0.05 after Holm’s correction; without such "
        "a head the logit difference **falls** or **rises**. **Largest**: the head whose removal changes the logit "
        "difference most."
    )


def _can(found: NeededTest) -> None:
    frame = figures.template_frame(found)
    show_table(frame.round(4), [*_TEMPLATES, *[_WHY_NOT] * bool(frame["why not"].any())], long_texts=True)
    show_table(frame.round(4), _ELSEWHERE)
    st.caption(
        "**Dropped**: pairs with a word that is not one piece of the vocabulary. **Low** to **high**: the 95 % "
        "interval, over the nouns and verbs that pairs share. The last table is for context: it shows other models, "
        "and people, on other sentences of this kind. The figures for BERT base are from Goldberg 2019, table 3; the "
        "figures for GPT-2 large are from BLiMP (corrected table), which averages over all its sentences with a "
        "subject and a verb."
    )
