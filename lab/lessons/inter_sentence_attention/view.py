"""What the inter-sentence lesson looks at: the sentences of a text, two of them chosen, and one measure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import streamlit as st

from lab.analysis.heads.values import Values, is_causal, places_left_out
from lab.analysis.sentences.attention import MASS, MAXIMUM, RELATIVE, InterSentence, SentenceCells, mean_between
from lab.analysis.sentences.split import MOST, Sentences, aside, split
from lab.course.pages import lesson_of
from lab.course.words import escaped, named, quoted
from lab.figures.sentences import apart, between, read, read_as
from lab.lessons.inter_sentence_attention.checks import counting
from lab.models.trace import Trace
from lab.questions.question import Question
from lab.text.sentences.unavailable import SentencesUnavailable
from lab.ui import selection, sidebar
from lab.ui.page import LessonPage
from lab.ui.parameters import FROM_SENTENCE, MEASURE, MODE, TO_SENTENCE, TOY
from lab.ui.parameters_of_a_run import Counted
from lab.ui.shared.metric_choice import choose_sinks, sinks_left_out
from lab.ui.sidebar import use_texts

MATRIX = "sentences"
# Also for whoever comes with one sentence.
EXAMPLE = lesson_of("inter-sentence-attention").text


@dataclass(frozen=True)
class SentencesView:
    """A text with at least two sentences; ``a`` and ``b`` are the chosen row and column, from 0.

    ``left_out``: special tokens, or the first token where there are none, take no part in what is shown.
    """

    page: LessonPage
    trace: Trace
    sentences: Sentences
    a: int
    b: int
    left_out: bool

    @property
    def found(self) -> InterSentence:
        """What is shown: :attr:`without` or :attr:`kept`, as chosen."""
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
        """As the model has it, what goes to those tokens counted apart from the sentences."""
        return apart(self.trace, self.sentences)

    def cells(self, a: int, b: int) -> SentenceCells:
        """The tokens behind a cell of what is shown: their mean weights over all heads."""
        sentence_of, renormalise = read_as(self.trace, self.sentences, self.left_out)
        return mean_between(self.trace, sentence_of, a, b, renormalise=renormalise)

    def values(self, measure: str, left_out: bool) -> Values:
        """The matrix of a measure, (S, S)."""
        return between(self.trace, left_out).values(measure)

    @property
    def is_toy(self) -> bool:
        """Whether the sentences are a toy's, which no text replaces."""
        return self.page.selection[MODE] == TOY

    @property
    def causal(self) -> bool:
        return is_causal(self.trace)

    @property
    def can_leave_out(self) -> bool:
        """Whether every sentence has a token when those are left out."""
        return aside(self.trace, self.sentences) is not None

    @property
    def outside(self) -> str:
        """What is left out, or could be: [CLS] and [SEP], or the first token; and whatever else is in no sentence."""
        out, special = places_left_out(self.trace)
        names = dict.fromkeys(self.trace.labels[place] for place in np.flatnonzero(out))
        parts = [escaped(name) for name in names] if special else [f"the first token {named(self.trace, 0)}"]
        parts += ["white space between sentences"] if self.sentences.blanks else []
        parts += ["the sentences that are not shown"] if self.sentences.left_out else []
        return " and ".join(parts)

    @property
    def counted(self) -> int:
        """How many tokens an even spread is over."""
        return sum(len(own) for own in self.found.members) if self.left_out else len(self.trace)

    @property
    def spread(self) -> str:
        """Which tokens an even spread is over, for a sentence."""
        tokens = f"the {self.counted} tokens that stay" if self.left_out else f"all {self.counted} tokens"
        tokens += f" (with {self.outside})" if self.can_leave_out and not self.left_out else ""
        return f"what it may see of {tokens}" if self.causal else tokens


def proven(step: Callable[[SentencesView], Trace | None]) -> Callable[[SentencesView], Trace]:
    """A step that returns the run it has drawn, which may be the example's or one of its own."""

    def drawn(view: SentencesView) -> Trace:
        return step(view) or view.trace

    return drawn


