"""The screen on which each head is taken away: does the model still find the verb that fits the subject?"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st

from lab.analysis.heads import ablation
from lab.analysis.heads.attention import attention_map
from lab.analysis.heads.values import Values
from lab.analysis.words.preferred import Preferred
from lab.course.pages import experiment_of
from lab.course.sentences.agreement import ATTRACTIONS
from lab.course.words import escaped, head_name, named
from lab.figures.sentence import sentence
from lab.lessons.head_specialization import LESSON, checks, figures, meanings
from lab.lessons.head_specialization.attraction import AskedVerb, attractions, attractions_at_mean, first_verb
from lab.models.ablation import ablate_each_head
from lab.models.trace import Trace
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import meaning, try_this, way_to
from lab.ui.parameters import HEAD, LAYER
from lab.ui.quiz.predictions import predict
from lab.ui.sentence import show_row
from lab.ui.shared.heads_off import asked_for
from lab.ui.shared.one_head import OneHead
from lab.ui.shared.prediction import cannot_predict
from lab.ui.terms import say

_EFFECTS = "verb-forms"
# Multiplications up to which the lab does not ask first: the models that ship need a third of this number.
_UNASKED = 1e11
_HINT = "A sentence of this step. The arcs show where the head looks from the place of the verb."


def show_matters(view: OneHead) -> None:
    """Show the form of the verb in six sentences, with each head of the model taken away in turn."""
    model = view.trace.model
    if (reason := cannot_predict(model)) is not None:
        st.info(reason, icon=":material/info:")
        return
    first = first_verb(model)
    if first is None:
        st.info(f"{escaped(model.id)} does not know a word of these sentences.", icon=":material/info:")
        return
    heads, count = model.config.layers * model.config.heads, len(ATTRACTIONS)
    work = count * ablation.multiplications(model.config, len(first.trace))
    if not asked_for(work, _UNASKED, f"{heads} heads, one run each of {count} sentences", model.id):
        return
    with st.spinner("Switching off one head at a time …"):
        found = attractions(model)
    if found is None:
        st.info(f"{escaped(model.id)} does not know a word of these sentences.", icon=":material/info:")
        return
    _show_verbs(view, first, found)


def _show_verbs(view: OneHead, first: AskedVerb, found: tuple[Preferred, ...]) -> None:
    """Show the first sentence, the question, and the form of the verb in all sentences without each head."""
    at, off = (view.layer.index, view.head), np.stack([each.off for each in found])
    before = [each.before for each in found]
    _show_blank(first.trace, first.place, at)
    say(_question(first.trace, first.place, at, before))
    if not predict(LESSON, checks.heads_that_decide(before, off)):
        return
    draw(partial(figures.verb_forms, first.trace, *at), _EFFECTS)
    st.caption(
        f"Each line is a sentence. Each dot is the model without one of its {off[0].size} heads; the large dot is the "
        f"model without {head_name(at)}. Left of the dashed line, it prefers *was*."
    )
    meaning(meanings.matters(before, off, at))
    st.caption(
        f"{meanings.at_mean(attractions_at_mean(view.trace.model, at), at)} These are six sentences of one form. The "
        "experiment tests the model on hundreds of sentences of six forms."
    )
    _try_the_strongest(off, at)
    way_to("The experiment", experiment_of("needed-heads"))
    code(ablate_each_head)


def _show_blank(trace: Trace, place: int, head: tuple[int, int]) -> None:
    """Draw the first sentence with the arcs of the head from the blank; clicks choose nothing in it."""
    hidden = () if trace.model.config.causal else (place,)
    show_row(replace(sentence(trace, place, of=head), hidden=hidden, hint=_HINT), lambda query, key: None)


def _question(trace: Trace, place: int, head: tuple[int, int], before: list[float]) -> str:
    """Say where the head looks, which verb grammar demands, and which verb the model predicts with all its heads."""
    row = attention_map(trace.layer(head[0]), head[1])[place]
    sees = f"From the place of the verb, {head_name(head)} looks most at {named(trace, int(row.argmax()))}."
    first = ATTRACTIONS[0]
    right = sum(share > 0.5 for share in before)
    return (
        f"{sees} The verb must fit *{first.subject}*, so English asks for *were*. But *{first.nearer}* is nearer, and "
        f"*was* would fit that. Of six sentences like this one, {escaped(trace.model.id)} prefers *were* in {right}."
    )


def _try_the_strongest(off: Values, head: tuple[int, int]) -> None:
    """Offer the head without which the right form loses most. ``off`` (S, L, H)."""
    means = off.mean(axis=0)
    layer, other = (int(at) for at in np.unravel_index(int(means.argmin()), means.shape))
    if (layer, other) != head:
        name = head_name((layer, other))
        try_this(f"without {name}, the answer changes most.", f"Take {name} away", {LAYER: layer + 1, HEAD: other + 1})
