"""King − man + woman: the screen of the embeddings lesson that adds and subtracts rows of the token table."""

from __future__ import annotations

from functools import partial

import streamlit as st

from lab.analysis.words.neighbours import vocabulary_words
from lab.analysis.words.word_sums import word_sum
from lab.course.words import quoted
from lab.lessons.embeddings import word_sums
from lab.lessons.embeddings.screens import EmbeddingView
from lab.models.encoding import word_of
from lab.models.loading import LoadedModel
from lab.ui.drawing import code, draw
from lab.ui.frame.script import meaning, try_this
from lab.ui.parameters import WORD_SUM


def show_word_sums(view: EmbeddingView) -> None:
    """The words nearest to a − b + c, and whether the sum finds the expected one better than one word alone."""
    model = view.trace.model
    words = tuple(WORD_SUM.line("Three words a b c for a − b + c, then the word you expect").split()[:4])
    unknown = word_sums.missing(model, words)
    if len(words) < 3 or unknown:
        _say_why_not(model, unknown)
        return
    draw(partial(word_sums.near_sum, view.trace, *words), "near-sum")
    st.caption(
        "Nothing is left out: a dot marks the words of the sum. The dashed line is the mean over all. After “…” comes "
        "the expected word, where it is farther off."
    )
    meaning(word_sums.meaning(model, words))
    with st.spinner(f"Asking {len(word_sums.QUESTIONS)} such questions …"):
        said = word_sums.in_general(model)
    if said is not None:
        st.markdown(said)
    st.markdown(
        "Published results leave the words of the question out (Mikolov et al. 2013, §4). With them, far "
        "fewer succeed (Nissim et al. 2020), and one word alone sometimes does as well as the sum (Linzen 2016)."
    )
    _offer(model, words)
    code(word_sum)


def _say_why_not(model: LoadedModel, unknown: list[str]) -> None:
    """Which words there are none of, and three that there are."""
    known = [word_of(model.tokenizer, each).removeprefix("␣") for each in vocabulary_words(model)[:3]]
    said = (
        f"The vocabulary has no one token for {' or '.join(map(quoted, unknown))}." if unknown else "Write three words."
    )
    st.info(said, icon=":material/edit:")
    if len(known) == 3:
        try_this("three words that the vocabulary has.", "Take these", {WORD_SUM: " ".join(known)})


def _offer(model: LoadedModel, words: tuple[str, ...]) -> None:
    """The next question of the lab's whose words the model has, one of another kind."""
    known = [each for each in word_sums.QUESTIONS if not word_sums.missing(model, each)]
    at = (known.index(words) + 4) % len(known) if words in known else 0
    if known and known[at] != words:
        first, second, third, expected = known[at]
        try_this(
            f"*{first}* − *{second}* + *{third}*. Is *{expected}* the nearest?",
            f"Take *{first}*",
            {WORD_SUM: " ".join(known[at])},
        )
