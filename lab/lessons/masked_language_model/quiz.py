"""The checks of the masked-language-model lesson, on the learner's own text."""

from __future__ import annotations

from functools import partial

import streamlit as st

from lab.analysis.layers.lens import lens
from lab.analysis.words.masking import mask_of, maskable, spread, unknown_of, whole_words
from lab.analysis.words.next_sentence import next_sentence
from lab.analysis.words.predictions import restored_words, word_of
from lab.analysis.words.sampling import SamplingSettings, sample
from lab.course.sentences.blanks import BLANKS
from lab.course.telling import telling
from lab.lessons.masked_language_model import LESSON, checks, likelihood_checks, what_if
from lab.lessons.masked_language_model.lens import lens_at, name_of, offered
from lab.lessons.masked_language_model.likelihood import known
from lab.models.interventions import Interventions
from lab.questions.question import Question
from lab.ui import runs
from lab.ui.parameters import MODE, TOY
from lab.ui.quiz.asking import draw_checks
from lab.ui.shared.prediction import PredictionView

_AT_MOST = 5
_HIDDEN_TOO = 4  # words of which one is hidden, too: a run each
_LENS_TOKENS = 8
_NOT_LISTED = 12  # words whose probabilities a question may list
_NUCLEI = (0.5, 0.3, 0.7, 0.9)


def show_checks(view: PredictionView) -> None:
    """Questions on this text."""
    first, *others = view.best(5)
    # No prompt may hold the number that another question asks for: the list of the most probable words stays clear of
    # the word divided by hand, and so does the word whose logit grows.
    divided = view.best(_NOT_LISTED + 4)[_NOT_LISTED:] if view.causal else others[:2]
    run = partial(runs.run, view.model.id, pair="", changes=Interventions())
    toy = view.page.selection[MODE] == TOY
    questions: list[Question | None] = [
        what_if.why_hidden(view.causal),
        None if toy else what_if.other_subject(run, view.model, telling(run, view.model)),
        None if toy else what_if.other_sentence(run, view.model, BLANKS[2]),
        None if view.causal else _one_more_hidden(view),
        _settled(view),
        next(filter(None, (checks.quotient(each, view.prediction) for each in divided)), None),
        None if toy else _perplexity(view),  # the toy has no step that teaches it
        _nucleus(view) if view.causal else _pair(view),
        _least_certain(view),
        next(filter(None, (checks.shifted(each) for each in others[2:])), None),
        checks.tempered(view.prediction, first) if view.causal else _easiest_word(view),
    ]
    draw_checks(LESSON, questions, most=_AT_MOST)


def _truth(view: PredictionView) -> int | None:
    return None if view.truth is None else view.truth.token_id


def _settled(view: PredictionView) -> Question | None:
    """From which row of the plain lens on the answer stays: its rows need no second model to be explained."""
    best = lens(view.trace, (view.place,), (_truth(view),)).best[:, 0]
    return likelihood_checks.settled(
        [word_of(view.model.tokenizer, int(each)) for each in best], name_of(view, view.place)
    )


def _one_more_hidden(view: PredictionView) -> Question | None:
    """Up to four whole words of the text that are in plain sight."""
    encoding, mask = view.trace.encoding, mask_of(view.model.tokenizer)
    if mask is None:
        return None
    open_to = maskable(encoding, mask[1])
    return what_if.one_more_hidden(view.trace, view.place, spread(whole_words(encoding, open_to), _HIDDEN_TOO))


def _perplexity(view: PredictionView) -> Question | None:
    found = known(view.plain)
    return None if found is None else likelihood_checks.perplexity(found)


def _nucleus(view: PredictionView) -> Question | None:
    """How many tokens top-p keeps, for the first of a few values of it that the listed probabilities decide."""
    asked = (likelihood_checks.nucleus(sample(view.prediction, SamplingSettings(top_p=p)), p) for p in _NUCLEI)
    return next(filter(None, asked), None)


def _pair(view: PredictionView) -> Question | None:
    found = next_sentence(view.plain)
    return None if found is None else likelihood_checks.pair_softmax(found) or likelihood_checks.swapped(found)


def _least_certain(view: PredictionView) -> Question | None:
    """The output's entropy at a few tokens, the last row of the lens.

    Of tokens in plain sight a masked-language model is nearly certain, so only hidden ones compete.
    """
    places = spread(offered(view) if view.causal else view.hidden, _LENS_TOKENS)
    if len(places) < 2:
        return None
    found = lens_at(view, places)
    return likelihood_checks.least_certain(found.entropy[-1].tolist(), [name_of(view, place) for place in places])


def _easiest_word(view: PredictionView) -> Question | None:
    """Hides up to four words of the text, one at a time."""
    encoding, tokenizer = view.plain.encoding, view.model.tokenizer
    unknown, mask = unknown_of(tokenizer), mask_of(tokenizer)
    if mask is None:
        return None
    open_to = [place for place in maskable(encoding, mask[1]) if encoding.token_ids[place] != unknown]
    places = spread(whole_words(encoding, open_to) or open_to, 4)
    with st.spinner("Hiding one word at a time …"):
        found = restored_words(view.plain, places)
    prompt = "If you hide just one of these words, which does the model restore with the highest probability?"
    return checks.easiest_word(prompt, found)
