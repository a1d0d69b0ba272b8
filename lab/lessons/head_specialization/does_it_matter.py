"""Does it matter? Each head is taken away: does the model still find the verb that fits the subject?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st

from lab.analysis.heads import ablation
from lab.analysis.heads.attention import attention_map
from lab.analysis.heads.values import Values
from lab.analysis.words.preferred import Preferred
from lab.charts.base.axes import Scale
from lab.charts.base.figure import Figure
from lab.charts.marks.dots import dots
from lab.course.pages import experiment_of
from lab.course.sentences.agreement import ATTRACTIONS
from lab.course.words import escaped, head_name, in_words, named
from lab.evidence.notable import job_of, shipped
from lab.figures.sentence import sentence
from lab.lessons.head_specialization import LESSON
from lab.lessons.head_specialization.attraction import AskedVerb, attractions, attractions_at_mean, first_verb
from lab.lessons.head_specialization.grammar import grammatical, in_100
from lab.models.ablation import ablate_each_head
from lab.models.interventions import Head
from lab.models.loading import LoadedModel
from lab.models.trace import Trace
from lab.questions.asking import asks
from lab.questions.basis import bet
from lab.questions.kinds import which_holds
from lab.questions.question import Option, Question, shuffled
from lab.questions.spot import Spot
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
_HINT = "This is a sentence of this step. The arcs show where the head looks from the place of the verb."


def verb_forms(model: LoadedModel, layer: int, head: int) -> Figure:
    """Draw the share of “were” against “was” with each head off, one line per sentence; the given head is marked.

    The sentences are :data:`lab.course.sentences.agreement.ATTRACTIONS`, read by the model. Raises
    ValueError for a model that cannot be asked.
    """
    found = attractions(model)
    if found is None:
        raise ValueError(f"{model.id} cannot be asked for the form of a verb.")
    config = model.config
    without = [f"without {head_name(divmod(at, config.heads))}" for at in range(config.layers * config.heads)]
    return dots(
        np.stack([each.off.ravel() for each in found]),
        ([each.name for each in ATTRACTIONS], without),
        Scale("Share of “were” (the rest is “was”)", (0.0, 1.0), ".0%"),
        title="Preferred verb without one head",
        highlight=layer * config.heads + head,
        rule=0.5,
    )


def said(before: Sequence[float], off: Values, head: Head) -> str:
    """Say in how many sentences the wrong form wins without the chosen head, and without other single heads.

    ``before`` (S,) and ``off`` (S, L, H) are the shares of the right form of the verb.
    """
    count, name = len(before), head_name(head)
    lost = (off < 0.5).sum(axis=0)
    own, kept = int(lost[head]), sum(share < 0.5 for share in before)
    others = np.delete(lost.ravel(), np.ravel_multi_index(head, lost.shape))
    if own > kept:
        told = (
            f"Without {name}, the model prefers *was* in {own} of {count} sentences; with this head, it does so in "
            f"{kept}."
        )
        most = int(others.max(initial=0))
        if most >= own:
            return told
        rest = f"it does so in at most {most}" if most else "it never does so"
        return f"{told} Without any single other head, {rest}."
    same = "no answer changes" if own == kept else "*was* wins less often"
    told = (
        f"Without {name}, {same}: the model prefers *was* in {own} of {count} sentences; with all heads, it does so "
        f"in {kept}."
    )
    worst = np.unravel_index(int(lost.argmax()), lost.shape)
    if lost[worst] > kept:
        return (
            f"{told} Without {head_name((int(worst[0]), int(worst[1])))}, it does so in {int(lost[worst])} of {count}."
        )
    return told


def said_at_mean(shares: Sequence[float], head: Head) -> str:
    """Say in how many sentences the wrong form wins with a head at its mean; ``shares`` (S,) are of the right form."""
    wrong = sum(share < 0.5 for share in shares)
    return (
        f"If {head_name(head)} is set to its mean instead of 0, the model prefers *was* in {wrong} of {len(shares)} "
        "sentences."
    )


@asks(
    basis=bet(
        "No single head decides: other heads do the same work, or later layers make up for the loss.",
        "One head can decide: no other head brings what it brings.",
    ),
    hint="If nothing could replace a head, where would its dots be?",
)
def one_decides(spot: Spot) -> Question | None:
    """Ask whether any head, taken away alone, turns the verb in most sentences; None if the model is wrong anyway."""
    found = attractions(spot.trace.model)
    return None if found is None else decides([each.before for each in found], np.stack([each.off for each in found]))


def decides(before: Sequence[float], off: Values) -> Question | None:
    """Ask whether any head turns the verb in most sentences.

    ``before`` (S,) and ``off`` (S, L, H) are shares of the right form. None if the wrong form wins already with all
    heads, or if a head turns nearly most sentences.
    """
    half = len(before) / 2
    if sum(share < 0.5 for share in before) >= half:
        return None
    lost = (off < 0.5).sum(axis=0)
    many = int((lost > half).sum())
    if not many and int(lost.max()) == half:
        return None
    what = "1 head does" if many == 1 else f"{many or 'no'} heads do"
    why = f"Of {lost.size} heads, {what}."
    outcomes = {"No: the other heads make up for it": many == 0, "Yes: one head alone can decide the verb": many > 0}
    prompt = (
        f"Each of its {lost.size} heads is taken away once, and put back. Is there a head whose removal makes the "
        "model prefer *was* in most of the six sentences?"
    )
    return which_holds("one-decides", prompt, why, outcomes)


@asks(
    "layer",
    "head",
    basis=bet(
        "Where a head looks shows what the model needs.",
        "Only a change after the head is taken away shows that the model needs it.",
    ),
    hint="Where a head looks is one question. Whether the model needs the head is another.",
)
def what_shows_need(spot: Spot) -> Question | None:
    """Ask which of four observations shows that the model needs the head, or the head of its first relation."""
    found, here = grammatical(shipped(spot.trace.model)), (spot.layer, spot.head)
    own = job_of(found, *here)
    if own is not None:
        return need((here, own[0].job.does, own[1].score))
    jobs = (((doing.layer, doing.head), each.job.does, doing.score) for each in found for doing in each.heads[:1])
    return need(next(jobs, None))


# A head, its job in words that continue “head 5-11 …”, and its score.
Job = tuple[Head, str, float]


def need(job: Job | None) -> Question:
    """Ask which of four observations shows that the model needs a head."""
    who = "A head" if job is None else f"In {in_100(job[2])} cases, {head_name(job[0])}"
    does = "finds the right word of a relation in most sentences" if job is None else job[1]
    return shuffled(
        "what-shows-need",
        f"{who} {does}. What would show that the model needs this head?",
        (
            Option(
                "Without the head, the model’s words change",
                "Only a change shows what depends on the head.",
                correct=True,
            ),
            Option(
                "Its weights are larger than those of other heads",
                "You read a high weight as a reason. But the words that a head looks at may change nothing.",
            ),
            Option(
                "It is right in even more sentences",
                "You mistook finding for using. A head may find a word that the later layers then ignore.",
            ),
            Option(
                "Other models also have such a head",
                "That would show that training often makes such a head, not that a model needs it.",
            ),
        ),
    )


def show(view: OneHead) -> None:
    """Show the form of the verb in six sentences, with each head of the model taken away in turn."""
    model = view.trace.model
    if reason := cannot_predict(model):
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
    say(question_of(first.trace, first.place, at, before))
    if not predict(LESSON, one_decides(view.spot)):
        return
    draw(partial(verb_forms, first.trace.model, *at), _EFFECTS)
    st.caption(
        f"Each line is a sentence. Each dot is the model without one of its {off[0].size} heads; the large dot is the "
        f"model without {head_name(at)}. Left of the dashed line, the model prefers *was*."
    )
    st.caption(
        "Zeros are numbers that later layers have never met in training, so a head at its mean is the milder change. "
        "These six sentences have one form. The experiment has hundreds of sentences, in six forms."
    )
    meaning(f"{said(before, off, at)} {said_at_mean(attractions_at_mean(view.trace.model, at), at)}")
    _show_the_strongest(off, at)
    way_to("The experiment", experiment_of("needed-heads"))
    code(ablate_each_head)


def _show_blank(trace: Trace, place: int, head: tuple[int, int]) -> None:
    """Draw the first sentence with the arcs of the head from the blank; clicks choose nothing in it."""
    hidden = () if trace.model.config.causal else (place,)
    call = partial(sentence, trace, place, of=head)
    show_row(replace(call(), hidden=hidden, hint=_HINT), lambda query, key: None, call)


def question_of(trace: Trace, place: int, head: tuple[int, int], before: list[float]) -> str:
    """Say where the head looks, which verb grammar demands, and which verb the model predicts with all its heads."""
    row = attention_map(trace.layer(head[0]), head[1])[place]
    key = int(row.argmax())
    there = "itself" if key == place else named(trace, key)
    sees = f"From the place of the verb, {head_name(head)} looks most at {there} ({row[key]:.2f})."
    first = ATTRACTIONS[0]
    right, count = sum(share > 0.5 for share in before), len(before)
    how_many = f"In all {in_words(count)}" if right == count else f"In {in_words(right)} of {in_words(count)}"
    return (
        f"{sees} The verb must fit *{first.subject}*, so English asks for *were*. But *{first.nearer}* is nearer, and "
        f"*was* would fit that noun. {how_many} such sentences, {escaped(trace.model.id)} prefers *were*."
    )


def _show_the_strongest(off: Values, head: tuple[int, int]) -> None:
    """Offer the head without which the right form loses most. ``off`` (S, L, H)."""
    means = off.mean(axis=0)
    layer, other = (int(at) for at in np.unravel_index(int(means.argmin()), means.shape))
    if (layer, other) != head:
        name = head_name((layer, other))
        try_this(f"the answer changes most without {name}.", f"Take {name} away", {LAYER: layer + 1, HEAD: other + 1})
