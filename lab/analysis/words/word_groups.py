"""Group tokens by word, and compute attention between words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lab.models.encoding import Encoding


@dataclass(frozen=True)
class Words:
    """The m words that n tokens belong to.

    groups                    n, the word of each token: 0 … m-1, in text order
    labels                    m, the word as spelt in the text; for a special token its own name
    special, in_pair          m, as in :class:`lab.models.encoding.Encoding`
    """

    groups: tuple[int, ...]
    labels: tuple[str, ...]
    special: tuple[bool, ...]
    in_pair: tuple[bool, ...]

    def __len__(self) -> int:
        return len(self.labels)


def words_of(encoding: Encoding) -> Words:
    """Return the words of a text as its tokenizer cuts them before it uses its vocabulary (pre-tokens).

    Each punctuation mark and each special token is a separate word.
    """
    groups: list[int] = []
    before: tuple[bool, int] | None = None
    for word, in_pair in zip(encoding.word_ids, encoding.in_pair, strict=True):
        here = None if word is None else (in_pair, word)
        same = here is not None and here == before
        groups.append(groups[-1] if same else len(set(groups)))
        before = here
    firsts = [groups.index(word) for word in range(groups[-1] + 1)]
    return Words(
        groups=tuple(groups),
        labels=tuple(_label(encoding, first, groups.count(groups[first])) for first in firsts),
        special=tuple(encoding.special[first] for first in firsts),
        in_pair=tuple(encoding.in_pair[first] for first in firsts),
    )


def _label(encoding: Encoding, first: int, count: int) -> str:
    """Return the text of a word, from its first token's start to its last token's end."""
    if encoding.special[first]:
        return encoding.tokens[first]
    text = (encoding.pair or "") if encoding.in_pair[first] else encoding.text
    start, end = encoding.offsets[first][0], encoding.offsets[first + count - 1][1]
    return text[start:end].strip() or text[start:end] or encoding.tokens[first]


def reduce_to_words(attention: ArrayLike, groups: Sequence[int]) -> NDArray[np.floating]:
    """Attention between words: to a word the sum over its tokens, from a word the mean (Clark et al. 2019, §4.1).

    Rows that sum to 1 still sum to 1. bertplus calls this variant ``reduced``.

    Parameters
    ----------
    attention
        (…, n, n), any leading dimensions, rows are queries.
    groups
        (n,), the word of each token: 0 for the first, then the previous number or one more.

    Returns
    -------
    (…, m, m), of the same float type.

    Raises
    ------
    ValueError
        If there is not one number for each token, or if the numbers skip a word.
    """
    array, words = np.asarray(attention), np.asarray(groups)
    if array.ndim < 2 or array.shape[-2:] != (len(words), len(words)) or not len(words):
        raise ValueError(f"{len(words)} tokens have words, but the attention has the shape {array.shape}.")
    if words[0] != 0 or not np.isin(np.diff(words), (0, 1)).all():
        raise ValueError("Words are numbered 0, 1, 2 … in the order of their tokens, none left out.")
    starts = np.flatnonzero(np.diff(words, prepend=-1))
    to_words = np.add.reduceat(array, starts, axis=-1)
    sizes = np.bincount(words).astype(array.dtype)
    summed: NDArray[np.floating] = np.add.reduceat(to_words, starts, axis=-2)
    return summed / sizes[:, None]
