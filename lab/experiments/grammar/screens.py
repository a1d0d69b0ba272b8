"""The page of the experiment about grammar, from the prediction to the sentences behind a number."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

from lab.course.words import escaped
from lab.evidence.published import CLARK, WITHOUT_TWIN
from lab.evidence.relation_cases import between_words, find_cases
from lab.evidence.shipped import model_hash
from lab.evidence.treebank import gum, halves
from lab.experiments.grammar import meanings, measure, sentences
from lab.experiments.grammar.figures import as_frame, relation_chart
from lab.experiments.grammar.measure import MEASUREMENT, GrammarTest
from lab.models.loading import LoadedModel
from lab.models.trace import Trace
from lab.ui.drawing import code, draw
from lab.ui.experiments.guesses import show_score
from lab.ui.experiments.page import ExperimentPage
from lab.ui.experiments.results import origin, show_rule, show_verdict
from lab.ui.frame.script import meaning
from lab.ui.long_work import offer
from lab.ui.shared.met_again import met_again
from lab.ui.tables import DECIMAL, Column, show_table


def _columns_of(other: str) -> tuple[Column, ...]:
    """List the columns of a table of results, with the verdict on the ``other`` treebank."""
    return (
        Column("two words", 160),
        Column("verdict", 106),
        Column(
            "on the other treebank", 106, heading=f"on {other}", help=f"The verdict when the same heads read {other}."
        ),
        Column("published", 74, DECIMAL),
        Column("ours", 46, DECIMAL),
        Column("best fixed distance", 68, DECIMAL, "distance", "The best fixed distance."),
        Column("rule by kinds", 46, DECIMAL, "kinds", "The best rule by kinds of words, with a tagger."),
        Column("rule by gold kinds", 46, DECIMAL, "gold", "This rule, with the kinds of words that people annotated."),
        Column("untrained twin", 46, DECIMAL, "twin", "The untrained twin: the same model with random weights."),
        Column("n", 46),
        Column("lift", 46, DECIMAL),
        Column("lift low", 46, DECIMAL, "low"),
        Column("lift high", 46, DECIMAL, "high"),
        Column("head", 46),
    )


def show(page: ExperimentPage) -> Trace | None:
    """Draw the whole experiment; returns one of its runs, for the badge."""
    model = page.model()
    name, asked = f"{MEASUREMENT.id}.{model.id}", meanings.asks()
    if not page.predicted(name, asked):
        return None
    found = measure.known(model)
    if found is None:
        st.markdown(
            f"{escaped(model.id)} has not been measured yet. This takes half a minute for a small model and a few "
            "minutes for BERT base."
        )
        _run(model, "Run the experiment")
        return None
    if not found.rows:
        st.info(
            f"{escaped(model.id)} cannot read any of these sentences in full, so the claim cannot be tested on it.",
            icon=":material/info:",
        )
        return None
    show_score(name, asked, meanings.answers(found))
    _result(model, found)
    with st.expander("The sentences behind a number", icon=":material/format_quote:"):
        return sentences.show(model, found)


def method(model: LoadedModel) -> str:
    """Say in full how the claim is tested on a model."""
    a, b = (len(half.sentences) for half in halves())
    told = (
        f"People wrote down the grammar of {a + b:,} sentences of UD English EWT. From one word of each relation a "
        "head names the word that it attends to most; special tokens and the word itself do not count. The rule always "
        "names the word at one distance: the distance that is right most often. For each relation the best head is "
        f"chosen on half **A** ({a} sentences) and measured on half **B** ({b} sentences of other documents). Then the "
        f"same head reads {len(gum().sentences):,} sentences of UD English **GUM**, which were not used for choosing. "
        "A second rule names the nearest word of some parts of speech to the left or right. It is chosen on half A, "
        "with the tags of the lab’s tagger. It is not part of the verdict, because the paper has no such rule."
    )
    if model.config.causal:
        told += (
            f"\n\nA head of {escaped(model.id)} only looks back, so it can start only from the later word of a "
            "relation. If it cannot see the other word, that counts as wrong; the best fixed distance may look ahead."
        )
    return told


def _run(model: LoadedModel, label: str) -> None:
    key, help = (
        (MEASUREMENT.id, model_hash(model)),
        "Every sentence is read twice: by this model, and by its untrained twin.",
    )
    offer(key, label, partial(measure.again, model), help)


def _result(model: LoadedModel, found: GrammarTest) -> None:
    draw(partial(relation_chart, model), "grammar-relations")
    st.caption("Each relation’s best head, two rules, the **untrained twin** (before training) and the paper.")
    meaning(meanings.meaning_of(found, model.id))
    show_verdict(meanings.verdict_of(found))
    for row in found.rows:
        if row.relation == "nsubj":
            met_again(model, (row.layer, row.head))
    with st.expander("More about the result", icon=":material/notes:"):
        st.markdown(meanings.in_full(found, model.id))
        if reasons := meanings.untestable(found):
            st.markdown(reasons)
    with st.expander("All relations in numbers", icon=":material/table_rows:"):
        show_table(as_frame(found), _columns_of("GUM"), long_texts=True)
        _columns()
    with st.expander("The same heads on GUM", icon=":material/table_rows:"):
        show_table(as_frame(found, gum=True), _columns_of("EWT"), long_texts=True)
    show_rule(
        "The effect is the **lift**: how far the head gets on the way from the best fixed distance to 100 %. Its "
        "interval comes from a bootstrap over documents."
    )
    _mapping()
    with origin(found.made, "sentences"):
        _run(model, "Measure it again here")
    code(measure.compared, find_cases, between_words)


def _columns() -> None:
    st.caption(
        "**Published**: bert-base on the Penn Treebank. **Ours**: the head chosen on A, measured on B. **Best fixed "
        "distance**: a rule that always names the word at one distance; the distance is chosen on A, the rule measured "
        "on B. **Kinds**: a rule that always names the nearest word of some parts of speech to one side; the rule is "
        "chosen on A with the lab’s tagger. **Gold**: the same rule with annotated parts of speech. **Untrained "
        "twin**: the same model with random weights; its head is chosen and measured like ours. **Lift**: (ours − "
        "distance) / (1 − distance), computed from the shares, with its 95 % interval from **low** to **high**: 2,000 "
        "bootstraps over documents. Head 2-6 is head 6 of layer 2. The button in the figure’s corner shows all "
        "columns: the relation’s name in the treebank, the published lift, the twin’s lift, our head on A, selection "
        "bias (**A − B**), the rule by kinds in words, p, and the paper’s names."
    )


def _mapping() -> None:
    with st.expander("From the paper’s relations to these", icon=":material/compare_arrows:"):
        st.markdown(
            "The paper uses the Stanford Dependencies of the Penn Treebank. This table lists the relations that have a "
            "counterpart here, and the relations without one:"
        )
        rows = [(each.name, each.relation, each.note) for each in CLARK]
        rows += [(name, "–", why) for name, why in WITHOUT_TWIN.items()]
        st.table(pd.DataFrame(rows, columns=["in the paper", "here", "note"]), hide_index=True, border="horizontal")
