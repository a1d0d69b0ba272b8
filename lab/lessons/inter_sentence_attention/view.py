"""The view of the inter-sentence lesson: the sentences of a text, two of which are chosen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

from lab.analysis.heads.values import Values, is_causal, places_left_out
from lab.analysis.sentences.attention import MASS, MAXIMUM, RELATIVE, InterSentence
from lab.analysis.sentences.split import MOST, Sentences, aside, split
from lab.course.pages import lesson_of
from lab.course.words import escaped, named, quoted
from lab.figures.sentences import apart, between, read
from lab.models.trace import Trace
from lab.questions.spot import Spot
from lab.text.sentences.unavailable import SentencesUnavailable
from lab.ui import selection, sidebar
from lab.ui.page import LessonPage
from lab.ui.parameters import FROM_SENTENCE, MODE, TO_SENTENCE, TOY
from lab.ui.parameters_of_a_run import Counted
from lab.ui.shared.metric_choice import choose_sinks, sinks_left_out
from lab.ui.terms import say
from lab.ui.texts import use_texts

# The example for learners whose text has only one sentence.
EXAMPLE = lesson_of("inter-sentence-attention").text


@dataclass(frozen=True)
class SentencesView:
    """A text with at least two sentences; ``a`` and ``b`` are the chosen row and column, from 0.

    ``left_out``: special tokens (or the first token, without special tokens) take no part in the numbers on screen.
    ``toy``: the sentences belong to a toy, so that no text replaces them.
    """

    page: LessonPage
    trace: Trace
    sentences: Sentences
    a: int
    b: int
    left_out: bool
    toy: bool

    @property
    def spot(self) -> Spot:
        """The place that questions are about: the first tokens of the two chosen sentences."""
        query, key = (self.sentences.places(sentence)[0] for sentence in (self.a, self.b))
        return Spot(self.trace, 0, 0, query, key)

    @property
    def found(self) -> InterSentence:
        """Return the attention that is shown: :attr:`without` or :attr:`kept`, as chosen."""
        return self.without if self.left_out else self.kept

    @property
    def kept(self) -> InterSentence:
        """Attention as the model has it."""
        return read(self.trace, self.sentences, left_out=False)

    @property
    def without(self) -> InterSentence:
        """Attention with special tokens, or the first token, left out: rows of the mean over heads sum to 1 again."""
        return read(self.trace, self.sentences, left_out=True)

    @property
    def apart(self) -> InterSentence:
        """Attention as the model has it; the share of special (or first) tokens is counted apart from sentences."""
        return apart(self.trace, self.sentences)

    def values(self, measure: str, left_out: bool) -> Values:
        """Return the matrix of a measure, (S, S)."""
        return between(self.trace, left_out).values(measure)

    @property
    def causal(self) -> bool:
        return is_causal(self.trace)

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


def look(page: LessonPage, own: Trace) -> SentencesView | None:
    """Return the sentences of the learner's text (or of an example if the text has only one), and the chosen two."""
    try:
        trace, sentences = _look_at_two(page, own, split(own))
    except SentencesUnavailable as error:
        st.warning(f"{escaped(str(error))} The other lessons work without it.", icon=":material/extension_off:")
        return None
    _show_limits(trace, sentences)
    if len(sentences) < 2:
        return None
    causal = is_causal(trace)
    with sidebar.controls():
        st.divider()
        a = choose_one(FROM_SENTENCE, "From sentence", len(sentences), FROM_SENTENCE.default)
        b = choose_one(TO_SENTENCE, "To sentence", len(sentences), TO_SENTENCE.default)
    if causal and a < b:
        st.caption(
            f"This model reads from left to right, so no token of sentence {a + 1} can look at sentence {b + 1}. You "
            f"see the other direction, from sentence {b + 1} to sentence {a + 1}."
        )
        a, b = b, a
    possible = aside(trace, sentences) is not None
    return SentencesView(page, trace, sentences, a, b, possible and sinks_left_out(), page.selection[MODE] == TOY)


def _look_at_two(page: LessonPage, own: Trace, sentences: Sentences) -> tuple[Trace, Sentences]:
    """Return the learner's text if it has two sentences; otherwise return the example, and say so."""
    if len(sentences) > 1:
        return own, sentences
    shown = page.run(own.model.id, EXAMPLE, "")
    what = (
        f"has only one sentence: {quoted(sentences.texts[0])}"
        if len(sentences)
        else "has no sentence that the lab can find."
    )
    with st.container(border=True):
        say(
            f":material/lightbulb: **Example.** Your text {what} This lesson needs at least two sentences, so it "
            f"shows three of its own: {quoted(EXAMPLE)} To see your text, add a sentence to it."
        )
        told, take = "This copies the example into your text box, so that you can change it.", (EXAMPLE, "")
        st.button("Take three sentences", icon=":material/edit:", on_click=use_texts, args=take, help=told)
    return shown, split(shown)


def _show_limits(trace: Trace, sentences: Sentences) -> None:
    if len(sentences) < 2:
        st.info("This model reads too few tokens for two sentences. Choose another one.", icon=":material/info:")
    if sentences.left_out:
        st.info(
            f"The text has {len(sentences) + sentences.left_out} sentences, and you see the first {MOST}. The model "
            "has read all of them.",
            icon=":material/content_cut:",
        )
    if sentences.cut:
        st.info(
            f"The model reads at most {trace.model.config.max_tokens} tokens. {sentences.cut} more sentences do "
            "not fit, and the model has not read them.",
            icon=":material/content_cut:",
        )


def choose_one(parameter: Counted, title: str, count: int, default: int, what: str = "This text") -> int:
    """Draw the list of the ``count`` sentences, layers or heads of ``what``; returns the chosen number, from 0."""
    selection.fit(parameter, count, what)
    return parameter.choose(title, range(1, count + 1), min(default, count)) - 1


def readings(view: SentencesView) -> dict[str, str]:
    """Sentences that say how to read a map, by its measure."""
    without = f", without {view.outside}," if view.left_out else ""
    return {
        MASS: f"Each row shows how the attention of a sentence is divided{without or ','} averaged over its tokens and "
        "all heads.",
        RELATIVE: (
            "Each cell is the share of attention divided by the share that a uniform head would give. The value 1 "
            "means that a sentence gets only what its length explains."
        ),
        MAXIMUM: (
            "Each cell is the largest weight that any head gives from a token of one sentence to a token of the other."
        ),
    }


def choose_part(view: SentencesView) -> None:
    """Draw the switch for special tokens, or for the first token."""
    alone = "A sentence of one token would then have no token left, so no token is left out."
    choose_sinks(None if view.can_leave_out else alone)
