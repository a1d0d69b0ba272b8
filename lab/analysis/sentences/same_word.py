"""Heads that look at the same word in another sentence (Vig 2019, Deconstructing BERT, part 1, pattern 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lab.analysis.heads.patterns import trace_roles
from lab.analysis.heads.values import Mask, Values, is_causal
from lab.analysis.sentences.split import split
from lab.models.memo import once

if TYPE_CHECKING:
    from lab.models.trace import Trace


@dataclass(frozen=True, eq=False)
class SameWord:
    """The attention that words give to their own word in another sentence.

    Attributes
    ----------
    words
        The places of the words, from 0, that another sentence has, too.
    given
        (L, H), the weight that such a word gives to its word in other sentences; a mean over ``words``.
    uniform
        The same for a head that gives every token that it may see the same weight.
    """

    words: tuple[int, ...]
    given: Values
    uniform: float


def elsewhere(trace: Trace) -> Mask:
    """Return which keys hold the query's word in another sentence, (n, n); signs and special tokens do not count."""
    of_token = np.array([-1 if sentence is None else sentence for sentence in split(trace).of_token])
    words = np.array([any(letter.isalnum() for letter in label) for label in trace.labels]) & (of_token >= 0)
    apart = words[:, None] & words & (of_token[:, None] != of_token)
    found: Mask = trace_roles(trace).same & apart
    return np.tril(found) if is_causal(trace) else found


@once
def same_word(trace: Trace) -> SameWord | None:
    """Measure every head of a trace; None if no word occurs in two sentences where one can see the other."""
    keys = elsewhere(trace)
    words = np.flatnonzero(keys.any(axis=1))
    if not len(words):
        return None
    given = [
        np.where(keys[words], layer.attention[:, words].double().numpy(), 0).sum(axis=-1).mean(axis=-1)
        for layer in map(trace.layer, range(trace.model.config.layers))
    ]
    seen = words + 1 if is_causal(trace) else np.full(len(words), len(trace))
    return SameWord(tuple(words.tolist()), np.stack(given), float((keys[words].sum(axis=1) / seen).mean()))
