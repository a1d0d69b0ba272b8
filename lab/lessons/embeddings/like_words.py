"""Similar words have similar vectors: the screens about neighbours in the token table and after the layers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import streamlit as st

from lab.analysis.words.neighbours import cosine_by_state, nearest_in_table, token_twice
from lab.course.sentences.two_meanings import TWO_MEANINGS, TwoMeanings
from lab.lessons.embeddings import meanings, word_figures
from lab.lessons.embeddings.king_and_queen import show_word_sums
from lab.lessons.embeddings.meanings import Use
from lab.lessons.embeddings.screens import EmbeddingView
from lab.models.encoding import Encoding, encode
from lab.models.interventions import Interventions
from lab.models.loading import LoadedModel
from lab.text.bundled import bundled_sentences
from lab.ui import runs, selection
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import meaning, try_this
from lab.ui.parameters import MODE, SENSE, TEXT, TOKEN, TOY
from lab.ui.sentence import show_sentence
from lab.ui.shared.masking import reading
from lab.ui.terms import say
from lab.ui.toys import toy_runs

_DAYS = "He came on Monday with three friends."
_DAY, _NUMBER = "Monday", "three"
_PLAIN = Interventions()
_OWN = "from your sentence"


def show_like_words(view: EmbeddingView) -> None:
    """Show the words whose rows of the token table are most like the row of the chosen word."""
    show_sentence(view.trace, view.token)
    _draw_in_table(view)
    st.caption(
        "The lab compares all tokens that begin a word and have at least two letters. The dashed line is their mean."
    )
    meaning(meanings.like_words(view.trace, view.token))
    if _of_text(view):
        _offer_word(view)
        with st.expander("Can words be added? king − man + woman", on_change="rerun", key="_king_and_queen") as sums:
            if sums.open:
                show_word_sums(view)
    code(nearest_in_table)


def _draw_in_table(view: EmbeddingView) -> None:
    """Draw the bars of the nearest words; draw nothing for a vocabulary of one word."""
    if word_figures.in_table(view.trace, view.token).nearest:
        draw(partial(word_figures.near_in_table, view.trace, view.token), "near-in-table")


def _draw_after_layers(use: Use, texts: tuple[str, ...]) -> None:
    """Draw the nearest vectors after the layers, or say that the texts have no other word."""
    if word_figures.after_layers(use.trace, use.token, texts).nearest:
        draw(partial(word_figures.near_after_layers, use.trace, use.token, texts), f"near-after-layers-{use.token}")
    else:
        say("There is no other word in these texts.")


def _offer_word(view: EmbeddingView) -> None:
    """Offer a day of the week, and from there a number."""
    model = view.trace.model
    encoding = encode(model.tokenizer, model.config, _DAYS)
    here = TEXT.chosen() == _DAYS
    for word, kind in ((_DAY, "day of the week"), (_NUMBER, "number")):
        place = place_of(encoding, word)
        if place is not None and not (here and view.token == place):
            try_this(
                f"a {kind}. Which words are most like *{word}*?", f"Take *{word}*", {TEXT: _DAYS, TOKEN: place + 1}
            )
            return


def _of_text(view: EmbeddingView) -> bool:
    return view.page.selection[MODE] != TOY


def place_of(encoding: Encoding, word: str) -> int | None:
    """The place, from 0, at which ``word`` is one token, whatever its capitals; None if the word is cut or missing."""
    spelled = [encoding.text[start:end].strip().lower() for start, end in encoding.offsets]
    return spelled.index(word.lower()) if word.lower() in spelled else None


def offered(model: LoadedModel) -> Mapping[str, TwoMeanings]:
    """The words, by name, that are one token for this model, and the same token in both sentences."""
    found = {}
    for each in TWO_MEANINGS:
        encodings = [encode(model.tokenizer, model.config, text) for text in (each.first, each.second)]
        places = [place_of(encoding, each.word) for encoding in encodings]
        ids = {e.token_ids[place] for e, place in zip(encodings, places, strict=True) if place is not None}
        if None not in places and len(ids) == 1:
            found[each.word] = each
    return found


def show_two_meanings(view: EmbeddingView) -> None:
    """Show one token in two sentences: its neighbours after the last layer, and how far the layers separate the two."""
    known = offered(view.trace.model) if _of_text(view) else {}
    names = [*known, _OWN]
    selection.fit_name(SENSE, names, names[0])
    chosen = SENSE.buttons("Word", names, names[0])
    uses = _own_uses(view) if chosen == _OWN else uses_of(view.trace.model, known[chosen])
    texts = _texts(view)
    with st.spinner("Reading short texts to compare with …"):
        for use in uses:
            word_figures.after_layers(use.trace, use.token, texts)
    places = st.columns(2)
    for place, use in zip(places, uses, strict=False):
        with place:
            say(reading(use.trace, use.token))
            _draw_after_layers(use, texts)
    if len(uses) == 1:
        with places[1]:
            say("For comparison, this word in the token table, which knows no sentence:")
            _draw_in_table(view)
        meaning(meanings.one_use(uses[0], texts))
    else:
        _compare(uses, None if chosen == _OWN else same_meaning(uses[0], known[chosen]), texts)
    count = len(texts) or len(bundled_sentences())
    st.caption(
        f"Each bar shows a word from {count} short texts. Each word is compared at every place where it occurs, and "
        "its highest cosine is shown. The dashed line is the mean over all words."
    )
    _offer(chosen, list(known))
    code(cosine_by_state)


def _compare(uses: tuple[Use, ...], alike: Use | None, texts: tuple[str, ...]) -> None:
    """Show how far the layers move two uses apart, compared with a third sentence that has the first meaning."""
    first, second = uses
    shown = partial(word_figures.apart_by_state, first.trace, first.token, second.trace, second.token)
    if alike is not None:
        say(f"For comparison, the first meaning in another sentence: {reading(alike.trace, alike.token)}")
        shown = partial(shown, alike.trace, alike.token)
    draw(shown, "apart-by-state")
    meaning(meanings.two_uses(first, second, texts, alike))


def _offer(chosen: str, known: list[str]) -> None:
    """Offer another word of the list."""
    other = next((word for word in ("bank", *known) if word in known and word != chosen), None)
    if other is not None:
        why = f"*{other}* has two meanings, too. Does the model tell them apart as well?"
        try_this(why, f"Take *{other}*", {SENSE: other})


def _texts(view: EmbeddingView) -> tuple[str, ...]:
    """The sentences of the toy; empty if the lab's own sentences are used."""
    return () if _of_text(view) else toy_runs.texts(view.page.selection)


def uses_of(model: LoadedModel, word: TwoMeanings, changes: Interventions = _PLAIN) -> tuple[Use, ...]:
    """The uses of the word in its two sentences, except where the word is not one token."""
    traces = [runs.run(model.id, text, "", changes) for text in (word.first, word.second)]
    places = [place_of(trace.encoding, word.word) for trace in traces]
    return tuple(Use(trace, place) for trace, place in zip(traces, places, strict=True) if place is not None)


def same_meaning(first: Use, word: TwoMeanings) -> Use | None:
    """The word of ``first`` in the other sentence with the same meaning; None if the model has another token there."""
    traced = runs.run(first.trace.model.id, word.alike, "", _PLAIN)
    place = place_of(traced.encoding, word.word)
    if place is None or traced.token_ids[place] != first.trace.token_ids[first.token]:
        return None
    return Use(traced, place)


def _own_uses(view: EmbeddingView) -> tuple[Use, ...]:
    """Show the learner's text, and return the chosen token's use, with its second use if it occurs twice."""
    show_sentence(view.trace, view.token)
    other = token_twice(view.trace.token_ids, view.token)
    own = Use(view.trace, view.token)
    return (own,) if other is None else (own, Use(view.trace, other))
