"""The lines of one layer: its attention between tokens or words, from left to right."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from lab.analysis.heads.values import is_causal
from lab.analysis.words.word_groups import reduce_to_words, words_of
from lab.benches.head_view import LinesView
from lab.charts.components.head_view import HeadView
from lab.course.sentences.examples import example_named
from lab.course.sentences.looks import look_in
from lab.course.words import escaped, head_name, named, percent, quoted
from lab.models.interventions import Head
from lab.models.trace import Trace
from lab.ui import selection
from lab.ui.components import mount
from lab.ui.drawing import show_numbers
from lab.ui.parameters import COVER, HEADS, HIDDEN, SHOWN, SPECIALS
from lab.ui.reports import HeadsShown, heard
from lab.ui.screen import meaning
from lab.ui.shared.met_again import met_again
from lab.ui.taking import tell

# The article's own pair of texts, and two of its words.
PAIR = example_named("A pair of one form")
_NOUN, _VERB = "rabbit", "hopped"
_KEY, ALL = "head_view", "all"  # the figure; how a link names all heads
_READING = (
    "A line runs from a token on the left to a token on the right that it looks at. A stronger line means more "
    "attention."
)


def show(seen: LinesView) -> None:
    """Draw the lines, at first only the lines of the head with which the view begins.

    The reader chooses other heads in the figure, without a rerun.
    """
    trace, first = seen.trace, seen.first
    heads = _chosen_heads(trace.model.config.heads, trace.model.id)
    hide = SPECIALS.chosen() == HIDDEN
    if first is not None:  # most heads park on special tokens, and their lines would hide the lines of this head
        heads, hide = (first,), not trace.encoding.special[_favourite(trace, (seen.layer, first))[1]]
    call = partial(head_view_of, trace, seen.layer, seen.words, heads, hide, COVER.chosen())
    view = call()
    st.markdown(_READING)
    take = partial(_choose_drawn, trace.model.config.heads)
    mount("head_view", view.payload(), _KEY, states=("view",), on_change=take)
    tell(_READING)
    if len(heads) == 1:
        meaning(looks_most(trace, (seen.layer, heads[0])))
        met_again(trace.model, (seen.layer, heads[0]))
    if (told := tied(trace)) is not None:
        st.markdown(told)
    st.caption(
        "Click a head’s number to switch the head on or off. Double-click it to see this head alone, with all its "
        "lines. With many heads, you see only the strongest lines. Hover or use the arrow keys to see numbers, and "
        "click or press Enter to keep them."
    )
    show_numbers(view.table, _KEY, call, view)


def head_view_of(
    trace: Trace,
    layer: int,
    words: bool = False,
    heads: tuple[int, ...] = (),
    hide: bool = False,
    cover: int = 0,
) -> HeadView:
    """Make the data of layer ``layer`` (from 0) for the browser, with ``heads`` (from 0) drawn first, () for all.

    ``hide`` hides special tokens; the lines ``cover`` that many percent of each row, 0 for as much as usual.
    """
    attention, encoding = np.asarray(trace.layer(layer).attention), trace.encoding
    labels, special, in_pair = trace.labels, encoding.special, encoding.in_pair
    if words:
        cut = words_of(encoding)
        attention = reduce_to_words(attention, cut.groups)
        labels, special, in_pair = cut.labels, cut.special, cut.in_pair
    second = in_pair.index(True) if True in in_pair else None
    return HeadView(attention, labels, special, trace.model.id, layer, second, is_causal(trace), heads, hide, cover)


def looks_most(trace: Trace, head: Head) -> str:
    """Name the token at which a head looks most from the text's key word. ``head``: layer and head from 0."""
    query, key = _favourite(trace, head)
    row = trace.layer(head[0]).attention[head[1], query]
    return (
        f"From {named(trace, query)}, {head_name(head)} looks most at {named(trace, key)}: that token gets "
        f"{percent(float(row[key]))} of its attention."
    )


def _favourite(trace: Trace, head: Head) -> tuple[int, int]:
    """Find the token that this text is about, and the token at which a head looks most from this token; both from 0."""
    query = look_in(trace, *head).query
    return query, int(trace.layer(head[0]).attention[head[1], query].argmax())


def tied(trace: Trace) -> str | None:
    """State the largest weight between *rabbit* and *hopped*, over all layers and heads; None for any other text."""
    if (trace.text, trace.pair) != (PAIR.text, PAIR.pair):
        return None
    noun, verb = (_tokens(trace, word) for word in (_NOUN, _VERB))
    attention = trace.attention.numpy()
    ways = {
        (start, end): attention[:, :, rows][..., columns]
        for start, end, rows, columns in ((_VERB, _NOUN, verb, noun), (_NOUN, _VERB, noun, verb))
    }
    (start, end), weights = max(ways.items(), key=lambda way: float(way[1].max()))
    layer, head = (int(each) for each in np.unravel_index(int(weights.argmax()), weights.shape)[:2])
    return (
        f"In the article from which this pair comes, a head of BERT base ties *{_NOUN}* to *{_VERB}* (Vig 2019). In "
        f"{escaped(trace.model.id)}, the largest weight between the two words is **{weights.max():.2f}**. Head "
        f"{head + 1} of layer {layer + 1} gives it, from *{start}* to *{end}*."
    )


def _tokens(trace: Trace, word: str) -> list[int]:
    """Return the tokens of a word of the first text, from 0."""
    start = trace.text.index(word)
    spans = zip(trace.offsets, trace.encoding.in_pair, strict=True)
    return [
        i
        for i, ((first, last), second) in enumerate(spans)
        if not second and first < start + len(word) and start < last
    ]


def _choose_drawn(count: int) -> None:
    """Note the heads and lines that the reader has chosen in the figure, for the address and the files."""
    report = heard(st.session_state[_KEY], HeadsShown)
    if report is None or (report.view[0] != ALL and chosen_heads(report.view[0], count) is None):
        return
    heads, hidden, cover = report.view
    HEADS.set(heads)
    SPECIALS.set(HIDDEN if hidden else SHOWN)
    COVER.set(cover)


def _chosen_heads(count: int, model_id: str) -> tuple[int, ...]:
    """Read the heads that the link names, from 0; empty for all. If the layer has no such heads, the page says so."""
    asked = HEADS.chosen()
    if asked in ("", ALL):
        return ()
    heads = chosen_heads(asked, count)
    if heads is None:
        selection.note(
            f"{escaped(model_id)} has heads 1 to {count}. {quoted(asked[:20])} names other heads, so all heads are "
            "drawn."
        )
        HEADS.set("")
        return ()
    return heads


def chosen_heads(text: str, count: int) -> tuple[int, ...] | None:
    """Read ``"2.5"`` as (1, 4); None unless every part is the number of a head, from 1 to ``count``."""
    found = [selection.whole_number(part, 1, count) for part in text.split(".")]
    return tuple(sorted({head - 1 for head in found if head is not None})) if None not in found else None
