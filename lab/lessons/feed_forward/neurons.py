"""What a neuron stands for, as far as one can tell: the tokens that excite it, and what it writes."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from lab.analysis.layers.excitation import SELDOM, Excited, NeuronSurvey, neuron_survey
from lab.analysis.layers.feed_forward import most_active
from lab.course.words import quoted, signed
from lab.lessons.feed_forward import LESSON, checks, figures, meanings
from lab.lessons.feed_forward.view import FeedForwardView, choose_neuron
from lab.models.batches import Progress
from lab.models.encoding import word_of
from lab.models.loading import LoadedModel
from lab.text.bundled import bundled_sentences
from lab.ui.drawing import code, draw
from lab.ui.frame.script import meaning, try_this
from lab.ui.long_work import unasked
from lab.ui.parameters import MODE, NEURON, TOY
from lab.ui.quiz.predictions import predict
from lab.ui.selection import Selection
from lab.ui.tables import Column, show_table
from lab.ui.toys import toy_runs

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_FEW = 5  # tokens that a sentence names
_CONTEXT = 60  # characters of a text on either side of a token
_GEVA = (
    "Geva et al. (2021, §3) asked people what the 25 texts have in common that excite a neuron most. They asked about "
    "160 neurons of one language model with 16 layers. For each the people found at least one pattern, and the "
    "patterns cover 65 to 80 % of these texts. They did not ask about the texts further down the list, nor about the "
    "model here: a pattern that you see in the table is your own finding."
)


def show_excited(view: FeedForwardView) -> None:
    """The tokens of many texts that excite the chosen neuron most, and the most active neurons of the token."""
    survey = survey_of(view)
    if survey is None:
        return
    view = _selective(view, survey)
    choose_neuron(view)
    found = survey.most_excited(view.layer.index, view.neuron)
    common = survey.commonest(view.layer.index, view.neuron)
    if common is None:
        return
    often = survey.share_positive(view.layer.index, view.neuron)
    token = quoted(word_of(view.trace.model.tokenizer, common.token_id))
    question = (
        checks.only_there(common, view.neuron, token)
        if 2 * common.repeats >= common.strongest
        else checks.how_often(often, view.neuron, survey.tokens)
    )
    if not predict(LESSON, question):
        return
    st.markdown(f"**The tokens that excite neuron {view.neuron + 1:,} of {view.place} most**")
    if view.neuron == survey.most_selective(view.layer.index):
        st.markdown(
            f"The step begins with this neuron because it is the most selective one of {view.place}: it is above 0 at "
            f"no more than {SELDOM:.0%} of the tokens, and of all such neurons its strongest tokens are most alike."
        )
    columns = Column("activation", 75, "%.3f"), Column("token", 75), Column("in its text", 400)
    show_table(_table(survey, found, view.trace.model.tokenizer), columns)
    special = " Special tokens are left out." if any(any(e.special) for e in survey.encodings) else ""
    st.caption(
        f"Out of {survey.tokens:,} tokens of {len(survey.encodings)} short texts.{special} Here, at {view.name}, this "
        f"neuron’s activation is {signed(float(view.layer.ffn_activation[view.token, view.neuron]), 3)}."
    )
    base = survey.base_rate(view.layer.index)
    meaning(meanings.about_its_tokens(view.neuron, often, base, common, token))
    _other_neuron(view, survey)
    draw(view.figure(figures.most_active), "most-active")
    st.markdown(_GEVA)
    code(NeuronSurvey.most_excited)


def strongest_tokens(view: FeedForwardView, survey: NeuronSurvey, neuron: int) -> list[str]:
    """The tokens that excite a neuron most in the short texts, each once, the strongest first; a few of them."""
    tokenizer = view.trace.model.tokenizer
    found = survey.most_excited(view.layer.index, neuron)
    words = [word_of(tokenizer, survey.encodings[each.text].token_ids[each.token]) for each in found if each.value > 0]
    return list(dict.fromkeys(words))[:_FEW]


def _selective(view: FeedForwardView, survey: NeuronSurvey) -> FeedForwardView:
    """As long as nobody chose a neuron, the most selective one: a pattern is easiest seen there."""
    best = None if view.page.selection[NEURON] else survey.most_selective(view.layer.index)
    return view if best is None else replace(view, neuron=best)


def _other_neuron(view: FeedForwardView, survey: NeuronSurvey) -> None:
    """The way from a selective neuron to the token's most active one, and back."""
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
    """The bundled sentences; in toy mode the toy's own."""
    return toy_runs.texts(chosen) if chosen[MODE] == TOY else bundled_sentences()


def survey_of(view: FeedForwardView) -> NeuronSurvey | None:
    """What excites each neuron in the short texts; None while the model reads them, and the page says how far it is."""
    model, texts = view.trace.model, _texts(view.page.selection)
    survey = neuron_survey(model, texts)
    if survey.finished:
        return survey
    unasked(("survey of neurons", id(survey)), f"Read {len(texts)} texts", partial(_read, survey, model))
    return None


def _read(survey: NeuronSurvey, model: LoadedModel, tell: Progress) -> None:
    while not survey.finished:
        survey.step(model)
        tell(survey.done / survey.total)


def _table(survey: NeuronSurvey, found: tuple[Excited, ...], tokenizer: Tokenizer) -> pd.DataFrame:
    rows = []
    for each in found:
        encoding = survey.encodings[each.text]
        start, end = encoding.offsets[each.token]
        text = encoding.text
        before, after = text[max(0, start - _CONTEXT) : start], text[end : end + _CONTEXT]
        cut = ("…" if start > _CONTEXT else "", "…" if len(text) > end + _CONTEXT else "")
        rows.append(
            (
                each.value,
                word_of(tokenizer, encoding.token_ids[each.token]),
                f"{cut[0]}{before}«{text[start:end]}»{after}{cut[1]}",
            )
        )
    return pd.DataFrame(rows, columns=["activation", "token", "in its text"])
