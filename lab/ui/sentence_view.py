"""What the inter-sentence lesson looks at: the sentences of a text, two of them chosen, and one measure."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from lab.analysis.heads import Values, is_causal
from lab.analysis.sentence_split import MOST, Sentences, split
from lab.analysis.sentences import InterSentence
from lab.charts import Heatmap, heatmap
from lab.course.words import quoted
from lab.models.trace import Trace
from lab.ui import cached_heads, selection
from lab.ui.lesson import LessonPage
from lab.ui.selection import MASS, MAXIMUM, RELATIVE

LESSON = "inter-sentence-attention"
MATRIX = "sentences"
EXAMPLE = "The dog ran to the park. It found a red ball there. The children laughed because the dog was happy."
_LABEL = 40  # characters of a sentence that a label keeps
# Measure -> (field of InterSentence, its unit, what it says).
MEASURES = {
    MAXIMUM: (
        "maximum",
        "Weight",
        "The largest single weight of any head from a token of the row to one of the column",
    ),
    MASS: (
        "mass",
        "Share of attention",
        "What a token of the row sends to the column: mean over its tokens and all heads",
    ),
    RELATIVE: ("relative", "× even share", "The mean mass over what an even spread would send: 1 is no preference"),
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

    def names(self) -> list[str]:
        """The sentences as labels: "1 The dog ran to the park."."""
        return [label(number, text) for number, text in enumerate(self.sentences.texts)]


def label(sentence: int, text: str) -> str:
    """A sentence's number and how it begins."""
    words = " ".join(text.split())
    return f"{sentence + 1} {words if len(words) <= _LABEL else words[: _LABEL - 1] + '…'}"


def look(page: LessonPage, trace: Trace) -> View | None:
    """The sentences of a text and the two chosen; None, with an explanation and a way on, if there is only one."""
    sentences = split(trace)
    _say_limits(trace, sentences)
    if len(sentences) < 2:
        _say_single(sentences)
        return None
    with st.sidebar:
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
    default = min(getattr(selection.DEFAULTS, name), count)
    return int(st.selectbox(title, range(1, count + 1), default - 1, key=name, bind="query-params")) - 1


def choose_measure() -> str:
    """Which number stands for two sentences."""
    chosen = st.segmented_control(
        "Measure", list(MEASURES), default=MAXIMUM, required=True, key="measure", bind="query-params",
        persist_state="session",
    )  # fmt: skip
    measure = chosen if chosen in MEASURES else MAXIMUM
    st.markdown(f"{MEASURES[measure][2]}.")
    return str(measure)


def values_of(found: InterSentence, measure: str) -> Values:
    """The matrix of a measure, (S, S)."""
    values: Values = getattr(found, MEASURES[measure][0])
    return values


def matrix(
    view: View, values: Values, measure: str, title: str, *, top: float | None = None, clickable: bool = False
) -> Heatmap:
    """The sentences as a heatmap; what a causal model cannot see is hatched. ``top`` ends the colours of two."""
    high = 1.0 if measure == MAXIMUM else top
    return heatmap(
        values, view.names(), [str(b + 1) for b in range(len(values))], title=title, row_title="From",
        column_title="To", value_title=MEASURES[measure][1], domain=(0.0, high) if high else None,
        select="cell" if clickable else None, highlight=(view.a, view.b), value_format=".2f", causal=view.causal,
        numbered=False,
    )  # fmt: skip
