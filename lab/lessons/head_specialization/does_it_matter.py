"""Does it matter? Each head is taken away: does the model still find the verb that fits the subject?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import streamlit as st

from lab.analysis.heads import switched_off
from lab.analysis.heads.values import Values
from lab.analysis.words.in_blank import Preferred, preferred
from lab.analysis.words.masking import hide
from lab.charts.base.axes import Scale
from lab.charts.base.figure import Figure
from lab.charts.marks.ranges import dots
from lab.course.pages import experiment_of
from lab.course.sentences.examples import ATTRACTIONS, FORMS, Attraction
from lab.course.words import capital, escaped, head_name
from lab.evidence.pairs import before
from lab.figures.sentence_arcs import sentence
from lab.lessons.head_specialization import LESSON
from lab.models.ablation import ablate_each_head
from lab.models.catalogue import DEFAULT_MODEL
from lab.models.encoding import encode
from lab.models.interventions import Head, Interventions
from lab.models.loading import LoadedModel
from lab.models.memo import once
from lab.models.trace import Trace, changed, trace_encoding
from lab.questions.asking import asks
from lab.questions.question import Option, Question, bet, derivable
from lab.ui.drawing import code, draw
from lab.ui.quiz.step_questions import predict
from lab.ui.screen import caption, meaning, say, way_to
from lab.ui.sentence import show_row
from lab.ui.shared.heads_off import asked_for
from lab.ui.shared.one_head import OneHead
from lab.ui.shared.prediction import cannot_predict

IDEA = """
Does the model need one head for the verb? In six sentences like this one, the verb is hidden, *was* or *were*, and each
head of the model is set to zero once. The arcs are those of {head}."""
DOTS = """
Each line is a sentence, each dot the model without one head; the large dot is the model without {head}. Left of the
dashed line, the model prefers *was*."""
READING = """
With all heads, the model prefers *was* in {kept} of {count} sentences. Without {head}, it does so in **{lost}**; with
this head at its mean instead of zero, in {mean}. Without any other single head, the most is {most}."""
STORY = """
With 5-11 at zero, all six preferences turn, and with it at its mean, four. With any other single head at zero, none
does."""
CAVEAT = """
Six sentences of one form are few; the experiment has hundreds, in six forms. A head can matter, too, where its removal
changes nothing: if others bring the same."""
# Multiplications up to which the lab does not ask first: the models that ship need a third of this number.
_UNASKED = 1e11
_HINT = "The first of the six sentences. The arcs show where the head looks from the place of the verb."


def show(view: OneHead) -> None:
    """Show the form of the verb in six sentences, with each head of the model taken away in turn."""
    model = view.trace.model
    if reason := cannot_predict(model):
        st.info(reason, icon=":material/info:")
        return
    first = asked_verb(model, ATTRACTIONS[0])
    if first is None:
        st.info(f"{escaped(model.id)} does not know a word of these sentences.", icon=":material/info:")
        return
    heads, count = model.config.layers * model.config.heads, len(ATTRACTIONS)
    work = count * switched_off.multiplications(model.config, len(first.trace))
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
    model, off = first.trace.model, np.stack([each.off for each in found])
    head = strongest(off)
    say(IDEA.format(head=head_name(head)))
    hidden = () if model.config.causal else (first.place,)
    call = partial(sentence, first.trace, first.place, of=head)
    show_row(replace(call(), hidden=hidden, hint=_HINT), lambda query, key: None, call)
    if not predict(LESSON, one_decides()):
        return
    draw(partial(verb_forms, model, *head), "verb-forms")
    st.caption(DOTS.format(head=head_name(head)).strip())
    told = capital(reading([each.before for each in found], off, attractions_at_mean(model, head), head))
    meaning(f"{told} {STORY}" if model.id == DEFAULT_MODEL else told)
    caption(CAVEAT)
    way_to("The experiment", experiment_of("needed-heads"))
    code(ablate_each_head)


def verb_forms(model: LoadedModel, layer: int, head: int) -> Figure:
    """Draw the share of “were” against “was” with each head off, one line per sentence; the given head is marked.

    The sentences are :data:`lab.course.sentences.examples.ATTRACTIONS`, read by the model. Raises
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


def strongest(off: Values) -> Head:
    """Return the head without which the right form loses most on average. ``off`` (S, L, H)."""
    means = off.mean(axis=0)
    layer, head = (int(at) for at in np.unravel_index(int(means.argmin()), means.shape))
    return layer, head


def reading(before: Sequence[float], off: Values, at_mean: Sequence[float], head: Head) -> str:
    """Count the sentences in which *was* wins: with all heads, without ``head``, and without any other head.

    ``before`` (S,), ``off`` (S, L, H) and ``at_mean`` (S,) are shares of the right form of the verb.
    """
    lost = (off < 0.5).sum(axis=0)
    others = np.delete(lost.ravel(), np.ravel_multi_index(head, lost.shape))
    return READING.format(
        kept=sum(share < 0.5 for share in before),
        count=len(before),
        head=head_name(head),
        lost=int(lost[head]),
        mean=sum(share < 0.5 for share in at_mean),
        most=int(others.max(initial=0)),
    ).strip()


