"""The view of the inter-sentence lesson: its sentences, two of which are chosen, and their tokens in a row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import streamlit as st

from lab.analysis.heads.one_row import window
from lab.analysis.heads.values import is_causal, places_left_out
from lab.analysis.sentences.token_sentences import MOST, Sentences, aside, split
from lab.charts.base.axes import direction
from lab.charts.components.sentence_control import SentenceRow
from lab.course.pages import CHECK, lesson_of
from lab.course.sentences.looks import as_read
from lab.course.words import escaped, head_name, named
from lab.figures.sentence_arcs import DRAWN
from lab.figures.sentences import behind
from lab.models.interventions import Head
from lab.models.trace import Trace
from lab.text.sentences.unavailable import SentencesUnavailable
from lab.ui import selection, sidebar
from lab.ui.page import LessonPage
from lab.ui.parameters import FROM_SENTENCE, MODE, TO_SENTENCE, TOY
from lab.ui.parameters_of_a_run import Counted
from lab.ui.sentence import show_row
from lab.ui.texts import COURSE, use_texts, whose

EXAMPLE = lesson_of("inter-sentence-attention").text
# On Matrix, a long sentence follows the two, so that length matters.
LONGER = f"{EXAMPLE} Every summer she goes to the sea with her two brothers and an old dog."
ONE = "Your text has no second sentence, so you see the course’s. Add a sentence to yours, or take these."
FEW = "This model reads too few tokens for two sentences. Choose another one."
LEFT_OUT = "The text has {count} sentences, and you see the first {most}. The model has read all of them."
NOT_READ = "The model reads at most {limit} tokens. {cut} more sentences do not fit, and the model has not read them."
BACKWARD = """
This model reads from left to right, so no token of sentence {a} can look at sentence {b}. You see the other direction,
from sentence {b} to sentence {a}."""


@dataclass(frozen=True)
class SentencesView:
    """A text with at least two sentences, or a ``toy``'s; ``a`` looks and ``b`` is looked at, both from 0."""

    page: LessonPage
    trace: Trace
    toy: bool
    a: int
    b: int

    @property
    def sentences(self) -> Sentences:
        return split(self.trace)

    @property
    def can_leave_out(self) -> bool:
        """Return whether every sentence still has a token when special (or first) tokens are left out."""
        return aside(self.trace, self.sentences) is not None

    @property
    def outside(self) -> str:
        """Name the parts that can be left out: [CLS] and [SEP], or the first token, and the rest outside sentences."""
        out, special = places_left_out(self.trace)
        names = dict.fromkeys(self.trace.labels[place] for place in np.flatnonzero(out))
        parts = [escaped(name) for name in names] if special else [f"the first token {named(self.trace, 0)}"]
        parts += ["white space between sentences"] if self.sentences.blanks else []
        parts += ["the sentences that are not shown"] if self.sentences.left_out else []
        return " and ".join(parts)


def look(page: LessonPage, own: Trace, step: str) -> SentencesView | None:
    """Return the sentences of the text (or of the course's, if the text has only one), and the two that are chosen."""
    toy = page.selection[MODE] == TOY
    try:
        trace = own if toy else _choose_run(page, own, step)
        sentences = split(trace)
    except SentencesUnavailable as error:
        st.warning(f"{escaped(str(error))} The other lessons work without it.", icon=":material/extension_off:")
        return None
    if step == CHECK:
        return SentencesView(page, trace, toy, 0, 0)
    _show_limits(trace, sentences)
    if len(sentences) < 2:
        return None
    with sidebar.folded():  # a click on the row or on the map chooses them, too
        a = _choose(FROM_SENTENCE, "From sentence", len(sentences))
        b = _choose(TO_SENTENCE, "To sentence", len(sentences))
    if is_causal(trace) and a < b:
        st.caption(BACKWARD.format(a=a + 1, b=b + 1))
        a, b = b, a
    return SentencesView(page, trace, toy, a, b)


def _choose_run(page: LessonPage, own: Trace, step: str) -> Trace:
    """Return the run of a text with two sentences: the learner's, or else the course's of this step."""
    course = whose() == COURSE
    if (course and step != "matrix") or (not course and len(split(own)) > 1):
        return own
    if not course and step != CHECK:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(ONE, width="content")
            st.button("Take these", icon=":material/edit:", on_click=use_texts, args=(EXAMPLE, ""))
    return page.run(own.model.id, as_read(own.model, LONGER if step == "matrix" else EXAMPLE), "")


def _choose(parameter: Counted, title: str, count: int) -> int:
    """Draw the list of the ``count`` sentences; returns the chosen one, from 0."""
    selection.fit(parameter, count, "This text")
    return parameter.choose(title, range(1, count + 1), min(parameter.default, count)) - 1


def _show_limits(trace: Trace, sentences: Sentences) -> None:
    if len(sentences) < 2:
        st.info(FEW, icon=":material/info:")
    if sentences.left_out:
        count = len(sentences) + sentences.left_out
        st.info(LEFT_OUT.format(count=count, most=MOST), icon=":material/content_cut:")
    if sentences.cut:
        limit = trace.model.config.max_tokens
        st.info(NOT_READ.format(limit=limit, cut=sentences.cut), icon=":material/content_cut:")


_HINT = "Click a word to choose its sentence. Hold Shift and click to choose the other sentence."
_ONLY = "The numbers are the weights from the one sentence to the other; all other weights are left out, as 0. "


def show_tokens(view: SentencesView, head: Head | None = None) -> None:
    """Draw the row of tokens, with the arcs of ``head``.

    A click chooses the sentence that attends; a click with Shift, or a second click, chooses the other sentence.
    """
    of_token = view.sentences.of_token

    def take(query: int, key: int) -> None:
        for parameter, place in ((FROM_SENTENCE, query), (TO_SENTENCE, key)):
            if place >= 0 and (sentence := of_token[place]) is not None:
                parameter.set(sentence + 1)

    call = partial(row_of_sentences, view.trace, view.a, view.b, head)
    show_row(replace(call(), hint=_ONLY * (head is not None) + _HINT), take, call)


def row_of_sentences(traced: Trace, a: int, b: int, head: Head | None) -> SentenceRow:
    """Return the row of all tokens, with the weights of ``head`` from sentence ``a`` to sentence ``b`` (from 0).

    Of each sentence one token is chosen: the ends of the strongest link, or without a head the first tokens.
    """
    found, every = split(traced), None
    query, key = found.places(a)[0], found.places(b)[0]
    if head is not None:
        cells, every = behind(traced, found, a, b, head, left_out=False), np.zeros((len(traced),) * 2, np.float32)
        every[np.ix_(cells.queries, cells.keys)] = cells.weights
        query, key = (int(place) for place in np.unravel_index(int(every.argmax()), every.shape))
    seen = window(query, len(traced), DRAWN)
    return SentenceRow(
        labels=traced.labels[seen],
        special=traced.encoding.special[seen],
        count=len(traced),
        chosen=query,
        first=seen.start,
        other=key,
        weights=None if every is None else every[seen, seen],
        place=f"sentence {a + 1} to sentence {b + 1}{'' if head is None else f', {head_name(head)}'}",
        across=head is not None,
        direction=direction(traced.text),
    )
