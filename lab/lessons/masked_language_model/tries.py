"""The changes that each step of the lesson offers: the sentence of the first page, or another place."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import streamlit as st

from lab.analysis.words.masking import maskable, whole_words
from lab.course.sentences.blanks import Blank
from lab.course.words import quoted
from lab.lessons.masked_language_model.telling import telling
from lab.models.encoding import clean, encode, word_of
from lab.models.interventions import Interventions
from lab.models.trace import Trace
from lab.ui import runs, selection
from lab.ui.frame.closing import try_this
from lab.ui.parameter_kinds import Parameter
from lab.ui.parameters import MASKED, MODE, PAIR, PLACE, STEP, TEXT, TOY
from lab.ui.shared import masking
from lab.ui.shared.prediction import PredictionView
from lab.ui.texts import use_texts
from lab.ui.typed import say_shortened, shorten

Changes = Mapping["Parameter[Any]", Any]
_OWN = "_own_sentence"


def show_one_word_changed(view: PredictionView) -> None:
    """Offer a sentence that asks for its verb; if the sentence is on screen already, offer to change its subject.

    The sentence is the first of the lab's to which the model on screen has two answers.
    """
    if view.page.selection[MODE] == TOY:
        return
    blank = telling(partial(runs.run, view.model.id, pair="", changes=Interventions()), view.model)
    changed = view.plain.text == blank.filled()
    before, after = map(quoted, blank.change)
    if changed:
        why = f"Change {before} to {after}. Which verb belongs there now?"
    else:
        why = f"In another sentence, a single word decides. Which verb fits {before}?"
    try_this(why, f"The {blank.change[changed]}", _chosen_blank(view, blank, changed))


def _chosen_blank(view: PredictionView, blank: Blank, changed: bool) -> Changes:
    """The changes that ask for the answer: hide it, or, in a causal model, ask after the word before it."""
    text = blank.filled(changed)
    encoding = encode(view.model.tokenizer, view.model.config, text)
    start = text.index(blank.answers[changed])
    place = next(i for i, (_, end) in enumerate(encoding.offsets) if end > start and not encoding.special[i])
    if view.causal:
        return {TEXT: text, PAIR: "", PLACE: place}  # the token before it, counted from 1
    return {TEXT: text, PAIR: "", MASKED: masking.written((place,)), PLACE: place + 1}


def show_own_sentence(first: str) -> None:
    """Offer, at the end, a field for the learner's own sentence, which the step ``first`` then asks about."""
    placeholder = "A sentence with a word to hide"
    st.text_input(
        "Now your own sentence", key=_OWN, placeholder=placeholder, on_change=shorten, args=(_OWN, TEXT.longest)
    )
    say_shortened(_OWN, TEXT.longest)
    st.button("Ask about it", key="_own_sentence_go", icon=":material/edit:", on_click=_chosen_own, args=(first,))


def _chosen_own(first: str) -> None:
    text = clean(st.session_state[_OWN]).strip()
    if not text:
        selection.note("Write a sentence first, then ask about it.")
    else:
        use_texts(text, "")
        MASKED.set("")
        PLACE.set(0)
        STEP.set(first)


def show_another_place(view: PredictionView) -> None:
    """Offer to ask about the longest other word of the text, as another vector gives other logits."""
    encoding, plain = view.plain.encoding, view.plain
    mask = view.model.mask
    asked = view.place + view.causal
    open_to = maskable(encoding, mask[1] if mask else -1)
    others = [i for i in whole_words(encoding, open_to) or open_to if i != asked and i >= view.causal]
    if not others:
        return
    longest = max(others, key=lambda i: len(word_of(view.model.tokenizer, plain.token_ids[i])))
    word = quoted(word_of(view.model.tokenizer, plain.token_ids[longest]))
    if view.causal:
        try_this(
            f"ask for the token before {word}. Another vector gives other words.",
            f"After token {longest}",
            {PLACE: longest},
        )
        return
    changes: Changes = {MASKED: masking.written((longest,)), PLACE: longest + 1}
    try_this(f"hide {word} instead. Another vector gives other words.", f"Hide token {longest + 1}", changes)


def show_two_words_swapped(trace: Trace) -> None:
    """Offer to swap two neighbouring words: the longest two, so that more than an article moves."""
    encoding, text = trace.encoding, trace.text
    whole = set(whole_words(encoding, [i for i, second in enumerate(encoding.in_pair) if not second]))
    starts = [i for i in sorted(whole) if i + 1 in whole]
    if not starts:
        return
    at = max(starts, key=lambda i: encoding.offsets[i + 1][1] - encoding.offsets[i][0])
    (start, end), (then, last) = ((_trimmed(text, *encoding.offsets[i])) for i in (at, at + 1))
    one, other = text[start:end], text[then:last]
    why = f"swap {quoted(one)} and {quoted(other)}. Does the text become less probable?"
    try_this(why, "Swap two words", {TEXT: text[:start] + other + text[end:then] + one + text[last:]})


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """A token’s span without the space that some tokenizers put before a word."""
    return end - len(text[start:end].lstrip()), end
