"""The page of the experiment about patching, from the prediction to the learner's own pair."""

from __future__ import annotations

from functools import partial

import streamlit as st

from lab.course.words import escaped
from lab.evidence.pairs import can_be_asked
from lab.evidence.shipped import model_hash
from lab.experiments.patching import meanings, measure, own, pairs
from lab.experiments.patching.claims import ALIKE, compared
from lab.experiments.patching.figures import (
    best_frame,
    claim_table,
    estimate_frame,
    relay_frame,
    template_estimates,
    template_map,
)
from lab.experiments.patching.measure import MEASUREMENT, PAIRS, PatchingTest
from lab.experiments.patching.patches import SMALL, patching
from lab.models.loading import LoadedModel
from lab.models.trace import Trace
from lab.ui.drawing import code, draw, show_numbers
from lab.ui.experiments.guesses import show_score
from lab.ui.experiments.page import ExperimentPage
from lab.ui.experiments.results import origin, show_rule, show_verdict
from lab.ui.frame.script import meaning
from lab.ui.long_work import offer
from lab.ui.parameters import PATCH, PATCH_WAY
from lab.ui.shared.met_again import met_again
from lab.ui.tables import DECIMAL, Column, show_table

_CLAIMS = (
    Column("claim", 174),
    Column("direction", 78),
    Column("verdict", 98),
    Column("compared", 152),
    *(
        Column(name, width, DECIMAL)
        for name, width in (("first", 56), ("second", 66), ("effect", 60), ("low", 54), ("high", 54))
    ),
    Column("untrained twin", 58, DECIMAL, "twin", "The same effect in the untrained twin."),
    Column("n", 46),
)
_SITES = (
    Column("direction", 110),
    Column("part", 170),
    Column("best on A", 260),
    *(Column(name, 70, DECIMAL) for name in ("on B", "low", "high", "on A", "A − B")),
)
_RELAYS = (
    Column("direction", 130),
    Column("attention of layer", 140),
    Column("held network", 160),
    *(Column(name, 80, DECIMAL) for name in ("carried", "low", "high")),
)
_ESTIMATES = Column("part", 300), Column("rank correlation", 150, DECIMAL), Column("error", 100, DECIMAL)


def show(page: ExperimentPage) -> Trace | None:
    """Draw the whole experiment; returns one of its runs, for the badge."""
    model = page.model()
    try:
        can_be_asked(model)
    except ValueError as refused:
        st.info(f"**Not testable here.** {escaped(str(refused))}", icon=":material/info:")
        return None
    found = measure.known(model)
    if found is None and (reason := measure.untestable(model)):
        st.info(
            f"**Not testable here.** {escaped(reason)} You can still patch a pair of your own.", icon=":material/info:"
        )
        own.show(model)
        _choices()
        return None
    name, asks = f"{MEASUREMENT.id}.{model.id}", meanings.asks(model.config.layers)
    if not page.predicted(name, asks):
        return None
    if found is None:
        st.markdown(
            f"{escaped(model.id)} has not been measured yet. This takes some minutes for a small model and far longer "
            "for BERT base."
        )
        _run(model, "Run the experiment")
        _choices()
        own.offer_own(model)
        return None
    show_score(name, asks, meanings.answers(found))
    _result(model, found)
    own.offer_own(model)
    with st.expander("The pairs behind the means", icon=":material/format_quote:"):
        return pairs.show(model, found)


def method(_: LoadedModel) -> str:
    """Say in full how the claim is tested, on any model."""
    return (
        "Two sentences differ in one noun, the **subject**: *The boys near the house \\_ old* is the **clean** one, "
        "*The boy near the house \\_ old* the **corrupt** one, and *were* competes with *was*. The model reads both. "
        "The **asked token** is where the model answers: the mask, or the last token before the blank.\n\nThen we put "
        "one vector of the clean run, of one part at one token, into the corrupt run: this is a **patch**. The parts "
        "are a token’s vector after a layer (the **residual stream**), the vector that attention or the feed-forward "
        "network adds to it, and the vector that a single head adds. The share of the difference between the two words "
        "that a vector recovers says how far this vector **suffices**: (patched − corrupt) / (clean − corrupt), each "
        "the logit of the right word minus the logit of the wrong one. The other way round, putting a corrupt vector "
        "into the clean run shows how much is lost, so how much the part is **needed**. In both directions, 1 is the "
        f"whole difference; a part below 0 works against the answer. A template makes {PAIRS} pairs. Layers are chosen "
        "on half **A** and measured on half **B**, which has other "
        f"subjects. A pair whose two runs differ by less than {SMALL} logits is left out."
    )


