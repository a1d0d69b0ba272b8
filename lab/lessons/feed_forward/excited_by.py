"""Excited by: the tokens of many texts that excite a neuron most, and what they tell about it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import streamlit as st

from lab.analysis.layers.excitation import Excited, NeuronSurvey, neuron_survey
from lab.analysis.layers.feed_forward import most_active
from lab.course.words import escaped, number_of, quoted, signed, spoken
from lab.lessons.feed_forward import LESSON
from lab.lessons.feed_forward.view import FAVOURITE, FeedForwardView, choose_neuron
from lab.models.batches import ProgressFunction
from lab.models.catalogue import DEFAULT_MODEL
from lab.models.encoding import word_of
from lab.models.loading import LoadedModel
from lab.questions.asking import asks
from lab.questions.question import Option, Question, derivable
from lab.text.bundled import bundled_sentences
from lab.ui.drawing import code
from lab.ui.long_work import serial_of, unasked
from lab.ui.parameters import LAYER, NEURON, TOKEN
from lab.ui.screen import meaning, say, try_this
from lab.ui.sentence import show_sentence
from lab.ui.toys import toy_runs

IDEA = """
A neuron is a condition on a vector, but its numbers do not say which. Let the model read {count} short texts, and
look where the neuron fires."""
STRONGEST = "The strongest places of **neuron {neuron:,} of layer {layer}**:"
READING = """
At {repeats} of its {strongest} strongest places, the token is {token}. The texts have {token} in {occurs}; at {hits} of
them, the neuron is above 0."""
DIFFERENT = "At its {strongest} strongest places, the tokens are all different. What do they have in common?"
WRITTEN = """
A guess: it often fires where *of* leads from an office or a place to a country, as in *president of the United
States*. At *full of flowers*, it is silent."""
HERE = "At {token} in this sentence, its activation is {value}. Click another word to compare."
CAVEAT = """
A list of the strongest places is a hint, not a proof. It shows neither where the neuron is silent, nor whether the
model needs it."""
_CONTEXT = 60  # characters of a text on either side of a token
_OTHER = 4  # the layer, from 1, whose most selective neuron is offered


def show(view: FeedForwardView) -> None:
    """Show the tokens of many texts that excite the chosen neuron most."""
    texts = toy_runs.texts(view.page.selection) if view.of_toy else bundled_sentences()
    say(IDEA.format(count=len(texts)))
    survey = look_in_texts(view, texts)
    if survey is None:
        return
    view = _chosen_neuron(view, survey)
    layer, neuron = view.layer.index, view.neuron
    say(STRONGEST.format(neuron=neuron + 1, layer=view.number))
    found, common = survey.most_excited(layer, neuron), survey.commonest(layer, neuron)
    if common is None:
        return
    st.markdown("\n".join(f"- {_marked(survey, each)}" for each in found))  # texts that were read explain no terms
    token = quoted(word_of(view.trace.model.tokenizer, common.token_id))
    occurs = number_of(common.occurs, "place")
    counts = {"strongest": common.strongest, "repeats": common.repeats, "occurs": occurs, "hits": common.hits}
    ours = view.trace.model.id == DEFAULT_MODEL and (layer, neuron) == FAVOURITE
    told = DIFFERENT if common.repeats == 1 else READING
    meaning(told.format(token=token, **counts) + WRITTEN * ours)
    values = view.layer.ffn_activation[:, neuron]
    here = view.token if TOKEN.chosen() else int(values.argmax())
    show_sentence(view.trace, here)
    say(HERE.format(token=spoken(view.trace, here), value=signed(float(values[here]))))
    st.caption(CAVEAT)
    choose_neuron(view)
    if ours and (other := survey.most_selective(_OTHER - 1)) is not None:
        why = f"a neuron of layer {_OTHER}. What excites it?"
        try_this(why, f"Take neuron {other + 1}", {LAYER: _OTHER, NEURON: other + 1}, leaves=True)
    code(NeuronSurvey.most_excited)


@asks(
    basis=derivable(LESSON, "excited-by", "the list has the strongest tokens only"),
    hint="The list shows the twelve strongest tokens. Where are all the other tokens?",
)
def what_a_list_shows() -> Question:
    """Ask what a list of a neuron's strongest tokens makes certain."""
    return Question(
        "what-a-list-shows",
        "In many texts, the twelve tokens that excite a neuron most are all the word *and*. What is certain?",
        (
            Option(
                "The neuron fires wherever a text has *and*",
                "The list looks like a rule. But it leaves out the places at which the same word did not excite the "
                "neuron, as some places with *of* did not.",
            ),
            Option(
                "The neuron fires at *and* in these twelve places",
                "The list shows no other places, so anything more is a guess, which other sentences can test.",
                correct=True,
            ),
            Option(
                "The neuron fires at no other word than *and*",
                "Nothing else is in the list. But it ends after twelve places, and other words may come next.",
            ),
        ),
        mixed=True,
    )


def _chosen_neuron(view: FeedForwardView, survey: NeuronSurvey) -> FeedForwardView:
    """Until somebody chooses a neuron, take the lesson's, or in another layer or model the most selective one."""
    layer = view.layer.index
    if view.page.selection[NEURON]:
        return view
    if view.trace.model.id == DEFAULT_MODEL and layer == FAVOURITE[0]:
        return replace(view, neuron=FAVOURITE[1])
    best = survey.most_selective(layer)
    return replace(view, neuron=most_active(view.layer, view.token, 1)[0] if best is None else best)


def _marked(survey: NeuronSurvey, found: Excited) -> str:
    """Write a text around a token, with the token marked; safe in Markdown. Long text is cut."""
    encoding = survey.encodings[found.text]
    text, (start, end) = encoding.text, encoding.offsets[found.token]
    before, after = text[max(0, start - _CONTEXT) : start], text[end : end + _CONTEXT]
    before, after = ("…" * (start > _CONTEXT)) + before, after + ("…" * (len(text) > end + _CONTEXT))
    return f"{_spaced(before)}:blue-background[{escaped(text[start:end])}]{_spaced(after)}"


def _spaced(text: str) -> str:
    """Escape a part of a text; spaces at its ends are kept."""
    return f"{' ' if text[:1].isspace() else ''}{escaped(text)}{' ' if text.strip() and text[-1:].isspace() else ''}"


def look_in_texts(view: FeedForwardView, texts: tuple[str, ...]) -> NeuronSurvey | None:
    """Return the survey of the texts; None while the model reads the texts and the page shows the progress."""
    model = view.trace.model
    survey = neuron_survey(model, texts)
    if survey.finished:
        return survey
    unasked(("survey of neurons", serial_of(survey)), f"Read {len(texts)} texts", partial(_read, survey, model))
    return None


def _read(survey: NeuronSurvey, model: LoadedModel, tell: ProgressFunction) -> None:
    while not survey.finished:
        survey.step(model)
        tell(survey.done / survey.total)
