"""A text with hidden words, or the beginning of a text, and the place at which the model predicts."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from lab.analysis.words import predictions
from lab.analysis.words.masking import asked_next, masked_run, typed_masks
from lab.analysis.words.predictions import Candidate, Prediction, word_of
from lab.course.words import escaped, quoted
from lab.figures.sentence_arcs import Looking
from lab.models.catalogue import DEFAULT_MODEL
from lab.models.loading import LoadedModel
from lab.models.trace import Trace
from lab.ui.page import OpenPage
from lab.ui.shared import masking_controls


@dataclass(frozen=True)
class PredictionView:
    """A text with hidden words (or its beginning), and the place at which the model predicts.

    ``plain`` is the run with nothing hidden, ``trace`` the run that predicts; in a causal model the two are the same.
    Places count from 0.
    """

    page: OpenPage
    plain: Trace
    trace: Trace
    hidden: tuple[int, ...]
    chosen: tuple[int, ...]
    place: int
    prediction: Prediction

    @property
    def model(self) -> LoadedModel:
        return self.plain.model

    @property
    def causal(self) -> bool:
        return self.model.config.causal

    @property
    def noun(self) -> str:
        """The entries of the vocabulary, as the model's family calls them."""
        return "tokens" if self.causal else "words"

    @property
    def truth(self) -> Candidate | None:
        return predictions.true_word(self.prediction, self.model.tokenizer)

    def best(self, k: int) -> tuple[Candidate, ...]:
        return predictions.candidates(self.prediction, k, self.model.tokenizer)

    @property
    def where(self) -> str:
        """The place in words, with tokens counted from 1."""
        return f"after token {self.place + 1}" if self.causal else f"at token {self.place + 1}"


def cannot_predict(model: LoadedModel) -> str:
    """Return the reason why a model predicts no words, and what to do; empty if the model predicts words."""
    return model.no_words and f"{escaped(model.no_words)} Choose {DEFAULT_MODEL} in the sidebar."


def look(page: OpenPage, plain: Trace, of: Looking | None = None) -> PredictionView | None:
    """Draw the sentence, in which clicks hide words or choose a place; ``of`` draws the arcs of a head.

    Return the view, or None if no word is hidden.
    """
    if plain.model.config.causal:
        return _look_ahead(page, plain, of)
    mask_id = (plain.model.mask or ("", -1))[1]
    chosen = masking_controls.chosen_places(plain.encoding, mask_id)
    hidden = tuple(sorted({*chosen, *typed_masks(plain.encoding, mask_id)}))
    place = masking_controls.asked_place(hidden, hidden[0]) if hidden else None
    trace = masked_run(plain, chosen) if chosen else plain
    blanks = masking_controls.Blanks(chosen, hidden, place, masking_controls.maskable(plain.encoding, mask_id))
    masking_controls.show_blanks(plain, blanks, trace, None if place is None else of)
    if place is None:
        st.info("Hide a word to ask the model about it.", icon=":material/visibility_off:")
        return None
    return PredictionView(
        page, plain, trace, hidden, chosen, place, predictions.masked_prediction(trace, plain.encoding, place)
    )


def _look_ahead(page: OpenPage, plain: Trace, of: Looking | None) -> PredictionView:
    places = range(len(plain))
    start = asked_next(plain.encoding)
    place = masking_controls.asked_place(places, start)
    masking_controls.show_read(plain, place, of)
    if place == start < len(plain) - 1:
        st.caption(
            "The lab asks inside your text, before its last whole word, because the model expects a new sentence or "
            f"the end after the final {quoted(word_of(plain.model.tokenizer, plain.token_ids[-1]))}. If you choose "
            "another token, the lab asks what follows that token."
        )
    return PredictionView(page, plain, plain, (), (), place, predictions.next_prediction(plain, place))
