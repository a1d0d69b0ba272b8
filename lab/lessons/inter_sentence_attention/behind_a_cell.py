"""Behind a cell: the words behind a number of the map, in all heads together or in one head."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from lab.analysis.heads.patterns import encoding_words
from lab.analysis.sentences.attention import AVERAGE, SentenceCells, mean_cells
from lab.analysis.sentences.same_word import SameWord, same_word
from lab.analysis.sentences.split import split
from lab.charts.base.labels import visible
from lab.course.words import capital, head_name, listed, named, quoted
from lab.figures import sentences
from lab.figures.sentences import behind
from lab.lessons.inter_sentence_attention.row import show_tokens
from lab.lessons.inter_sentence_attention.shares import percents
from lab.lessons.inter_sentence_attention.view import SentencesView, choose_one
from lab.models.interventions import Head
from lab.models.trace import Trace
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import caption, change_here, meaning, try_this
from lab.ui.parameter_kinds import Parameter
from lab.ui.parameters import BEHIND, HEAD, LAYER, ONE_HEAD
from lab.ui.tables import show_table
from lab.ui.terms import say

_CLEARLY = 2  # the best head gives at least so many times what a uniform head gives


@dataclass(frozen=True)
class Link:
    """The weight of the attention from one token to another; both are places in the text, from 0."""

    query: int
    key: int
    weight: float


def strongest(trace: Trace, a: int, b: int, heads: str | Head, left_out: bool) -> list[Link]:
    """Link each word of sentence ``a`` to its favourite word of ``b``, the largest weight first.

    Signs are left out, and so is the link from a word to itself.
    """
    found = behind(trace, split(trace), a, b, heads, left_out)
    links = []
    for query, row in zip(found.queries.tolist(), found.weights, strict=True):
        seen = [at for at, key in enumerate(found.keys.tolist()) if key != query and is_word(trace, key)]
        if is_word(trace, query) and seen:
            best = max(seen, key=lambda at: row[at])
            links.append(Link(query, int(found.keys[best]), float(row[best])))
    return sorted((link for link in links if link.weight > 0), key=lambda link: -link.weight)


def is_word(trace: Trace, place: int) -> bool:
    """Return whether a token has a letter or a digit, so that it is not only a sign."""
    return any(letter.isalnum() for letter in trace.labels[place])


def said(trace: Trace, a: int, b: int, heads: str | Head, left_out: bool) -> str:
    """Name the two strongest links between words, and the token that gets the largest part of the share."""
    links = strongest(trace, a, b, heads, left_out)
    if not links:
        return "No word here looks at another word, because there are only punctuation marks."
    told = f"Among words, {quoted(trace.labels[links[0].query])} looks most at {_key(trace, links[0])}"
    if len(links) > 1:
        told += f", and {quoted(trace.labels[links[1].query])} at {_key(trace, links[1])}"
    return f"{told}. {_largest(trace, behind(trace, split(trace), a, b, heads, left_out))}"


def _key(trace: Trace, link: Link) -> str:
    return f"{quoted(trace.labels[link.key])} ({link.weight:.2f})"


def _largest(trace: Trace, found: SentenceCells) -> str:
    """Name the token that gets the largest part of a sentence's attention to the other sentence."""
    given = found.weights.mean(axis=0, dtype=np.float64)
    most = int(given.argmax())
    place = int(found.keys[most])
    no_word = "" if is_word(trace, place) else ", which is not a word"
    return (
        f"Of the {percents(float(given.sum()))} in this cell, the largest part, {percents(float(given[most]))}, goes "
        f"to {named(trace, place)}{no_word}."
    )


def strongest_head(trace: Trace, link: Link) -> tuple[Head, float]:
    """The head that gives ``link.key`` most weight from ``link.query``, and this weight, as the model has it."""
    weights = np.array(
        [trace.layer(at).attention[:, link.query, link.key].numpy() for at in range(trace.model.config.layers)]
    )
    layer, head = (int(each) for each in np.unravel_index(int(weights.argmax()), weights.shape))
    return (layer, head), float(weights[layer, head])


def of_heads(trace: Trace, link: Link) -> str:
    """Name the head with the largest weight along a link."""
    head, weight = strongest_head(trace, link)
    query, key = (quoted(trace.labels[place]) for place in (link.query, link.key))
    return f"From {query}, {head_name(head)} gives most attention to {key}: {weight:.2f}."


def largest(view: SentencesView) -> str:
    """Name the largest weight of any head, and say if this weight tells nothing about the two sentences."""
    layer, head, query, key = (int(number) for number in view.found.where[view.a, view.b])
    labels = view.trace.labels
    told = (
        f"The largest weight of all heads is in {head_name((layer, head))}, where {quoted(labels[query])} gives "
        f"{quoted(labels[key])} the weight {view.found.maximum[view.a, view.b]:.3f}. In Python: "
        f"`trace.layer({layer}).attention[{head}, {query}, {key}]`."
    )
    if view.a != view.b and abs(query - key) == 1:
        told += (
            " These two tokens are neighbours. A head that looks at the token before or after can cross the border "
            "between two sentences, whatever they say."
        )
    return told