@asks(
    basis=bet(
        "No single head decides: other heads do the same work, or later layers make up for the loss.",
        "One head can decide: without it, the preference turns.",
    ),
    hint="If nothing could replace a head, where would its dots be?",
)
def one_decides() -> Question:
    """Ask whether any head, taken away alone, turns the verb in most sentences."""
    return Question(
        "one-decides",
        "With all heads, lab-minilm prefers *were* in these six sentences. Each of its 72 heads is set to zero once. "
        "Without which of them does it prefer *was* in most of the six?",
        (
            Option(
                "Without none: the other heads make up for it",
                "For 71 heads, it is so. Without 5-11, the model prefers *was* to *were* in all six.",
            ),
            Option(
                "Without one of them",
                "Without 5-11, it prefers *was* to *were* in all six; without any other single head, in none.",
                correct=True,
            ),
            Option(
                "Without about a third: each brings a part",
                "Then many dots would be left of the line. In each sentence, one is.",
            ),
        ),
        mixed=True,
    )


@asks(
    basis=derivable(LESSON, "does-it-matter", "the dots without a head"),
    hint="Where a head looks is one question. Whether the model needs the head is another.",
)
def what_shows_need() -> Question:
    """Ask which of four observations shows that the model needs a head."""
    return Question(
        "what-shows-need",
        "In 68 of 100 cases, head 5-11 of lab-minilm finds the subject of a verb. What would show that the model "
        "needs this head?",
        (
            Option(
                "Its weights are larger than those of other heads",
                "A large weight looks like a reason. But the value that it brings may change nothing.",
            ),
            Option(
                "It is right in even more sentences",
                "Finding is not using: later layers may ignore what it finds.",
            ),
            Option(
                "Other models also have such a head",
                "That would show that training often makes such a head, not that a model needs it.",
            ),
            Option(
                "The model’s words change without it",
                "A change without the head, or with what it brings in another sentence, shows that words depend on it.",
                correct=True,
            ),
        ),
        mixed=True,
    )


@dataclass(frozen=True, eq=False)
class AskedVerb:
    """A run in which the verb at ``place`` (from 0) is to be predicted; ``forms`` are the ids of :data:`FORMS`."""

    trace: Trace
    place: int
    forms: tuple[int, int]


def asked_verb(model: LoadedModel, sentence: Attraction) -> AskedVerb | None:
    """The sentence with its verb hidden, or, for a causal model, the words before its verb.

    None if a form of the verb is not one token, or a word is unknown to the model.
    """
    good, bad = (encode(model.tokenizer, model.config, sentence.filled(form)) for form in FORMS)
    both = list(zip(good.token_ids, bad.token_ids, strict=False))
    places = [at for at, (one, other) in enumerate(both) if one != other]
    if len(good) != len(bad) or len(places) != 1 or model.unknown in good.token_ids:
        return None
    place, mask = places[0], model.mask
    if model.config.causal:
        return AskedVerb(trace_encoding(model, before(good, place)), place - 1, both[place])
    return None if mask is None else AskedVerb(trace_encoding(model, hide(good, [place], mask)), place, both[place])


@once
def attractions(model: LoadedModel) -> tuple[Preferred, ...] | None:
    """The share of “were” against “was” in each of :data:`ATTRACTIONS`, with all heads and without each single head.

    None if the model cannot read one of the sentences. Raises ValueError for a model without a vocabulary head.
    """
    asked = [asked_verb(model, sentence) for sentence in ATTRACTIONS]
    read = [each for each in asked if each is not None]
    if len(read) < len(asked):
        return None
    return tuple(preferred(each.trace, each.place, each.forms) for each in read)


@once
def attractions_at_mean(model: LoadedModel, head: Head) -> tuple[float, ...]:
    """The share of “were” in each of :data:`ATTRACTIONS` with ``head`` at its mean over the sentence.

    Zero may be a value that a head never has, so its mean is the second way to take a head away (Michel et al. 2019 set
    heads to 0; Wang et al. 2022 to a mean). Raises ValueError if the model cannot read one of the sentences.
    """
    asked = [each for sentence in ATTRACTIONS if (each := asked_verb(model, sentence)) is not None]
    if len(asked) < len(ATTRACTIONS):
        raise ValueError(f"{model.id} cannot read all of these sentences.")
    off = Interventions(mean_heads=frozenset({head}))
    logits = [changed(each.trace, off).logits(each.place)[0][list(each.forms)].double() for each in asked]
    return tuple(float((first - second).sigmoid()) for first, second in logits)
