"""Sums of words: king − man + woman, in the token table of a model.

Mikolov et al. 2013 ("Efficient estimation of word representations in vector space", §4) leave out the three words of
the question before they look for the nearest word. If no word is left out, the nearest is usually one of the three
(Nissim et al. 2020, "Fair is better than sensational"). To see the effect of the sum, compare it with the neighbours of
a single word of it (Linzen 2016, "Issues in evaluating semantic spaces using word analogies"). Token ids count from 0,
ranks from 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lab.analysis.words.neighbours import some, vocabulary_words
from lab.models.encoding import word_of
from lab.models.memo import once

if TYPE_CHECKING:
    from lab.models.loading import LoadedModel

Values = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class WordSum:
    """The sum a − b + c, compared with all words of the vocabulary.

    ids      (m,), the words for comparison
    cosines  (m,), the cosine of each word with the sum
    first    (m,), the cosine of each word with a alone
    third    (m,), the cosine of each word with c alone
    """

    summands: tuple[int, int, int]
    ids: tuple[int, ...]
    cosines: Values
    first: Values
    third: Values

    def nearest(self, k: int, *, without: bool = False) -> tuple[int, ...]:
        """The ``k`` words nearest to the sum, as places in ``ids``; ``without`` leaves out the sum's own words."""
        order = np.argsort(-self.cosines, kind="stable").tolist()
        return tuple([at for at in order if not (without and self.ids[at] in self.summands)][:k])

    def rank(self, token_id: int, cosines: Values | None = None, *, without: bool = True) -> int:
        """Return the rank of a word by ``cosines``, or by its cosine with the sum if ``cosines`` is None."""
        values = self.cosines if cosines is None else cosines
        nearer = values > values[self.ids.index(token_id)]
        if without:
            nearer[[self.ids.index(each) for each in self.summands if each in self.ids]] = False
        return 1 + int(np.count_nonzero(nearer))


def ids_of(model: LoadedModel, words: Sequence[str]) -> tuple[int | None, ...]:
    """Return the ids of the whole words with these spellings, or with these in small letters; None if there is none."""
    known = _by_spelling(model)
    return tuple(known.get(word, known.get(word.lower())) for word in words)


@once
def _by_spelling(model: LoadedModel) -> Mapping[str, int]:
    return {word_of(model.tokenizer, each).removeprefix("␣"): each for each in vocabulary_words(model)}


@once
def word_sum(model: LoadedModel, first: int, second: int, third: int) -> WordSum:
    """Compare row ``first`` of the token table − row ``second`` + row ``third`` with the rows of all whole words."""
    return _word_sums(model, ((first, second, third),))[0]


def _word_sums(model: LoadedModel, summands: Sequence[tuple[int, int, int]]) -> list[WordSum]:
    """Compute several sums while reading the table only once."""
    ids, table = vocabulary_words(model), model.weights.embeddings.token.numpy()
    of = [[table[each].astype(np.float64) for each in three] for three in summands]
    vectors = np.concatenate([np.stack([a - b + c, a, c]) for a, b, c in of])

    def cosines(part: list[int]) -> Values:
        rows = table[part].astype(np.float64)
        scale = np.linalg.norm(rows, axis=1)[:, None] * np.linalg.norm(vectors, axis=1)
        return np.asarray(np.divide(rows @ vectors.T, scale, out=np.zeros_like(scale), where=scale > 0))

    found = np.concatenate([cosines(part) for part in some(ids)])
    return [WordSum(three, ids, *found[:, 3 * at : 3 * at + 3].T) for at, three in enumerate(summands)]


@dataclass(frozen=True)
class Score:
    """The number of questions of a list that a model answers.

    asked    questions whose words are all in the vocabulary
    whole    questions whose expected word is the nearest of all words to the sum
    without  questions whose expected word is the nearest if the sum's own three words are left out
    alone    questions whose expected word is the nearest to the first or third word alone, without the three words
    """

    asked: int
    whole: int
    without: int
    alone: int


@once
def score(model: LoadedModel, questions: tuple[tuple[str, str, str, str], ...]) -> Score:
    """Count the ``questions`` (a, b, c, expected) that a model answers."""
    known = [[each for each in ids_of(model, question) if each is not None] for question in questions]
    asked = [(a, b, c, expected) for a, b, c, expected in (ids for ids in known if len(set(ids)) == 4)]
    whole = without = alone = 0
    for found, (*_, expected) in zip(
        _word_sums(model, [ids[:3] for ids in asked]) if asked else (), asked, strict=True
    ):
        whole += found.rank(expected, without=False) == 1
        without += found.rank(expected) == 1
        alone += 1 in (found.rank(expected, found.first), found.rank(expected, found.third))
    return Score(len(asked), whole, without, alone)
