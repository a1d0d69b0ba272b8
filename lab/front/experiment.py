"""The first minute: a sentence with a blank, your guess, the model's answer, and one word that changes it."""

from __future__ import annotations

import html
from dataclasses import dataclass, replace
from functools import partial

import streamlit as st

from lab.analysis.words.masking import mask_of, typed_masks
from lab.analysis.words.predictions import Candidate, Prediction, candidate, candidates, prediction_at
from lab.charts.base.colour import CHOSEN
from lab.charts.tokens.word_bars import WordBar, word_bars
from lab.course.sentences.blanks import BLANK, Blank
from lab.course.telling import telling
from lab.course.words import escaped
from lab.models.catalogue import DEFAULT_MODEL
from lab.models.interventions import Interventions
from lab.models.loading import LoadedModel
from lab.models.trace import Trace
from lab.ui import runs
from lab.ui.downloads import available

_GUESS, _OWN, _SHOWN, _CHANGED = "_first_guess", "_first_own", "_first_shown", "_first_changed"
_LONGEST = 30  # characters of a guess
_SENTENCE = f"""<style>
.blank-sentence {{ font-size: clamp(1.4rem, 4.5vw, 2.1rem); line-height: 1.4; margin: .5rem 0 0; }}
.blank-sentence .gap {{ display: inline-block; min-width: 3.2em; text-align: center; color: {CHOSEN};
  border-bottom: 3px solid {CHOSEN}; }}
.blank-sentence mark {{ background: light-dark(#fdeeb5, #5c4a10); color: inherit; padding: 0 .1em; }}
</style>"""


@dataclass(frozen=True, eq=False)
class Asked:
    """A blank, and the run of its sentence through the model; ``answered``: the model's answer is on screen."""

    trace: Trace
    place: int
    answered: bool = False

    @property
    def prediction(self) -> Prediction:
        return prediction_at(self.trace, self.place, None)

    def best(self, count: int = 5) -> tuple[Candidate, ...]:
        return candidates(self.prediction, count, self.trace.model.tokenizer)


def filling_model(chosen: str) -> LoadedModel:
    """The chosen model if it is here and fills blanks, else the default one, and why."""
    model = runs.model(available(chosen))
    if can_fill(model):
        return model
    default = runs.model(available(DEFAULT_MODEL))
    st.caption(f"{escaped(model.id)} was not trained to fill blanks, so you see {escaped(default.id)} here.")
    return default


def can_fill(model: LoadedModel) -> bool:
    """Whether a model has a token for a hidden word and says which word it is."""
    return (
        not model.config.causal and mask_of(model.tokenizer) is not None and model.weights.vocabulary_head is not None
    )


def asked(model: LoadedModel, text: str) -> Asked | None:
    """``text`` with its blank, through ``model``; None where no blank is left of it."""
    mask = mask_of(model.tokenizer)
    if mask is None:
        return None
    trace = runs.run(model.id, text.replace(BLANK, mask[0]), "", Interventions())
    masks = typed_masks(trace.encoding, mask[1])
    return Asked(trace, masks[0]) if masks else None


def show(model: LoadedModel) -> Asked | None:
    """The whole experiment; returns what is on screen, None where the model cannot read the sentence."""
    blank = telling(partial(runs.run, model.id, pair="", changes=Interventions()), model)
    changed = bool(st.session_state.get(_CHANGED))
    now = asked(model, blank.changed if changed else blank.text)
    if now is None:
        return None
    guess = _ask(blank, changed)
    if guess is None:
        return now
    _answer(now, blank.changed if changed else blank.text, guess)
    _change(model, blank, changed, now)
    return replace(now, answered=True)


def _ask(blank: Blank, changed: bool) -> str | None:
    """The sentence and the question; the learner's word, "" for none, None while it is not said."""
    st.html(_SENTENCE + sentence(blank, changed))
    offered = st.pills("What would you put in the blank?", blank.offered, key=_GUESS)
    left, right = st.columns([2, 1], vertical_alignment="bottom")
    with left:
        own = st.text_input("Or a word of your own", key=_OWN, max_chars=_LONGEST).strip()
    with right:
        if st.button("Show me", help="See what the model says without a guess."):
            st.session_state[_SHOWN] = True
    guess = own or offered or ""
    if guess:
        st.session_state[_SHOWN] = True
    return guess if st.session_state.get(_SHOWN) else None


def sentence(blank: Blank, changed: bool) -> str:
    """The sentence as HTML: the blank as a gap, a changed word marked."""
    text = html.escape(blank.changed if changed else blank.text)
    if changed:
        new = html.escape(blank.change[1])
        text = text.replace(new, f"<mark>{new}</mark>", 1)
    gap = '<span class="gap" role="img" aria-label="blank">?</span>'
    return f'<p class="blank-sentence">{text.replace(html.escape(BLANK), gap)}</p>'


def pieces_of(now: Asked, text: str, guess: str) -> list[int]:
    """The ids of a guess where it would stand: a vocabulary may hold a word with the space before it, and without."""
    tokenizer, asking = now.trace.model.tokenizer, list(now.trace.token_ids)
    filled = tokenizer.encode(text.replace(BLANK, guess)).ids
    if filled[: now.place] != asking[: now.place]:
        # A space stands before the mask as a token of its own, so the word comes without one.
        return list(tokenizer.encode(guess, add_special_tokens=False).ids)
    return list(filled[now.place : now.place + 1 + len(filled) - len(asking)])


def _answer(now: Asked, text: str, guess: str) -> None:
    """The model's five likeliest words, and where the learner's stands in ``text``."""
    tokenizer, best = now.trace.model.tokenizer, now.best()
    pieces = pieces_of(now, text, guess) if guess else []
    bars = [WordBar(each.word, each.probability, chosen=pieces == [each.token_id]) for each in best]
    if len(pieces) == 1 and pieces[0] not in {each.token_id for each in best}:
        own = candidate(now.prediction, pieces[0], tokenizer)
        bars.append(WordBar(own.word, own.probability, f"Your word has rank {own.rank:,}.", chosen=True))
    known = len(now.prediction.logits)
    st.markdown(f"**What {escaped(now.trace.model.id)} says.** The five likeliest of the {known:,} tokens it knows:")
    st.html(word_bars(bars))
    if len(pieces) > 1:
        st.caption(
            f"“{escaped(guess)}” is {len(pieces)} pieces for this model, and the blank holds one. Try another word."
        )


def _change(model: LoadedModel, blank: Blank, changed: bool, now: Asked) -> None:
    """One word of the sentence is changed, and the answer with it, where this model's answer does change."""
    other = asked(model, blank.text if changed else blank.changed)
    was, becomes = (each.best(1)[0] for each in (other, now) if each is not None)
    if was.token_id == becomes.token_id:
        return
    first, second = blank.change
    if changed:
        st.markdown(
            f"You changed one word, and the answer changed from *{escaped(was.word)}* to *{escaped(becomes.word)}*. "
            "Nobody tells a BERT what singular and plural are. It learns by filling blanks in texts."
        )
        st.button(f"Back to {first}", icon=":material/undo:", on_click=_set_changed, args=(False,))
    else:
        st.markdown("Now change one word of the sentence. Will the answer stay?")
        st.button(f"{first} → {second}", icon=":material/edit:", on_click=_set_changed, args=(True,))


def _set_changed(changed: bool) -> None:
    st.session_state[_CHANGED] = changed
