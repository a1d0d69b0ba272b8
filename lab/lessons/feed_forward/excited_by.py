"""Excited by: the tokens of many texts that excite a neuron most, and what they tell about it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from lab.analysis.layers.excitation import SELDOM, Commonest, Excited, NeuronSurvey, neuron_survey
from lab.analysis.layers.feed_forward import most_active
from lab.course.words import escaped, named, quoted, signed
from lab.lessons.feed_forward import LESSON, figures
from lab.lessons.feed_forward.view import FeedForwardView, choose_neuron
from lab.models.batches import ProgressFunction
from lab.models.encoding import Encoding, word_of
from lab.models.loading import LoadedModel
from lab.questions.asking import asks
from lab.questions.basis import derivable
from lab.questions.kinds import ranked
from lab.questions.question import Option, Question, shuffled
from lab.questions.returning import Spot
from lab.text.bundled import bundled_sentences
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import meaning, try_this
from lab.ui.frame.header import idea
from lab.ui.long_work import serial_of, unasked
from lab.ui.parameters import NEURON
from lab.ui.sentence import show_sentence
from lab.ui.tables import Column, show_table
from lab.ui.terms import say
from lab.ui.toys import toy_runs

if TYPE_CHECKING:
    from tokenizers import Tokenizer

IDEA = """
A neuron is a condition on the token’s vector, but its numbers do not say which condition. To see what a neuron responds
to, let the model read many texts. Then look at the tokens that excite the neuron most."""
_FEW = 5  # number of tokens that a sentence names
_CONTEXT = 60  # characters of a text on either side of a token
# If at least this share of a neuron's strongest tokens are equal, the neuron has a favourite token.
_HALF = 0.5
# If a neuron fires at this share of its favourite token's occurrences, we say that it fires at nearly all of them.
_NEARLY_ALL = 0.8
# If a neuron is above 0 at a larger share of all tokens, it responds to much of every text.
_OFTEN = 0.4
_GEVA = (
    "Geva et al. (2021, §3) showed people the 25 texts that excite a neuron most, for 160 neurons of one language "
    "model with 16 layers. The people found at least one pattern for each neuron, and the patterns cover 65 to 80 % "
    "of these texts. They saw no texts further down the list, and no neurons of this model. So a pattern that you "
    "see is your own finding."
)


def about_its_tokens(neuron: int, share: float, base: float, found: Commonest, token: str) -> str:
    """Say what a neuron's strongest tokens tell about it; ``share`` is the share of all tokens at which it is above 0.

    ``base`` is the mean of this share over the neurons of its layer.
    """
    if found.repeats >= _HALF * found.strongest:
        return _about_one(found, token)
    often = f"above 0 at {share:.1%} of all tokens. The mean over the layer’s neurons is {base:.1%}"
    if share > _OFTEN:
        return (
            f"Neuron {neuron + 1:,} responds to much of every text, so its {found.strongest} strongest tokens say "
            f"little about it. Its activation is {often}."
        )
    return (
        f"Neuron {neuron + 1:,} has no favourite: of its {found.strongest} strongest tokens, no single token makes up "
        f"half. Its activation is {often}."
    )


def _about_one(found: Commonest, token: str) -> str:
    """Say whether a neuron fires only at one token, and whether it fires at each occurrence of this token."""
    silent = found.occurs - found.hits
    if found.hits < _NEARLY_ALL * found.excited:
        return (
            f"Its strongest tokens are {token}, but other tokens excite it, too: only {found.hits} of the "
            f"{found.excited} tokens that excite it are {token}."
        )
    fires = f"The neuron fires at {token}: {found.hits} of the {found.excited} tokens that excite it are {token}."
    if found.hits < _NEARLY_ALL * found.occurs:
        return f"{fires} But it stays silent at {silent} other places with {token}, so the token alone is not enough."
    return f"{fires} The texts have {token} in {found.occurs} places, and the neuron misses {silent or 'none'} of them."


@asks(
    basis=derivable(LESSON, "excited-by", "the list has the strongest tokens only"),
    hint="The list shows the twelve strongest tokens. Where are all the other tokens?",
    returns=4,
)
def what_a_list_shows(spot: Spot) -> Question:
    """Ask what a list of a neuron's strongest tokens makes certain, with every model and text."""
    why = (
        "The list shows only the strongest places. Elsewhere, the same word may leave the neuron silent. Other words "
        "may excite it a little less. Only a run without the neuron shows whether the model needs it."
    )
    return shuffled(
        "what-a-list-shows",
        "In many texts, the twelve tokens that excite a neuron most are all the word *and*. What is certain?",
        [
            Option("The neuron fires at *and* in these twelve places", why, correct=True),
            Option("The neuron fires wherever the word is *and*", why),
            Option("The neuron fires at nothing but *and*", why),
        ],
    )


