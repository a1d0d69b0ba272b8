"""What the inter-sentence lesson looks at: the sentences of a text, two of them chosen, and one measure."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from lab.analysis.heads import is_causal
from lab.analysis.sentence_split import MOST, Sentences, split
from lab.analysis.sentences import MASS, MAXIMUM, RELATIVE, InterSentence
from lab.course.words import escaped, quoted
from lab.figures.sentences import Between
from lab.models.trace import Trace
from lab.text.sentences import SentencesUnavailable
from lab.ui import cached_heads, parameters, selection, sidebar
from lab.ui.lesson import LessonPage

LESSON = "inter-sentence-attention"
MATRIX = "sentences"
EXAMPLE = "The dog ran to the park. It found a red ball there. The children laughed because the dog was happy."
# What each measure says.
_READINGS = {
    MAXIMUM: "The largest single weight of any head from a token of the row to one of the column",
    MASS: "What a token of the row sends to the column: mean over its tokens and all heads",
    RELATIVE: "The mean mass over what an even spread would send: 1 is no preference",
}


@dataclass(frozen=True)
class View:
    """A text with at least two sentences; ``a`` and ``b`` are the chosen row and column, from 0."""

    page: LessonPage
    trace: Trace
    sentences: Sentences
    a: int
    b: int

    @property
    def between(self) -> Between:
        return Between(self.trace, self.sentences, self.found)

    @property
    def without(self) -> Between:
        """The same with the tokens in no sentence left out."""
        found = cached_heads.inter_sentence(self.trace, self.sentences.of_token, renormalise=True)
        return Between(self.trace, self.sentences, found)

    @property
    def found(self) -> InterSentence:
        return cached_heads.inter_sentence(self.trace, self.sentences.of_token)

    @property
    def causal(self) -> bool:
        return is_causal(self.trace)

    @property
    def hidden(self) -> bool:
        """Whether the model cannot look from a to b."""
        return bool(self.found.where[self.a, self.b, 0] < 0)

    @property
    def outside(self) -> str:
        """What is in no sentence on screen."""
        encoding = self.trace.encoding
        tokens = dict.fromkeys(token for token, flag in zip(encoding.tokens, encoding.special, strict=True) if flag)
        parts = [quoted(token) for token in tokens]
        if self.sentences.blanks:
            parts.append("white space between sentences")
        if self.sentences.left_out:
            parts.append("the sentences left out")
        return " and ".join(parts)


def look(page: LessonPage, trace: Trace) -> View | None:
    """The sentences of a text and the two chosen; None, with an explanation and a way on, if there is only one."""
    try:
        sentences = split(trace)
    except SentencesUnavailable as error:
        st.warning(f"{escaped(str(error))} The other lessons work without it.", icon=":material/extension_off:")
        return None
    _say_limits(trace, sentences)
    if len(sentences) < 2:
        _say_single(sentences)
        return None
    with sidebar.controls():
        st.divider()
        a = _choose("sentence", "From sentence", len(sentences))
        b = _choose("other_sentence", "To sentence", len(sentences))
    return View(page, trace, sentences, a, b)


def _say_limits(trace: Trace, sentences: Sentences) -> None:
    if sentences.left_out:
        st.info(
            f"The text has {len(sentences) + sentences.left_out} sentences; you see the first {MOST}. The model read "
            "all of them.",
            icon=":material/content_cut:",
        )
    if sentences.cut:
        st.info(
            f"{sentences.cut} more have no token left at {trace.model.config.max_tokens} tokens, and no number here.",
            icon=":material/content_cut:",
        )


def _say_single(sentences: Sentences) -> None:
    st.markdown(
        "Attention between sentences needs two of them. "
        + (
            f"Your text is one sentence: {quoted(sentences.texts[0])}."
            if len(sentences)
            else "No sentence was found in your text."
        )
        + " Write a second one, fill in the second text, or start from three sentences."
    )
    st.button("Take three sentences", icon=":material/edit:", on_click=take, args=(EXAMPLE, ""))
    say_no_toy()


def say_no_toy() -> None:
    """Why this lesson has no toy mode."""
    st.caption("There is no toy here: a toy text is one sentence of numbers, with no other to look at.")


def take(text: str, pair: str) -> None:
    """Put these texts into the sidebar's fields."""
    st.session_state["text"], st.session_state["pair"] = text, pair


def _choose(name: str, title: str, count: int) -> int:
    selection.fit(name, count, "This text")
    default = min(getattr(parameters.DEFAULTS, name), count)
    return int(st.selectbox(title, range(1, count + 1), default - 1, key=name, bind="query-params")) - 1


def choose_measure() -> str:
    """Which number stands for two sentences."""
    chosen = st.segmented_control(
        "Measure", list(_READINGS), default=MAXIMUM, required=True, key="measure", bind="query-params",
        persist_state="session",
    )  # fmt: skip
    measure = chosen if chosen in _READINGS else MAXIMUM
    st.markdown(f"{_READINGS[measure]}.")
    return str(measure)
