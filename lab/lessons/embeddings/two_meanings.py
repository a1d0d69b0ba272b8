"""After the layers: one token in two sentences, and how far the layers move its two vectors apart."""

from __future__ import annotations

from functools import partial

import streamlit as st

from lab.analysis.words.neighbours import cosine_by_state, token_twice
from lab.course.words import beside, quoted, signed
from lab.lessons.embeddings import word_figures
from lab.lessons.embeddings.like_words import show_in_table
from lab.lessons.embeddings.uses import Use, offered, same_meaning, uses_of
from lab.lessons.embeddings.view import EmbeddingView
from lab.lessons.embeddings.word_figures import NAMED, after_layers, in_table, words
from lab.questions.question import MARGIN
from lab.text.bundled import bundled_sentences
from lab.ui import selection
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import meaning, try_this
from lab.ui.frame.header import idea
from lab.ui.parameters import SENSE
from lab.ui.sentence import show_sentence
from lab.ui.shared.masking import reading
from lab.ui.terms import say
from lab.ui.toys import toy_runs

IDEA = """
A word can have two meanings, but the table has one row for it. The layers then change the vector, using the words
around it; the next lessons show how. Does the model tell the two meanings apart in the end?"""
_OWN = "from your sentence"
# Two vectors whose cosine is at least that point nearly the same way.
_ALIKE = 0.9


def two_uses(first: Use, second: Use, texts: tuple[str, ...] = (), alike: Use | None = None) -> str:
    """Name the words nearest to each of two uses of a word after the last layer; say how similar the uses still are.

    ``alike`` is a third use, in the meaning of ``first``, with which the other two are compared.
    """
    last = _last_cosine(first, second)
    near = [after_layers(use.trace, use.token, texts).nearest for use in (first, second)]
    if len(near[0]) < NAMED:
        return _verdict(first, last, alike)
    found = (
        f"Nearest to the first {first.word} are now {words(near[0][:NAMED])}; nearest to the second are "
        f"{words(near[1][:NAMED])}."
    )
    if last < _ALIKE and near[0][0].word == near[1][0].word:
        return f"{found} {_same_word_nearest(first, near[1][0].word, last, alike)}"
    return f"{found} {_verdict(first, last, alike)}"


def _same_word_nearest(first: Use, nearest: str, last: float, alike: Use | None) -> str:
    """State a surprise: in both sentences the same word is nearest, whatever the cosine of the two vectors is."""
    same = "" if alike is None else f", and {signed(_last_cosine(first, alike))} for one meaning in two sentences"
    return (
        f"So the model puts the second {first.word}, too, next to {quoted(nearest)}: the cosine of the two vectors is "
        f"{beside(last, _ALIKE)}{same}, but the nearest word is still the same."
    )


def _last_cosine(first: Use, second: Use) -> float:
    return float(cosine_by_state(first.trace, first.token, second.trace, second.token)[-1])


def _verdict(first: Use, last: float, alike: Use | None) -> str:
    """Say whether the cosine of two uses tells the uses apart, compared with a third use in the first meaning."""
    limit = beside(last, _ALIKE)
    if alike is None:
        told = (
            "The layers hardly tell the two meanings apart"
            if last >= _ALIKE
            else "The layers have moved the two vectors apart"
        )
        return f"{told}: the cosine was 1 in the table, and is {limit} now."
    same = _last_cosine(first, alike)
    if same - last > MARGIN:
        return (
            f"So the layers tell the two meanings apart: their cosine is {limit}, and {signed(same)} for one meaning "
            "in two sentences."
        )
    return (
        f"But the cosine does not tell the two meanings apart: it is {limit} for two meanings, and {signed(same)} for "
        "one meaning in two sentences."
    )


def one_use(use: Use, texts: tuple[str, ...] = ()) -> str:
    """Compare the neighbours of a word that occurs once in the text: in the token table, and after the last layer."""
    table, after = in_table(use.trace, use.token).nearest, after_layers(use.trace, use.token, texts).nearest
    if not table or not after:
        return f"There is no other word to compare with {use.word}."
    return (
        f"In the token table, {words(table[:NAMED])} are nearest to {use.word}. After the last layer, in this "
        f"sentence, {words(after[:NAMED])} are nearest."
    )


def show(view: EmbeddingView) -> None:
    """Show one token in two sentences: its neighbours after the last layer, and how far the layers separate the two."""
    idea(IDEA)
    known = {} if view.of_toy else offered(view.trace.model)
    names = [*known, _OWN]
    selection.fit_name(SENSE, names, names[0])
    chosen = SENSE.buttons("Word", names, names[0])
    uses = _show_own_uses(view) if chosen == _OWN else uses_of(view.trace.model, known[chosen])
    texts = _chosen_texts(view)
    with st.spinner("Reading short texts to compare with …"):
        for use in uses:
            word_figures.after_layers(use.trace, use.token, texts)
    places = st.columns(2)
    for place, use in zip(places, uses, strict=False):
        with place:
            say(reading(use.trace, use.token))
            _show_after_layers(use, texts)
    if len(uses) == 1:
        with places[1]:
            say("For comparison, this word in the token table, which knows no sentence:")
            show_in_table(view)
        meaning(one_use(uses[0], texts))
    else:
        _show_comparison(uses, None if chosen == _OWN else same_meaning(view.trace.model, known[chosen]), texts)
    count = len(texts) or len(bundled_sentences())
    st.caption(
        f"Each bar shows a word from {count} short texts. Each word is compared at every place where it occurs, and "
        "its highest cosine is shown. The dashed line is the mean over all words."
    )
    _show_another(chosen, list(known))
    code(cosine_by_state)


def _show_after_layers(use: Use, texts: tuple[str, ...]) -> None:
    """Draw the nearest vectors after the layers, or say that the texts have no other word."""
    if word_figures.after_layers(use.trace, use.token, texts).nearest:
        draw(partial(word_figures.near_after_layers, use.trace, use.token, texts), f"near-after-layers-{use.token}")
    else:
        say("There is no other word in these texts.")


def _show_comparison(uses: tuple[Use, ...], alike: Use | None, texts: tuple[str, ...]) -> None:
    """Show how far the layers move two uses apart, compared with a third sentence that has the first meaning."""
    first, second = uses
    shown = partial(word_figures.apart_by_state, first.trace, first.token, second.trace, second.token)
    if alike is not None:
        say(f"For comparison, the first meaning in another sentence: {reading(alike.trace, alike.token)}")
        shown = partial(shown, alike.trace, alike.token)
    draw(shown, "apart-by-state")
    meaning(two_uses(first, second, texts, alike))


def _show_another(chosen: str, known: list[str]) -> None:
    """Offer another word of the list."""
    other = next((word for word in ("bank", *known) if word in known and word != chosen), None)
    if other is not None:
        why = f"*{other}* has two meanings, too. Does the model tell them apart as well?"
        try_this(why, f"Take *{other}*", {SENSE: other})


def _chosen_texts(view: EmbeddingView) -> tuple[str, ...]:
    """The sentences of the toy; empty if the lab's own sentences are used."""
    return toy_runs.texts(view.page.selection) if view.of_toy else ()


def _show_own_uses(view: EmbeddingView) -> tuple[Use, ...]:
    """Show the learner's text, and return the chosen token's use, with its second use if it occurs twice."""
    show_sentence(view.trace, view.token)
    other = token_twice(view.trace.token_ids, view.token)
    own = Use(view.trace, view.token)
    return (own,) if other is None else (own, Use(view.trace, other))