@asks("layer", "token", basis=derivable(LESSON, "excited-by", "the neuron in your sentence"), for_a_class=True)
def most_exciting_token(spot: Spot) -> Question | None:
    """Ask which token of the text excites the token's most active neuron most."""
    trace, layer = spot.trace, spot.traced
    neuron = most_active(layer, spot.query, 1)[0]
    values = layer.ffn_activation[:, neuron].tolist()

    def why(place: int, best: int) -> str:
        tail = ", the largest of this text." if place == best else f"; the largest is {values[best]:z.3f}."
        return f"There its activation is {values[place]:z.3f}{tail}"

    prompt = f"Which token of your text excites neuron {neuron + 1} of layer {layer.index + 1} most?"
    return ranked("most-exciting-token", prompt, values, lambda place: named(trace, place), why, of=trace.labels)


def show(view: FeedForwardView) -> None:
    """Show the tokens of many texts that excite the chosen neuron most."""
    idea(IDEA)
    survey = look_in_texts(view)
    if survey is None:
        return
    view = _chosen_or_selective(view, survey)
    found, common = survey.most_excited(view.layer.index, view.neuron), survey.commonest(view.layer.index, view.neuron)
    if common is None:
        return
    often = survey.share_positive(view.layer.index, view.neuron)
    token = quoted(word_of(view.trace.model.tokenizer, common.token_id))
    say(f"**Neuron {view.neuron + 1:,} of {view.place}.** {why_this(view.neuron, survey, view.layer.index)}")
    st.markdown("\n".join(f"- {_marked(survey, each)}" for each in found))  # texts that were read explain no terms
    meaning(about_its_tokens(view.neuron, often, survey.base_rate(view.layer.index), common, token))
    special = ", special tokens left out" if any(any(e.special) for e in survey.encodings) else ""
    st.caption(
        f"One neuron, {survey.tokens:,} tokens of {len(survey.encodings)} short texts{special}: this is a hint, not a "
        "proof. The list shows what excites the neuron most. It does not show where the neuron stays silent, or "
        "whether the model needs it."
    )
    choose_neuron(view)
    _show_another_neuron(view, survey)
    _show_more(view, survey, found)
    code(NeuronSurvey.most_excited)


def why_this(neuron: int, survey: NeuronSurvey, layer: int) -> str:
    """Say which neuron is on screen: the most selective one of its layer, if it is this one."""
    if neuron == survey.most_selective(layer):
        return (
            f"The lab chose this neuron because few tokens excite it (at most {SELDOM:.0%}), and its strongest tokens "
            "are the most alike in this layer. The strongest tokens come first:"
        )
    return "These tokens excite it most. The strongest come first:"


def _show_more(view: FeedForwardView, survey: NeuronSurvey, found: tuple[Excited, ...]) -> None:
    """Draw, behind clicks, the activations, the token's most active neurons, and how far the list may be trusted."""
    with st.expander("The activations", icon=":material/table:", on_change="rerun", key="_activations") as activations:
        if activations.open:
            columns = Column("activation", 75, "%.3f"), Column("token", 75), Column("in its text", 400)
            show_table(_table(survey, found, view.trace.model.tokenizer), columns)
    with st.expander("In your own text", on_change="rerun", key="_most_active") as active:
        if active.open:
            show_sentence(view.trace, view.token)
            here = signed(float(view.layer.ffn_activation[view.token, view.neuron]), 3)
            say(f"At {view.name}, the activation of neuron {view.neuron + 1:,} is {here}.")
            draw(view.figure(figures.most_active), "most-active")
    with st.expander("How far to trust the list", on_change="rerun", key="_trust") as trust:
        if trust.open:
            say(_GEVA)


