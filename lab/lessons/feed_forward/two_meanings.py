"""After the layers: one token in two sentences, and how far the layers move its two vectors apart."""

from __future__ import annotations

from functools import partial

import streamlit as st

from lab.analysis.words.neighbours import cosine_by_state, token_twice
from lab.course.sentences.uses import Use, offered, same_meaning, uses_of
from lab.course.words import VISIBLE, quoted, signed
from lab.figures import near_words
from lab.figures.near_words import NAMED, after_layers, in_table, words
from lab.lessons.feed_forward import LESSON
from lab.lessons.feed_forward.view import FeedForwardView, show_sentence
from lab.questions.asking import asks
from lab.questions.basis import bet
from lab.questions.question import MARGIN, Option, Question, shuffled
from lab.questions.returning import Spot
from lab.text.bundled import bundled_sentences
from lab.ui import selection, sidebar
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import meaning, try_this
from lab.ui.frame.header import idea
from lab.ui.parameters import SENSE
from lab.ui.quiz.predictions import predict
from lab.ui.shared.masking import reading
from lab.ui.terms import say
from lab.ui.toys import toy_runs

IDEA = """
A word can have two meanings, but only one row in the token table. Each layer then adds to the vector what its heads
collect from the words around it, and what its feed-forward network makes of this. Does the model tell the two meanings
apart in the end?"""
_OWN = "from your sentence"


def said(first: Use, second: Use, alike: Use | None = None) -> str:
    """Say whether the layers tell two uses of a word apart: whether their cosine falls.

    ``alike`` is a third use, in the meaning of ``first``; then the question is whether the two meanings end farther
    apart than one meaning in two sentences.
    """
    start, last = _ends(first, second)
    if alike is None:
        moved = f"cosine is {signed(start)} before layer 1, and {signed(last)} after the last layer"
        if abs(last - start) < VISIBLE:
            return f"The layers hardly change how similar the two vectors of {first.word} are: their {moved}."
        way = "move the two vectors of {} apart" if last < start else "make the two vectors of {} more similar"
        return f"The layers {way.format(first.word)}: their {moved}."
    start_same, same = _ends(first, alike)
    ends = (
        f"in the end, the cosine of two vectors of {first.word} is {signed(last)} for two meanings, and "
        f"{signed(same)} for one meaning"
    )
    if same - last <= MARGIN:
        return f"The cosine does not tell the two meanings apart: {ends}."
    if same - last <= start_same - start:
        return f"The layers move the two meanings apart no further than the places of the words do: {ends}."
    return f"The layers tell the two meanings apart: {ends}."


def nearest(first: Use, second: Use, texts: tuple[str, ...] = ()) -> str:
    """Name the words nearest to each of two uses of a word after the last layer; say it if the first is the same."""
    near = [after_layers(use.trace, use.token, texts).nearest for use in (first, second)]
    if not near[0] or not near[1]:
        return "There is no other word in these texts."
    told = (
        f"Nearest to the first {first.word} are now {words(near[0][:NAMED])}. Nearest to the second {first.word} are "
        f"{words(near[1][:NAMED])}."
    )
    if near[0][0].word != near[1][0].word:
        return told
    return f"{told} So even the second {first.word} is nearest to {quoted(near[1][0].word)}."


def _ends(first: Use, second: Use) -> tuple[float, float]:
    """The cosine of two uses before layer 1, and after the last layer."""
    cosines = cosine_by_state(first.trace, first.token, second.trace, second.token)
    return float(cosines[0]), float(cosines[-1])


def one_use(use: Use, texts: tuple[str, ...] = ()) -> str:
    """Compare the neighbours of a word that occurs once in the text: in the token table, and after the last layer."""
    table, after = in_table(use.trace, use.token).nearest, after_layers(use.trace, use.token, texts).nearest
    if not table or not after:
        return f"There is no other word to compare with {use.word}."
    return (
        f"In the token table, {words(table[:NAMED])} are nearest to {use.word}. After the last layer, in this "
        f"sentence, {words(after[:NAMED])} are nearest."
    )


@asks(
    basis=bet(
        "The layers give a word the meaning that it has in its sentence.",
        "A word keeps the vector of its row, whatever the sentence is.",
    ),
    hint="What have the layers added to the vectors, and where did it come from?",
)
def one_or_two(spot: Spot) -> Question | None:
    """Ask which two uses of the lab's first word end more alike: one meaning, or two; None if neither leads clearly."""
    model = spot.trace.model
    word = next(iter(offered(model).values()), None)
    if word is None:
        return None
    (first, second), alike = uses_of(model, word), same_meaning(model, word)
    if alike is None:
        return None
    two, one = _ends(first, second)[1], _ends(first, alike)[1]
    if abs(one - two) < MARGIN:
        return None
    why = (
        f"The cosine is {signed(one)} for one meaning, and {signed(two)} for two meanings. If a word kept the vector "
        "of its row, the two numbers would be nearly the same."
    )
    return shuffled(
        "one-or-two",
        f"After the last layer, in which two sentences are the vectors of {first.word} more similar?",
        [
            Option(f"{_stopless(word.first)} and {_stopless(word.alike)}", why, correct=one > two),
            Option(f"{_stopless(word.first)} and {_stopless(word.second)}", why, correct=two > one),
            Option("Equally similar in both pairs, because it is the same word", why),
        ],
    )


