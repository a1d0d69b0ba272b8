"""The first minute: a sentence with a blank, a guess, the word that forms there, and one word that is cut off."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass

import streamlit as st

from lab.analysis.words.masking import asked_run
from lab.analysis.words.predictions import Prediction, candidate, prediction_at
from lab.charts.base.colour import CHOSEN
from lab.charts.components.word_forms_picture import OnPage
from lab.course.sentences.examples import FIRST, First
from lab.course.words import escaped, percent
from lab.models.catalogue import DEFAULT_MODEL
from lab.models.encoding import TextError
from lab.models.interventions import Interventions
from lab.models.loading import LoadedModel
from lab.models.trace import Trace
from lab.ui import runs
from lab.ui.download_offer import available
from lab.ui.parameter_kinds import say_shortened, shorten
from lab.ui.parameters import BLANK_TEXT, MODEL
from lab.ui.shared.unreadable_text import say_unreadable
from lab.ui.shared.word_forms import show_word_forms

_PICKED, _GUESS, _OWN, _TYPED, _SHOWN = "_first_picked", "_first_guess", "_first_own", "_first_typed", "_first_shown"
_OWN_SENTENCE = "Your own …"
_LONGEST = 30  # characters of a guess
_WRITTEN = re.compile(r"\[MASK\]|<mask>|_+", re.IGNORECASE)  # the ways in which a learner may write a blank
_STYLE = f"""<style>
.blank-sentence {{ font-size: clamp(1.4rem, 4vw, 2rem); line-height: 1.35; margin: 0; overflow-wrap: anywhere; }}
.blank-sentence .gap {{ display: inline-block; min-width: 3.4em; text-align: center; color: {CHOSEN};
  border-bottom: 3px solid {CHOSEN}; transition: opacity .3s; }}
.first-question {{ font-size: 1.1rem; font-weight: 600; margin: 0; padding: 0; }}
</style>"""


@dataclass(frozen=True, eq=False)
class AskedBlank:
    """A sentence that the model has read, the place of its blank, and the text before and after the blank."""

    trace: Trace
    place: int

    @property
    def prediction(self) -> Prediction:
        return prediction_at(self.trace, self.place, None)

    @property
    def around(self) -> tuple[str, str]:
        """The text before the blank and the text after it."""
        start, end = self.trace.offsets[self.place]
        return self.trace.text[:start], self.trace.text[end:]


@dataclass(frozen=True, eq=False)
class FirstMinute:
    """The model that fills the blank, its run, and whether its words may be shown; no run without a blank to fill."""

    model: LoadedModel
    blank: AskedBlank | None
    answered: bool


def show(question: str) -> FirstMinute:
    """Draw the question, the sentence, the guess, and the picture."""
    model = filling_model(MODEL.chosen())
    sentence = next((each for each in FIRST if each.text == BLANK_TEXT.chosen()), None)
    with st.container(gap=None):
        st.html(f'{_STYLE}<h1 class="first-question">{html.escape(question)}</h1>')
        place = st.container()
    _choose(sentence)
    try:
        now = asked(model, BLANK_TEXT.chosen())
    except TextError as error:
        st.info(str(error), icon=":material/edit:")
        return FirstMinute(model, None, answered=False)
    if now is None:
        st.info("Write a sentence with at least one word that the lab can hide.", icon=":material/edit:")
        return FirstMinute(model, None, answered=False)
    place.html(_sentence(now))
    if sentence is None:
        _say_blanks(len(_WRITTEN.findall(BLANK_TEXT.chosen())))
        say_unreadable(now.trace)
    answered, reply = _ask(now, sentence)
    play = f"{now.trace.text} {model.id}" if answered else ""
    hint = _try(now, sentence) if answered else ""
    page = OnPage(fills=".blank-sentence .gap", play=play, waits=not answered, hint=hint, reply=reply)
    st.fragment(show_word_forms)(now.trace, now.place, "first-picture", page)
    return FirstMinute(model, now, answered)


def filling_model(chosen: str) -> LoadedModel:
    """The chosen model if it is here and fills blanks, otherwise the default model, with the reason."""
    model = runs.model(available(chosen))
    if can_fill(model):
        return model
    default = runs.model(available(DEFAULT_MODEL))
    reason = model.no_words or f"{model.id} was not trained to fill blanks."
    st.caption(f"{escaped(reason)} So you see {escaped(default.id)} here.")
    return default


def can_fill(model: LoadedModel) -> bool:
    """Return whether a model has a token for a hidden word, and predicts words."""
    return not model.config.causal and not model.no_words


def asked(model: LoadedModel, text: str) -> AskedBlank | None:
    """Return ``text`` with its first blank, or, without a blank, with its last word hidden; None if no word can be.

    Raises TextError for a text with nothing to read.
    """
    mask = model.mask
    if mask is None:
        return None
    first = _WRITTEN.search(text)
    if first is not None:
        text = f"{text[: first.start()]}{mask[0]}{_WRITTEN.sub('', text[first.end() :])}"
    found = asked_run(runs.run(model.id, text, "", Interventions()))
    return None if found is None else AskedBlank(*found)


def has_blank(text: str) -> bool:
    """Return whether a learner has written a blank; without one, the lab hides the last word."""
    return _WRITTEN.search(text) is not None


def _choose(sentence: First | None) -> None:
    """Draw the sentences to choose from, and a line for the learner's own sentence."""

    def take() -> None:
        picked = st.session_state[_PICKED]
        found = next((each for each in FIRST if each.short == picked), None)
        BLANK_TEXT.set("" if found is None else found.text)
        st.session_state[_TYPED] = ""
        _begin_again()

    def take_own() -> None:
        shorten(_TYPED, BLANK_TEXT.longest)
        BLANK_TEXT.set(st.session_state[_TYPED])
        _begin_again()

    st.session_state[_PICKED] = _OWN_SENTENCE if sentence is None else sentence.short
    names = [*(each.short for each in FIRST), _OWN_SENTENCE]
    st.pills("Sentence", names, key=_PICKED, on_change=take, required=True, label_visibility="collapsed")
    if sentence is None:
        st.session_state[_TYPED] = BLANK_TEXT.chosen()
        st.text_input(
            "Your sentence, with a line for the blank",
            key=_TYPED,
            on_change=take_own,
            placeholder="My cat likes to _ in the sun.",
        )
        say_shortened(_TYPED, BLANK_TEXT.longest)