def _run(model: LoadedModel, label: str) -> None:
    help = (
        "The lab patches every part at every token in every pair, in both directions; for the twin, it does so in half "
        "of the pairs."
    )
    offer((MEASUREMENT.id, model_hash(model)), label, partial(measure.again, model), help)


def _choices() -> None:
    with st.expander("Patch another part, or the other way", icon=":material/tune:"):
        PATCH.choose("What is patched", width=320)
        PATCH_WAY.choose("Which way")


def _result(model: LoadedModel, found: PatchingTest) -> None:
    draw(partial(template_map, model, PATCH.chosen(), PATCH_WAY.chosen()), "template-patches")
    st.caption(
        f"Mean over {len(found.half(1))} pairs; 1 is the whole difference. **{escaped(found.tokens[found.asked])}** is "
        "the **asked token**, where the model answers."
    )
    meaning(meanings.meaning_of(found, model.id))
    show_verdict(meanings.verdict_of(found))
    met_again(model, meanings.best_head(found).head)
    _choices()
    with st.expander("More about the result", icon=":material/notes:"):
        st.markdown(meanings.in_full(found))
    with st.expander("Attention, and the network above it", icon=":material/alt_route:"):
        show_table(relay_frame(found), _RELAYS)
        st.caption(
            "We patch the attention output of one layer at the asked token, but make a network above it write there "
            "what it wrote in the unpatched run. Attention and these networks are partners: comparing what each "
            "recovers alone would treat them as rivals."
        )
    with st.expander("All claims in numbers", icon=":material/table_rows:"):
        _table(model)
    _rule()
    with st.expander("The best single sites", icon=":material/my_location:"):
        show_table(best_frame(found), _SITES)
        st.caption(
            "The sites are chosen on A and measured on B. **A − B** is selection bias: the best of many sites "
            "is partly lucky."
        )
    with st.expander(
        "Can a gradient predict this without patching?",
        icon=":material/scatter_plot:",
        on_change="rerun",
        key="_estimates",
    ) as estimates:
        if estimates.open:
            _gradients(model, found)
    with origin(found.made, "pairs"):
        _run(model, "Measure it again here")
    code(patching, compared)


def _table(model: LoadedModel) -> None:
    show_table(claim_table(model), _CLAIMS, long_texts=True)
    st.caption(
        "**First** and **second**: the two quantities that are compared, as means over B. **Effect**: first − second, "
        "with its 95 % interval from **low** to **high** (2,000 bootstraps over the nouns and verbs that pairs share). "
        "**Early**: the first half of the layers between the embeddings and the last one. **Layer of the crossing**: "
        "the first layer after which the asked token recovers as much as the subject; after the last layer, it "
        "recovers everything by construction. Attention and networks are compared up to that layer. **Untrained "
        "twin**: the effect in the same model with random weights, in the half of the pairs in which its two runs "
        "differ most. “Numbers and files” also has p, and the results on A. The paper reports other quantities, about "
        "facts, so there is no published figure to compare."
    )
    show_numbers(partial(claim_table, model), "patching-claims", partial(claim_table, model))


def _rule() -> None:
    show_rule(
        "The effect is first − second. No paper gives a scale. So an effect counts if it is at least a tenth of the "
        "difference between the two runs, half a layer, or a rank correlation of 0.1. Two orders count as alike if "
        f"their rank correlation is at least {ALIKE}, a limit that the lab chose. A claim about the crossing cannot be "
        "tested if the lines cross only in the last layer. We changed the template once, before these results, because "
        "in the first version both directions were the same by symmetry."
    )


def _gradients(model: LoadedModel, found: PatchingTest) -> None:
    st.markdown(
        "**Attribution patching** (Nanda 2023): the gradient in the corrupt run, times the difference between the two "
        "runs, estimates all patches at once. It replaces the real layers above by a straight line."
    )
    draw(partial(template_estimates, model, PATCH.chosen()), "template-estimates")
    show_table(estimate_frame(found), _ESTIMATES)
    st.caption(
        "The numbers are computed from the means over B. **Error**: Σ|foreseen − patched| / Σ|patched|; it is 0 if the "
        "gradient is right everywhere."
    )
