"""A rule that knows kinds of words and no grammar, as a second baseline: "the nearest noun or pronoun to the left".

A head that finds the subject of a verb may only know which words are nouns and which is near. So for each relation the
best such rule is chosen on half A of the treebank, as the heads are: from which end it starts, to which side it goes,
and at which kinds of words it stops. The kinds are parts of speech, by a tagger as a reader would use it, and beside
them by the people who annotated the treebank.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, combinations, product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lab.evidence.treebank import Sentence
from lab.text.tags.pipeline import tagged_words

if TYPE_CHECKING:
    from lab.evidence.relation_cases import Cases

# A rule stops at some of the commonest kinds of the words that it seeks, and this many kinds are tried.
MOST_KINDS = 5
LEFT, RIGHT = -1, 1
TagsOf = Sequence[tuple[str, ...]]  # the kind of each word, sentence by sentence


@dataclass(frozen=True)
class Tags:
    """The kinds of the words in some sentences, by the tagger and as annotated; one entry for each sentence."""

    tagger: TagsOf
    gold: TagsOf

    def split(self, first: int) -> tuple[Tags, Tags]:
        """Return the kinds in the ``first`` sentences, and in the rest."""
        return Tags(self.tagger[:first], self.gold[:first]), Tags(self.tagger[first:], self.gold[first:])


@dataclass(frozen=True)
class KindRule:
    """A rule that names the nearest word of some kinds.

    Attributes
    ----------
    end
        0 if the rule starts at the dependent and names its head, 1 if it starts at the head and names the dependent.
    side
        :data:`LEFT` or :data:`RIGHT`, where the rule looks.
    kinds
        The parts of speech at which it stops.
    """

    end: int
    side: int
    kinds: tuple[str, ...]

    def named(self, tags: Sequence[str], word: int) -> int:
        """Return the word, from 0, that the rule names for ``word``; −1 if there is no word of these kinds."""
        beyond = len(tags) if self.side == RIGHT else -1
        return next((at for at in range(word + self.side, beyond, self.side) if tags[at] in self.kinds), -1)

    def right(self, cases: Cases, tags: TagsOf) -> NDArray[np.bool_]:
        """Return, for each case, (N,), whether the rule names the right word."""
        return self.steps(cases, tags) == self.side * _away(cases, self.end)

    def steps(self, cases: Cases, tags: TagsOf) -> NDArray[np.float64]:
        """Return, for each case, (N,), how many words away the named word is; inf if the rule names no word."""
        starts = cases.sought[:, 1 - self.end].tolist()
        found = [
            self.named(tags[sentence], word) for sentence, word in zip(cases.sentence.tolist(), starts, strict=True)
        ]
        return np.array(
            [abs(at - start) if at >= 0 else np.inf for at, start in zip(found, starts, strict=True)], dtype=np.float64
        )


def _away(cases: Cases, end: int) -> NDArray[np.int64]:
    """Return, for each case, (N,), how far to the right of the word where a rule starts the right word is."""
    return cases.sought[:, end] - cases.sought[:, 1 - end]


def tags_of(sentences: Sequence[Sentence]) -> Tags:
    """Return the kinds of the words in some sentences; raises PipelineUnavailable if the tagger is damaged."""
    return Tags(_tagged(tuple(each.words for each in sentences)), tuple(each.tags for each in sentences))


@cache
def _tagged(sentences: tuple[tuple[str, ...], ...]) -> TagsOf:
    return tagged_words(sentences)


def best_rule(cases: Cases, tags: TagsOf, ends: Collection[int] = (0, 1)) -> KindRule:
    """Return the rule that is right most often in ``cases``; of equal rules, the first one with the fewest kinds.

    All sets of the :data:`MOST_KINDS` commonest kinds are tried, and only rules that start at one of the ``ends``.
    """
    best, most_right = KindRule(0, LEFT, ()), (-1, 0)
    for end, side in product(ends, (LEFT, RIGHT)):
        words = zip(cases.sentence.tolist(), cases.sought[:, end].tolist(), strict=True)
        common = [kind for kind, _ in Counter(tags[sentence][word] for sentence, word in words).most_common(MOST_KINDS)]
        # A set of kinds names the nearest of the words that its kinds name one by one.
        steps = {kind: KindRule(end, side, (kind,)).steps(cases, tags) for kind in common}
        away = side * _away(cases, end)
        for kinds in chain.from_iterable(combinations(common, size) for size in range(1, len(common) + 1)):
            right = int((np.min([steps[kind] for kind in kinds], axis=0) == away).sum())
            if (right, -len(kinds)) > most_right:
                best, most_right = KindRule(end, side, tuple(sorted(kinds))), (right, -len(kinds))
    return best