def _say_blanks(count: int) -> None:
    """Say which word is hidden in a sentence without exactly one blank."""
    if count == 0:
        st.caption("Your sentence has no blank, so the lab hides its last word.")
    elif count > 1:
        st.caption(f"Your sentence has {count} blanks. The lab asks about the first blank and leaves the others out.")


def _begin_again() -> None:
    """Begin again, because another sentence needs another guess."""
    for key in (_GUESS, _OWN, _SHOWN):
        st.session_state.pop(key, None)


def _sentence(now: AskedBlank) -> str:
    """The sentence as HTML, with a gap for the blank; all text is escaped."""
    gap = '<span class="gap" role="img" aria-label="blank">?</span>'
    before, after = (html.escape(part) for part in now.around)
    return f'<p class="blank-sentence" dir="auto">{before}{gap}{after}</p>'


def _ask(now: AskedBlank, sentence: First | None) -> tuple[bool, str]:
    """Let the learner guess. Returns whether the answer may be shown, and the model's opinion of the guess."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown("**Your guess**", width="content")
        offered = None
        if sentence is not None:
            offered = st.pills(
                "What belongs in the blank?",
                sentence.offered,
                key=_GUESS,
                label_visibility="collapsed",
                width="content",
            )
        or_own = "or your own word" if sentence else "your word"
        own = st.text_input(
            "Your word",
            key=_OWN,
            placeholder=or_own,
            width=170,
            label_visibility="collapsed",
            on_change=shorten,
            args=(_OWN, _LONGEST),
        ).strip()
        say_shortened(_OWN, _LONGEST)
        if st.button("Show me"):
            st.session_state[_SHOWN] = True
        if guess := own or offered:
            st.session_state[_SHOWN] = True
    return bool(st.session_state.get(_SHOWN)), _told(now, guess) if guess else ""


def _told(now: AskedBlank, guess: str) -> str:
    """State the probability that the model gives to the learner's word, and the word's rank, as plain text."""
    pieces, known = pieces_of(now, guess), len(now.prediction.logits)
    if len(pieces) != 1:
        return f"This model cuts “{guess}” into {len(pieces)} pieces, but a blank holds only one piece."
    own = candidate(now.prediction, pieces[0], now.trace.model.tokenizer)
    rank = "its best word" if own.rank == 1 else f"rank {own.rank:,}"
    return (
        f"The model gave “{guess}” {percent(own.probability)}. This is {rank} among the {known:,} words and "
        "pieces that it knows."
    )


def pieces_of(now: AskedBlank, guess: str) -> list[int]:
    """The ids that a guess may have in the blank: a vocabulary may have the word with and without a space before it."""
    tokenizer, asking = now.trace.model.tokenizer, list(now.trace.token_ids)
    before, after = now.around
    filled = tokenizer.encode(f"{before}{guess}{after}").ids
    if filled[: now.place] != asking[: now.place]:
        # The space before the mask is a separate token, so the word is encoded without a space.
        return list(tokenizer.encode(guess, add_special_tokens=False).ids)
    return list(filled[now.place : now.place + 1 + len(filled) - len(asking)])


def _try(now: AskedBlank, sentence: First | None) -> str:
    """Offer the word whose cut is worth seeing, if the lab knows one for this sentence."""
    if sentence is None:
        return ""
    best = now.trace.model.tokenizer.id_to_token(int(now.prediction.best(1)[0]))
    return f"Now cut “{sentence.cut}” off: click it on the left. Will the blank still become “{best}”?"