def _stopless(text: str) -> str:
    return quoted(text.removesuffix("."))


def show(view: FeedForwardView) -> None:
    """Show how far the layers separate one token in two sentences; behind a click, its neighbours in the end."""
    idea(IDEA)
    known = {} if view.of_toy else offered(view.trace.model)
    names = [*known, _OWN]
    selection.fit_name(SENSE, names, names[0])
    with sidebar.controls():
        chosen = SENSE.buttons("Word with two meanings", names, names[0])
    texts = toy_runs.texts(view.page.selection) if view.of_toy else ()
    if chosen == _OWN:
        uses, alike = _show_own_uses(view), None
    else:
        uses, alike = uses_of(view.trace.model, known[chosen]), same_meaning(view.trace.model, known[chosen])
        _show_readings(uses, alike)
        if not predict(LESSON, one_or_two(view.spot) if chosen == names[0] else None):
            return
    if len(uses) == 1:
        _show_one_use(uses[0], texts)
    else:
        _show_apart(uses, alike, texts)
    _show_another(chosen, list(known))
    code(cosine_by_state)


def _show_readings(uses: tuple[Use, ...], alike: Use | None) -> None:
    """Show the sentences: the two meanings, and the first meaning again."""
    rows = [f"- {reading(use.trace, use.token)}" for use in uses]
    if alike is not None:
        rows.append(f"- {reading(alike.trace, alike.token)} (the first meaning again, to compare)")
    say("\n".join(rows))


def _show_apart(uses: tuple[Use, ...], alike: Use | None, texts: tuple[str, ...]) -> None:
    """Draw how far the layers move two uses apart, compared with a third sentence that has the first meaning."""
    first, second = uses
    shown = partial(near_words.apart_by_state, first.trace, first.token, second.trace, second.token)
    draw(shown if alike is None else partial(shown, alike.trace, alike.token), "apart-by-state")
    differs = "the places and segments" if first.trace.pair else "the places"
    st.caption(
        "The figure shows the cosine of the two vectors of one token. Before layer 1, both vectors come from the "
        f"same row of the table, so only the vectors of {differs}, which are added, can make a difference."
    )
    meaning(said(first, second, alike))
    label = "Which words are now nearest to each of the two vectors?"
    with st.expander(label, on_change="rerun", key="_nearest_now") as now:
        if now.open:
            places = st.columns(2)
            for place, use in zip(places, uses, strict=True):
                with place:
                    _show_after_layers(use, texts)
            say(nearest(first, second, texts))
            _show_how(texts)


def _show_one_use(use: Use, texts: tuple[str, ...]) -> None:
    """Draw the neighbours of a token that occurs once: in the table, and after the last layer in this sentence."""
    before, after = st.columns(2)
    with before:
        if in_table(use.trace, use.token).nearest:
            draw(partial(near_words.near_in_table, use.trace, use.token), "near-in-table")
    with after:
        _show_after_layers(use, texts)
    _show_how(texts)
    meaning(one_use(use, texts))


def _show_how(texts: tuple[str, ...]) -> None:
    """Say which words are compared after the layers."""
    st.caption(
        f"After the layers, the bars show words from {len(texts) or len(bundled_sentences())} short texts. The lab "
        "compares each word at every place where it occurs, and shows the highest cosine. The dashed line is the "
        "mean over all words."
    )


def _show_after_layers(use: Use, texts: tuple[str, ...]) -> None:
    """Draw the nearest vectors after the layers, or say that the texts have no other word."""
    with st.spinner("Reading short texts to compare with …"):
        found = after_layers(use.trace, use.token, texts)
    if found.nearest:
        draw(partial(near_words.near_after_layers, use.trace, use.token, texts), f"near-after-layers-{use.token}")
    else:
        say("There is no other word in these texts.")


def _show_another(chosen: str, known: list[str]) -> None:
    """Offer another word of the list."""
    other = next((word for word in ("bank", *known) if word in known and word != chosen), None)
    if other is not None:
        why = f"*{other}* has two meanings, too. Does the model also tell these apart?"
        try_this(why, f"Take *{other}*", {SENSE: other})


def _show_own_uses(view: FeedForwardView) -> tuple[Use, ...]:
    """Show the learner's text, and return the chosen token's use, with its second use if it occurs twice."""
    show_sentence(view)
    other = token_twice(view.trace.token_ids, view.token)
    own = Use(view.trace, view.token)
    return (own,) if other is None else (own, Use(view.trace, other))
