"""After the layers: one word in several sentences, and how far the layers move its vectors apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import streamlit as st
from torch import Tensor

from lab.analysis.words.neighbours import cosine_by_state, nearest_in_texts, states_of
from lab.charts.base.axes import Scale
from lab.charts.base.figure import Figure
from lab.charts.marks.bars import bars
from lab.course.words import listed, place_of, quoted
from lab.lessons.feed_forward.view import FeedForwardView
from lab.models.catalogue import DEFAULT_MODEL
from lab.models.loading import LoadedModel
from lab.models.memo import once
from lab.models.trace import Trace, trace
from lab.text.bundled import bundled_sentences
from lab.ui import selection
from lab.ui.drawing import code, draw
from lab.ui.parameters import SENSE
from lab.ui.screen import meaning, say, try_this


def show(view: FeedForwardView) -> None:
    """Show how alike the vectors of one word are in several sentences, after the layer on screen."""
    model, layer = view.trace.model, view.layer.index
    names = [word for word in WORDS if uses_of(model, word)]
    if not names:
        st.info(NO_WORD, icon=":material/info:")
        return
    selection.fit_name(SENSE, names, names[0])
    chosen = SENSE.buttons("Word", names, names[0])
    say(IDEA.format(word=chosen.lower(), first=WORDS[chosen].first))
    texts, picture = st.columns(2, gap="large")
    with texts:
        st.markdown("\n".join(f"{number}. {text}" for number, text in enumerate(WORDS[chosen].sentences, start=1)))
    with picture:
        draw(partial(alike, view.trace, chosen, layer), "alike")
    st.caption(CAPTION.format(first=WORDS[chosen].first))
    last = layer + 1 == view.config.layers
    meaning(said(view.trace, chosen, layer))
    if last:
        say(nearest(model, chosen))
    other = next((name for name in names if name != chosen), None)
    if other is not None:
        try_this("another word with more than one use.", f"Take *{other}*", {SENSE: other})
    code(cosine_by_state)


@dataclass(frozen=True)
class WordInSentences:
    """A word in several sentences: the first one, the others by the use of the word, and the finding about them."""

    first: str
    others: Mapping[str, tuple[str, ...]]
    finding: str

    @property
    def sentences(self) -> Mapping[str, str]:
        """The other sentences, each with the use of the word."""
        return {text: use for use, texts in self.others.items() for text in texts}


WORDS = {
    "March": WordInSentences(
        "They met in March.",
        {
            "the month": ("The war ended in March.", "She was born in March.", "March was a very cold month."),
            "the verb": ("They march to the town.", "The soldiers march through the city.", "We march for peace."),
            "the walk": ("Two soldiers died in the march.", "It was a long march to the river."),
        },
        "The verb ends far from the month. But “Two soldiers died in the march.” ends as near as a sentence about a "
        "cold month: there, *march* is a noun, too. One reading: the vector shows how a word is used, which is not "
        "always what it means.",
    ),
    "bank": WordInSentences(
        "She sat on the bank of the river.",
        {
            "a river": (
                "They walked along the bank of the lake.",
                "The boat came to the bank.",
                "Trees grow on the bank of the stream.",
            ),
            "money": (
                "She took her money to the bank.",
                "The bank gave him a loan.",
                "He works at a bank.",
                "The thieves robbed the bank.",
            ),
        },
        "Here the two meanings end apart. Even so, *river* is the nearest word of the short texts also in the first "
        "sentence about money.",
    ),
}
IDEA = """
*{word}* is one row of the token table, whatever it means. In each layer, attention adds to its vector what comes from
the words around it, and the network what it makes of that. How alike is its vector, in the end, to the one in
*{first}*?"""
CAPTION = """
A bar is the cosine with the vector of *{first}* Before layer 1, only the places differ. Choose
another layer in the sidebar."""
READING = "After layer {layer}, the cosine is {ranges}."
RANGE = "{low:.2f} to {high:.2f} for {use}"
NEAREST = """
Among the words of the {count} short texts that come with the lab, the nearest after the last layer are {words} for
*{first}*, and {others} for *{other}*"""
NO_WORD = "In this model, the words of this step are not the same token in all sentences."
_NEAREST = 2


@dataclass(frozen=True, eq=False)
class Use:
    """A word in a sentence: the place of its token, from 0, the token's id, and its vectors in all states, (L+1, d)."""

    token: int
    token_id: int
    states: Tensor


@once
def uses_of(model: LoadedModel, word: str) -> tuple[Use, ...]:
    """Return a word in each of its sentences; () if it is not one and the same token in all.

    The vectors are kept and the runs are not: each run holds the model.
    """
    told, found = WORDS[word], list[Use]()
    for text in (told.first, *told.sentences):
        run = trace(model, text)
        if (place := place_of(run.encoding, word)) is None:
            return ()
        found.append(Use(place, run.token_ids[place], states_of(run, place)))
    return tuple(found) if len({use.token_id for use in found}) == 1 else ()


def cosines(traced: Trace, word: str, layer: int) -> tuple[float, ...]:
    """Return the cosine of the word's vector in each other sentence with the first one, after a layer (from 0)."""
    first, *others = uses_of(traced.model, word)
    return tuple(float(cosine_by_state(first.states, use.states)[layer + 1]) for use in others)


def alike(traced: Trace, word: str, layer: int) -> Figure:
    """Draw :func:`cosines` as bars, in the order of the word's uses; the first use is in full colour."""
    told, values = WORDS[word], cosines(traced, word, layer)
    scale = Scale("Cosine", (min(0.0, *values), 1.0), ".2f")
    names = [f"{number} {use}" for number, use in enumerate(told.sentences.values(), start=1)]
    title, strong = f"After layer {layer + 1}", range(len(next(iter(told.others.values()))))
    return bars(names, values, scale, title=title, highlight=strong)


def said(traced: Trace, word: str, layer: int) -> str:
    """Say between which cosines the uses of the word are."""
    told, values, ranges = WORDS[word], iter(cosines(traced, word, layer)), []
    for use, texts in told.others.items():
        found = [next(values) for _ in texts]
        ranges.append(RANGE.format(low=min(found), high=max(found), use=use))
    written = traced.model.id == DEFAULT_MODEL and layer + 1 == traced.model.config.layers
    return READING.format(layer=layer + 1, ranges=listed(ranges)) + f" {told.finding}" * written


def nearest(model: LoadedModel, word: str) -> str:
    """Name the nearest words of the short texts for the first sentence, and for the first one of the second use."""
    told, texts = WORDS[word], bundled_sentences()
    second = list(told.others.values())[1][0]
    uses = uses_of(model, word)
    here, there = uses[0], uses[1 + list(told.sentences).index(second)]
    words, others = (
        listed([quoted(each.word) for each in found.nearest])
        for found in (nearest_in_texts(model, use.token_id, use.states[-1], texts, _NEAREST) for use in (here, there))
    )
    return NEAREST.format(count=len(texts), words=words, first=told.first, others=others, other=second)