def _marked(survey: NeuronSurvey, found: Excited) -> str:
    """A text around a token, with the token marked; safe in Markdown."""
    encoding = survey.encodings[found.text]
    before, token, after = _around(encoding, found.token)
    return f"{_spaced(before)}:blue-background[{escaped(token)}]{_spaced(after)}"


def _spaced(text: str) -> str:
    """A part of a text, escaped; spaces at its ends are kept."""
    return f"{' ' if text[:1].isspace() else ''}{escaped(text)}{' ' if text.strip() and text[-1:].isspace() else ''}"


def _around(encoding: Encoding, token: int) -> tuple[str, str, str]:
    """A token and the text on either side of the token; long text is cut."""
    start, end = encoding.offsets[token]
    text = encoding.text
    before, after = text[max(0, start - _CONTEXT) : start], text[end : end + _CONTEXT]
    return ("…" * (start > _CONTEXT)) + before, text[start:end], after + ("…" * (len(text) > end + _CONTEXT))


def strongest_tokens(view: FeedForwardView, survey: NeuronSurvey, neuron: int) -> list[str]:
    """Return a few tokens that excite a neuron most in the short texts, each once, the strongest first."""
    tokenizer = view.trace.model.tokenizer
    found = survey.most_excited(view.layer.index, neuron)
    words = [word_of(tokenizer, survey.encodings[each.text].token_ids[each.token]) for each in found if each.value > 0]
    return list(dict.fromkeys(words))[:_FEW]


def _chosen_or_selective(view: FeedForwardView, survey: NeuronSurvey) -> FeedForwardView:
    """Choose the most selective neuron until somebody chooses one, because its pattern is the easiest to see."""
    best = None if view.page.selection[NEURON] else survey.most_selective(view.layer.index)
    return view if best is None else replace(view, neuron=best)


def _show_another_neuron(view: FeedForwardView, survey: NeuronSurvey) -> None:
    """Offer the token's most active neuron; from there, the most selective neuron."""
    active, best = most_active(view.layer, view.token, 1)[0], survey.most_selective(view.layer.index)
    if active == best:
        return
    if view.neuron != active:
        which, neuron = f"most active neuron of {view.name}", active
    elif best is not None:
        which, neuron = f"most selective neuron of {view.place}", best
    else:
        return
    why = f"the {which}. What do its strongest tokens have in common?"
    try_this(why, f"Take neuron {neuron + 1:,}", {NEURON: neuron + 1})


def look_in_texts(view: FeedForwardView) -> NeuronSurvey | None:
    """Return the survey of the short texts; None while the model reads the texts and the page shows the progress."""
    model = view.trace.model
    texts = toy_runs.texts(view.page.selection) if view.of_toy else bundled_sentences()
    survey = neuron_survey(model, texts)
    if survey.finished:
        return survey
    unasked(("survey of neurons", serial_of(survey)), f"Read {len(texts)} texts", partial(_read, survey, model))
    return None


def _read(survey: NeuronSurvey, model: LoadedModel, tell: ProgressFunction) -> None:
    while not survey.finished:
        survey.step(model)
        tell(survey.done / survey.total)


def _table(survey: NeuronSurvey, found: tuple[Excited, ...], tokenizer: Tokenizer) -> pd.DataFrame:
    rows = []
    for each in found:
        encoding = survey.encodings[each.text]
        before, token, after = _around(encoding, each.token)
        rows.append((each.value, word_of(tokenizer, encoding.token_ids[each.token]), f"{before}«{token}»{after}"))
    return pd.DataFrame(rows, columns=["activation", "token", "in its text"])
