"""King − man + woman: the screen of the embeddings lesson that adds and subtracts rows of the token table."""

from __future__ import annotations

from functools import partial

import streamlit as st

from lab.analysis.words.neighbours import vocabulary_words
from lab.analysis.words.vector_sums import word_sum
from lab.course.words import quoted
from lab.lessons.embeddings import word_sums
from lab.lessons.embeddings.view import EmbeddingView
from lab.models.encoding import word_of
from lab.models.loading import LoadedModel
from lab.ui.drawing import code, draw
from lab.ui.parameters import WORD_SUM
from lab.ui.terms import say


def show_word_sums(view: EmbeddingView) -> None:
    """Show the words nearest to a − b + c, and say whether one word alone would find the expected word as well."""
    say(
        "Vectors can be added and subtracted. Take the row of *king*, subtract the row of *man*, add the row of "
        "*woman*. If directions had meanings, the result would be near *queen*. Is it?"
    )
    model = view.trace.model
    typed = WORD_SUM.line("Three words for first − second + third, then the word that you expect").split()
    words = tuple(typed[:4])
    if len(typed) > 4:
        st.caption(f"You typed {len(typed)} words. The lab reads the first four.")
    unknown = word_sums.missing(model, words)
    if len(words) < 3 or unknown:
        _show_why_not(model, unknown)
        return
    draw(partial(word_sums.near_sum, view.trace, *words), "near-sum")
    st.caption(
        "A dot marks the words of the sum itself. The dashed line is the mean over all words. If the expected word "
        "is farther away, it follows after “…”."
    )
    say(word_sums.meaning(model, words))
    with st.spinner(f"Asking {len(word_sums.QUESTIONS)} such questions …"):
        said = word_sums.in_general(model)
    if said is not None:
        say(said)
    say(
        "Published results leave out the words of the sum (Mikolov et al. 2013, §4). If they are kept, far fewer sums "
        "succeed (Nissim et al. 2020), and sometimes one of the words alone already finds the answer (Linzen 2016)."
    )
    _show_others(model, words)
    code(word_sum)


def _show_why_not(model: LoadedModel, unknown: list[str]) -> None:
    """Say which words are missing from the vocabulary, and name three that it has."""
    known = [word_of(model.tokenizer, each).removeprefix("␣") for each in vocabulary_words(model)[:3]]
    said = f"The vocabulary has no token for {' or '.join(map(quoted, unknown))}." if unknown else "Write three words."
    example = f" For example: {' '.join(known)}" if len(known) == 3 else ""
    st.info(f"{said}{example}", icon=":material/edit:")


def _show_others(model: LoadedModel, words: tuple[str, ...]) -> None:
    """Three other sums of different kinds, whose words are in the model's vocabulary."""
    known = [each for each in word_sums.QUESTIONS if not word_sums.missing(model, each) and each != words]
    if known[1::4]:
        say(f"Other sums to type: {'; '.join('*' + ' '.join(each) + '*' for each in known[1::4])}.")
