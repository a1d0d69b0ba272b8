"""The tokens that excite a neuron, and what they tell about it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from lab.analysis.layers.excitation import SELDOM, Excited, NeuronSurvey, neuron_survey
from lab.analysis.layers.feed_forward import most_active
from lab.course.words import escaped, quoted, signed
from lab.lessons.feed_forward import LESSON, checks, figures, meanings
from lab.lessons.feed_forward.view import FeedForwardView, choose_neuron
from lab.models.batches import ProgressFunction
from lab.models.encoding import Encoding, word_of
from lab.models.loading import LoadedModel
from lab.text.bundled import bundled_sentences
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import meaning, try_this
from lab.ui.long_work import unasked
from lab.ui.parameters import MODE, NEURON, TOY
from lab.ui.quiz.predictions import predict
from lab.ui.selection import Selection
from lab.ui.tables import Column, show_table
from lab.ui.terms import say
from lab.ui.toys import toy_runs

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_FEW = 5  # number of tokens that a sentence names
_CONTEXT = 60  # characters of a text on either side of a token
_GEVA = (
    "Geva et al. (2021, §3) showed people the 25 texts that excite a neuron most, for 160 neurons of one language "
    "model with 16 layers. The people found at least one pattern for each neuron, and the patterns cover 65 to 80 % of "
    "these texts. The people saw no texts further down the list, and no neurons of this model: a pattern that you see "
    "is your own finding."
)


def show_excited(view: FeedForwardView) -> None:
    """Show the tokens of many texts that excite the chosen neuron most."""
    survey = survey_of(view)
    if survey is None:
        return
    view = _selective(view, survey)
    found, common = survey.most_excited(view.layer.index, view.neuron), survey.commonest(view.layer.index, view.neuron)
    if common is None:
        return
    often = survey.share_positive(view.layer.index, view.neuron)
    token = quoted(word_of(view.trace.model.tokenizer, common.token_id))
    say(f"**Neuron {view.neuron + 1:,} of {view.place}.** Which tokens make it fire? The strongest come first:")
    say("\n".join(f"- {_marked(survey, each)}" for each in found))
    alike = 2 * common.repeats >= common.strongest
    question = (
        checks.fires_there(common, view.neuron, token) if alike else checks.how_often(often, view.neuron, survey.tokens)
    )
    if not predict(LESSON, question):
        return
    meaning(meanings.about_its_tokens(view.neuron, often, survey.base_rate(view.layer.index), common, token))
    special = ", special tokens left out" if any(any(e.special) for e in survey.encodings) else ""
    st.caption(
        f"One neuron, {survey.tokens:,} tokens of {len(survey.encodings)} short texts{special}: a hint, not a proof."
    )
    choose_neuron(view)
    _other_neuron(view, survey)
    _show_more(view, survey, found)
    code(NeuronSurvey.most_excited)


def _show_more(view: FeedForwardView, survey: NeuronSurvey, found: tuple[Excited, ...]) -> None:
    """Draw, behind clicks, the activations, the token's most active neurons, and how far the list may be trusted."""
    with st.expander("The activations", icon=":material/table:", on_change="rerun", key="_activations") as activations:
        if activations.open:
            columns = Column("activation", 75, "%.3f"), Column("token", 75), Column("in its text", 400)
            show_table(_table(survey, found, view.trace.model.tokenizer), columns)
            here = signed(float(view.layer.ffn_activation[view.token, view.neuron]), 3)
            st.caption(f"In your text, at {view.name}, the activation of this neuron is {here}.")
    with st.expander(f"The most active neurons of {view.name}", on_change="rerun", key="_most_active") as active:
        if active.open:
            draw(view.figure(figures.most_active), "most-active")
    with st.expander("Why this neuron, and how far to trust the list", on_change="rerun", key="_trust") as trust:
        if trust.open:
            if view.neuron == survey.most_selective(view.layer.index):
                say(
                    f"The step begins with this neuron because it is the most selective one of {view.place}: it is "
                    f"above 0 at no more than {SELDOM:.0%} of the tokens, and among all such neurons, its strongest "
                    "tokens are the most alike."
                )
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


def _selective(view: FeedForwardView, survey: NeuronSurvey) -> FeedForwardView:
    """Choose the most selective neuron until somebody chooses one, because its pattern is the easiest to see."""
    best = None if view.page.selection[NEURON] else survey.most_selective(view.layer.index)
    return view if best is None else replace(view, neuron=best)


def _other_neuron(view: FeedForwardView, survey: NeuronSurvey) -> None:
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
    why = f"the {which}. Do its strongest tokens have something in common?"
    try_this(why, f"Take neuron {neuron + 1:,}", {NEURON: neuron + 1})


def _texts(chosen: Selection) -> tuple[str, ...]:
    """Return the bundled sentences; in toy mode the toy's own."""
    return toy_runs.texts(chosen) if chosen[MODE] == TOY else bundled_sentences()


def survey_of(view: FeedForwardView) -> NeuronSurvey | None:
    """Return the survey of the short texts; None while the model reads the texts and the page shows the progress."""
    model, texts = view.trace.model, _texts(view.page.selection)
    survey = neuron_survey(model, texts)
    if survey.finished:
        return survey
    unasked(("survey of neurons", id(survey)), f"Read {len(texts)} texts", partial(_read, survey, model))
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
