"""The keys of the delimiters beside the keys of words: whether they share numbers that words do not have (Vig 2019)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from lab.charts.cells.heatmap import Heatmap
from lab.charts.cells.strips import VALUE, strips
from lab.course.words import quoted, signed
from lab.figures.attention import place
from lab.models.memo import once
from lab.models.trace import Trace
from lab.questions.question import MARGIN
from lab.ui.drawing import draw
from lab.ui.frame.closing import meaning

# The most words in one figure.
WORDS = 8


@dataclass(frozen=True, eq=False)
class DelimiterKeys:
    """The keys of the delimiters that end texts, such as [SEP], against the keys of all words, in one head.

    Attributes
    ----------
    delimiter
        The delimiter as it is shown.
    ends, words
        The places of the delimiters, and of the words whose keys are drawn, in text order.
    among
        The least cosine of two delimiters' keys; None if there is a single delimiter.
    beyond
        The greatest cosine of a delimiter's key and a word's key.
    dimension
        The dimension that tells delimiters from words best; None if no single dimension tells them all.
    bounds
        In this dimension: the delimiters' number that is nearest to the words, and the words' that is nearest to them.
    """

    delimiter: str
    ends: tuple[int, ...]
    words: tuple[int, ...]
    among: float | None
    beyond: float
    dimension: int | None
    bounds: tuple[float, float]

    @property
    def shared(self) -> bool:
        """Whether the delimiters' keys are clearly more like each other than like any word's key."""
        return self.among is not None and self.among >= self.beyond + MARGIN


@once
def delimiter_keys(traced: Trace, layer: int, head: int) -> DelimiterKeys | None:
    """Compare the keys of a head; None if no special token ends the text, or if there is no word beside it."""
    special = np.array(traced.encoding.special, dtype=np.bool_)
    if not special[-1] or special.all():
        return None
    ids = np.array(traced.token_ids)
    ends, words = np.flatnonzero(special & (ids == ids[-1])), np.flatnonzero(~special)
    keys = traced.layer(layer).key[head].numpy().astype(np.float64)
    turned = keys / np.maximum(np.linalg.norm(keys, axis=-1, keepdims=True), 1e-12)
    own, cross = turned[ends] @ turned[ends].T, turned[ends] @ turned[words].T
    nearest = words[np.argsort(-cross.max(axis=0), kind="stable")[:WORDS]]
    dimension, bounds = _apart(keys[ends], keys[words])
    among = float(own[np.triu_indices(len(ends), 1)].min()) if len(ends) > 1 else None
    drawn = tuple(np.sort(nearest).tolist())
    delimiter = traced.labels[-1]
    return DelimiterKeys(delimiter, tuple(ends.tolist()), drawn, among, float(cross.max()), dimension, bounds)


def _apart(ends: NDArray[np.float64], words: NDArray[np.float64]) -> tuple[int | None, tuple[float, float]]:
    """Find the dimension with the widest gap between all delimiters and all words, and the two edges of this gap."""
    above, below = ends.min(axis=0) - words.max(axis=0), words.min(axis=0) - ends.max(axis=0)
    gaps = np.maximum(above, below)
    best = int(gaps.argmax())
    if gaps[best] <= 0:
        return None, (0.0, 0.0)
    higher = above[best] > below[best]
    edges = (ends.min(axis=0), words.max(axis=0)) if higher else (ends.max(axis=0), words.min(axis=0))
    return best, (float(edges[0][best]), float(edges[1][best]))


def keys_beside_words(traced: Trace, layer: int, head: int) -> Heatmap:
    """Draw the keys of the delimiters and, below them, of the words whose keys are most like them.

    Raises ValueError for a text without a delimiter at its end, or without a word.
    """
    found = delimiter_keys(traced, layer, head)
    if found is None:
        raise ValueError("This text has no delimiter beside words.")
    rows = [*found.ends, *found.words]
    names = [f"{i + 1} {traced.labels[i]}" for i in rows]
    keys = traced.layer(layer).key[head].numpy()
    title = f"Keys of {found.delimiter} and of words, {place(layer, head)}"
    scale = replace(VALUE, title="Number in the key")
    return strips([keys[i] for i in rows], names, scale, title=title, highlight=(None, found.dimension))


def said(found: DelimiterKeys) -> str:
    """Say whether the delimiters' keys share their numbers, and which dimension tells them from the words."""
    return f"{_alike(found)} {_told_apart(found)}"


def _alike(found: DelimiterKeys) -> str:
    """Compare the cosine of two delimiters' keys with the cosine of a delimiter's key and a word's key."""
    name, beyond, count = quoted(found.delimiter), f"**{signed(found.beyond)}**", len(found.ends)
    if found.among is None:
        return f"The cosine of the key of {name} and the key of a word reaches {beyond}."
    cosine = f"{'their' if count == 2 else 'their lowest'} cosine is **{signed(found.among)}**"
    if found.shared:
        return (
            f"The {count} keys of {name} are alike: {cosine}. The cosine of a key of {name} and the key of a word "
            f"reaches only {beyond}."
        )
    return (
        f"The {count} keys of {name} are not clearly more like each other than like the key of a word: {cosine}, and "
        f"the cosine with the key of a word reaches {beyond}."
    )


def _told_apart(found: DelimiterKeys) -> str:
    """Name the dimension that tells every delimiter from every word, with the two numbers that come closest there."""
    name = quoted(found.delimiter)
    if found.dimension is None:
        return f"No single dimension tells {name} from every word."
    end, word = (signed(bound) for bound in found.bounds)
    lowest, highest = ("lowest", "highest") if found.bounds[0] > found.bounds[1] else ("highest", "lowest")
    own = f"{name} has {end}" if len(found.ends) == 1 else f"the {lowest} number of {name} is {end}"
    return (
        f"Dimension {found.dimension + 1} tells them apart best. There, {own}, and the {highest} "
        f"number of a word is {word}."
    )


def show_delimiter_keys(trace: Trace, layer: int, head: int) -> None:
    """Draw, folded, the keys of the delimiters beside the keys of words; draw nothing for a text without delimiters."""
    found = delimiter_keys(trace, layer, head)
    if found is None:
        return
    with st.expander(f"The keys of {quoted(found.delimiter)} beside the keys of words", icon=":material/vpn_key:"):
        draw(partial(keys_beside_words, trace, layer, head), "neurons-delimiter-keys")
        meaning(said(found))
        few = f" The {WORDS} words are the ones whose keys are most like a key of {quoted(found.delimiter)}."
        st.caption(
            "Each row is a key, and each column is a dimension. In BERT base, the keys of [SEP] have a few large "
            "numbers in "
            f"common, and the queries match these (Vig 2019).{few if len(found.words) == WORDS else ''}"
        )
        if found.among is None:
            st.caption("This text ends once. Add a second text to see whether two such keys are alike.")