def look(page: LessonPage, own: Trace) -> SentencesView | None:
    """The sentences of the learner's text and the two chosen; where there is one sentence, those of an example."""
    try:
        trace, sentences = _with_two(page, own, split(own))
    except SentencesUnavailable as error:
        st.warning(f"{escaped(str(error))} The other lessons work without it.", icon=":material/extension_off:")
        return None
    _say_limits(trace, sentences)
    if len(sentences) < 2:
        return None
    causal = is_causal(trace)
    with sidebar.controls():
        st.divider()
        a = choose_one(FROM_SENTENCE, "From sentence", len(sentences), FROM_SENTENCE.default)
        b = choose_one(TO_SENTENCE, "To sentence", len(sentences), TO_SENTENCE.default)
    if causal and a < b:
        st.caption(
            f"This model reads from left to right: no token of sentence {a + 1} can attend to sentence {b + 1}. You "
            f"see the other direction, from sentence {b + 1} to sentence {a + 1}."
        )
        a, b = b, a
    possible = aside(trace, sentences) is not None
    return SentencesView(page, trace, sentences, a, b, possible and sinks_left_out())


def _with_two(page: LessonPage, own: Trace, sentences: Sentences) -> tuple[Trace, Sentences]:
    """The learner's text if it has two sentences; else the example, which is said to be one."""
    if len(sentences) > 1:
        return own, sentences
    shown = page.run(own.model.id, EXAMPLE, "")
    what = (
        f"is one sentence: {quoted(sentences.texts[0])}" if len(sentences) else "has no sentence that could be found."
    )
    with st.container(border=True):
        st.markdown(
            f":material/lightbulb: **Example.** Your text {what} Attention between sentences needs two, so this lesson "
            f"shows three of its own: {quoted(EXAMPLE)} Your text stays as it is. Add a sentence to it, or fill in the "
            "second text, and the lesson shows yours."
        )
        told, take = "Put the example into your text box, to change it there.", (EXAMPLE, "")
        st.button("Take three sentences", icon=":material/edit:", on_click=use_texts, args=take, help=told)
    return shown, split(shown)


def _say_limits(trace: Trace, sentences: Sentences) -> None:
    if len(sentences) < 2:
        st.info("This model reads too few tokens for two sentences. Choose another one.", icon=":material/info:")
    if sentences.left_out:
        st.info(
            f"The text has {len(sentences) + sentences.left_out} sentences; you see the first {MOST}. The model read "
            "all of them.",
            icon=":material/content_cut:",
        )
    if sentences.cut:
        st.info(
            f"The model reads {trace.model.config.max_tokens} tokens at most. {sentences.cut} more sentences come "
            "after them and have no number here.",
            icon=":material/content_cut:",
        )


def choose_one(parameter: Counted, title: str, count: int, default: int, what: str = "This text") -> int:
    """Draw the list of the ``count`` sentences, layers or heads that ``what`` has; the chosen one, from 0."""
    selection.fit(parameter, count, what)
    return parameter.choose(title, range(1, count + 1), min(default, count)) - 1


def choose_measure(view: SentencesView) -> str:
    """Which number stands for two sentences, and what it says."""
    readings = {
        MASS: "What each token of the row gives to the tokens of the column, added up: the mean over all heads and "
        "over the row’s tokens",
        RELATIVE: f"The mean mass divided by what an even spread would send. **1** means: as much as a token that "
        f"spreads its attention evenly over {view.spread}",
        MAXIMUM: "The largest single weight of any head from a token of the row to one of the column",
    }
    measure = MEASURE.choose("Measure")
    st.markdown(f"{readings[measure]}.{_shared_anew(view) if view.left_out and measure != MAXIMUM else ''}")
    return measure


def _shared_anew(view: SentencesView) -> str:
    """What is left out before a share is taken, and how much that is."""
    gone = float(view.apart.removed.mean())
    return (
        f" Of the attention of these sentences, {gone:.0%} goes to {view.outside}. That is left out first, and what is "
        "left of each token’s row is divided by its sum."
    )


def counted(view: SentencesView, question: Question | None) -> Question | None:
    """The question, with what it counts, where the learner can leave that out."""
    return counting(question, view.outside, view.left_out) if view.can_leave_out else question


def choose_part(view: SentencesView) -> None:
    """The switch for special tokens, or the first token."""
    alone = "A sentence of one token would have none left, so nothing is left out."
    choose_sinks(None if view.can_leave_out else alone)


def say_sinks(view: SentencesView, measure: str) -> None:
    """Whether special tokens, or the first token, are counted, and what the chosen cell is otherwise."""
    if not view.can_leave_out:
        return
    a, b = view.a, view.b
    shown, other = (float(view.values(measure, out)[a, b]) for out in (view.left_out, not view.left_out))
    here, there = ("left out", "With it") if view.left_out else ("counted", "Without it")
    changed = "is the same" if f"{shown:.3f}" == f"{other:.3f}" else f"is {other:.3f}"
    st.caption(
        f"What goes to {view.outside} is {here} here. {there}, the cell from {a + 1} to {b + 1} {changed}. The step "
        "**Special tokens** shows both."
    )
