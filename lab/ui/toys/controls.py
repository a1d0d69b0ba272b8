"""The controls in the sidebar for toys that belong to a single lesson."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from lab.course.pages import Toy
from lab.toy.settings import divisors
from lab.ui.parameters import (
    RANDOM,
    TOY_HEADS,
    TOY_LAYERS,
    TOY_NUMBERS,
    TOY_OTHER,
    TOY_OWN,
    TOY_RULE,
    TOY_SEED,
    TOY_SENTENCE,
    TOY_TRAINED_HEADS,
    TOY_TRAINER,
    TRAINED,
)
from lab.ui.toys.toy_runs import open_learning


def numbers() -> None:
    """Draw the settings of the sentences, the choice of one sentence, and a field for the learner's own letters."""
    labels = ("Vocabulary size", "Maximum length", "Number of sentences", "Seed", "Sentence to look at")
    for number, label in zip(TOY_NUMBERS, labels, strict=True):
        number.choose(label)
    _own_letters()


def _own_letters() -> None:
    TOY_OWN.line("Or your own letters", placeholder="a b a c", help="Your letters replace the sentence above.")


def heads(weights: str) -> None:
    """Draw the choice of the number of heads, or the reason why it cannot be chosen."""
    if weights == TRAINED:
        TOY_TRAINED_HEADS.choose("Heads")
    elif weights == RANDOM:
        TOY_HEADS.choose("Heads", help="The number of heads into which the random weights are divided.")
    else:
        st.caption(
            "The toy has three heads. Each head was written by hand for one rule, so the number of heads is fixed."
        )


def cut(chosen: int) -> int:
    """Return the number of heads into which the random toy is cut.

    Say so if ``chosen`` does not divide the toy's width.
    """
    width = TOY_HEADS.most  # at most one head for each dimension
    cuts = divisors(width)
    nearest = max(each for each in cuts if each <= chosen)
    if nearest != chosen:
        st.warning(
            f"{width} dimensions do not divide into {chosen} equally wide heads: {width} ÷ {chosen} = "
            f"{width / chosen:.2f}. You see {nearest}; possible numbers are {', '.join(map(str, cuts))}.",
            icon=":material/content_cut:",
        )
    return nearest


def _vocabulary() -> None:
    """Draw the choice of the rule that picks the next merge."""
    TOY_TRAINER.choose("Merge by", help="BPE merges the most frequent pair, WordPiece the pair with the best score.")


def _words() -> None:
    TOY_SEED.choose("Seed", help="Another seed gives other made-up words.")


def _blank() -> None:
    """Draw the choice of the sentences' rule, and the controls of the toy that learns it."""
    TOY_RULE.choose("Rule")
    TOY_LAYERS.choose("Layers")
    heads(TRAINED)
    if st.button("Train", icon=":material/model_training:"):
        open_learning()


def _blank_sentences() -> None:
    TOY_SEED.choose("Seed", help="Another seed gives other sentences, and other random weights to begin with.")
    TOY_SENTENCE.choose("Sentence to look at")
    _own_letters()


def _pair() -> None:
    """Draw the choice of the second of the two sentences to look at."""
    TOY_OTHER.choose("Second sentence")
    st.caption("The toy has two heads. Each head was written by hand for one rule, so the number of heads is fixed.")


# For each toy, the controls that are open in the sidebar, and the controls that are folded.
OWN_CONTROLS: Mapping[object, tuple[Callable[[], None], Callable[[], None]]] = {
    Toy.VOCABULARY: (_vocabulary, _words),
    Toy.BLANK: (_blank, _blank_sentences),
    Toy.PAIR: (_pair, numbers),
}