def best_head(found: SameWord) -> Head:
    """The head that gives words most of their attention for the same word in another sentence."""
    layer, head = (int(each) for each in np.unravel_index(int(found.given.argmax()), found.given.shape))
    return layer, head


def told_same(trace: Trace, found: SameWord) -> str:
    """Name the words that another sentence has, too, and how much their best head gives to them there."""
    spelled = encoding_words(trace.encoding)
    words = listed([quoted(word) for word in dict.fromkeys(spelled[place] or "" for place in found.words)])
    best = best_head(found)
    most, chance = float(found.given[best]), found.uniform
    told = f"Words that occur in more than one sentence: {words}. "
    if most < _CLEARLY * chance:
        return (
            f"{told}No head clearly looks from them at the same word in another sentence: the best one, "
            f"{head_name(best)}, gives it {most:.2f}, and a uniform head gives it {chance:.2f}."
        )
    return (
        f"{told}{capital(head_name(best))} looks from them at the same word in another sentence: it gives it "
        f"**{most:.2f}** on average, and a uniform head gives it {chance:.2f}. Vig (2019) found such heads in BERT."
    )


def show(view: SentencesView) -> None:
    """Draw the weights from the tokens of a sentence to the tokens of another, over all heads or in one head."""
    row, drawing = st.container(), st.container()
    heads = _choose_heads(view)
    with row:
        show_tokens(view, heads)
        say("Each number in the map is a sum of many small weights. Which words are behind it?")
    with drawing:
        draw(partial(sentences.block, view.trace, view.a, view.b, heads, view.left_out), "block")
        _show_part(view)
    meaning(said(view.trace, view.a, view.b, heads, view.left_out))
    caption("A large number shows where heads look. It does not show that the model knows who is meant.")
    words = strongest(view.trace, view.a, view.b, AVERAGE, view.left_out)
    if words:
        _show_its_head(view, words[0], heads)
    found = same_word(view.trace)
    if found is not None:
        with st.expander("The same word in another sentence", on_change="rerun", key="_same_word") as same:
            if same.open:
                say(told_same(view.trace, found))
                head = best_head(found)
                if heads != head:
                    opened, label = _choose_alone(head), f"Open {head_name(head)}"
                    st.button(label, key="_open", icon=":material/touch_app:", on_click=change_here, args=(opened,))
    code(mean_cells)


def _choose_heads(view: SentencesView) -> str | Head:
    """Return the chosen heads as :func:`lab.figures.sentences.block` takes them."""
    chosen = BEHIND.choose("Heads")
    if chosen == AVERAGE:
        return AVERAGE
    layer, head = (int(number) for number in view.found.where[view.a, view.b, :2])
    if chosen == ONE_HEAD:
        model = view.trace.model
        with st.container(horizontal=True):
            layer = choose_one(LAYER, "Layer", model.config.layers, layer + 1, model.id)
            head = choose_one(HEAD, "Head", model.config.heads, head + 1, model.id)
    else:
        st.caption(largest(view))
    return layer, head


def _show_part(view: SentencesView) -> None:
    """Say which part of a large block is drawn."""
    sides = [len(view.found.members[sentence]) for sentence in (view.a, view.b)]
    if max(sides) > sentences.TOKENS:
        st.caption(
            f"The block has {sides[0]} × {sides[1]} weights. The figure shows the part around the largest weight."
        )


def _show_its_head(view: SentencesView, link: Link, heads: str | Head) -> None:
    """Name the head with the largest weight along the strongest link, and offer to look at it alone."""
    head, _ = strongest_head(view.trace, link)
    st.caption(of_heads(view.trace, link))
    if heads != head:
        try_this("look only at this head.", f"Open {head_name(head)}", _choose_alone(head))


def _choose_alone(head: Head) -> dict[Parameter[Any], Any]:
    """The changes that show one head alone."""
    return {BEHIND: ONE_HEAD, LAYER: head[0] + 1, HEAD: head[1] + 1}


def show_every_maximum(view: SentencesView) -> None:
    """Draw a table of the largest weight between each two sentences, with the head in which it occurs."""
    found, tokens = view.found, view.trace.labels
    pairs = [pair for pair in np.ndindex(*found.maximum.shape) if found.where[pair][0] >= 0]
    where = [found.where[pair].tolist() for pair in pairs]
    table = pd.DataFrame(
        {
            "from": [a + 1 for a, _ in pairs],
            "to": [b + 1 for _, b in pairs],
            "maximum": [float(found.maximum[pair]) for pair in pairs],
            "layer": [layer + 1 for layer, _, _, _ in where],
            "head": [head + 1 for _, head, _, _ in where],
            "query": [visible(tokens[query], None) for _, _, query, _ in where],
            "key": [visible(tokens[key], None) for _, _, _, key in where],
        }
    )
    show_table(table, formats={"maximum": "%.4f"})
