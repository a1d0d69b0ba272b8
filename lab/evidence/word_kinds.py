"""A rule that knows kinds of words and no grammar, as a second baseline: "the nearest noun or pronoun to the left".

If several such words follow each other, as in "in the New York office", the rule may also name the last one.

A head that finds the subject of a verb may only know which words are nouns and which is near. So for each relation the
best such rule is chosen on half A of the treebank, as the heads are: from which end it starts, to which side it goes,
at which kinds of words it stops, and at which end of a row of them. The kinds are parts of speech, by a tagger as a
reader would use it, and beside them by the people who annotated the treebank.
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
    """A rule that names the nearest word of some kinds, or the last word of the nearest row of them.

    Attributes
    ----------
    end
        0 if the rule starts at the dependent and names its head, 1 if it starts at the head and names the dependent.
    side
        :data:`LEFT` or :data:`RIGHT`, where the rule looks.
    kinds
        The parts of speech at which it stops.
    last
        Whether the rule goes on, from the nearest word of these kinds, as long as the next word is of these kinds, too.
    """

    end: int
    side: int
    kinds: tuple[str, ...]
    last: bool = False

    def named(self, tags: Sequence[str], word: int) -> int:
        """Return the word, from 0, that the rule names for ``word``; −1 if there is no word of these kinds."""
        beyond = len(tags) if self.side == RIGHT else -1
        way = range(word + self.side, beyond, self.side)
        found = next((at for at in way if tags[at] in self.kinds), -1)
        while self.last and found >= 0 and found + self.side != beyond and tags[found + self.side] in self.kinds:
            found += self.side
        return found

    def right(self, cases: Cases, tags: TagsOf) -> NDArray[np.bool_]:
        """Return, for each case, (N,), whether the rule names the right word."""
        starts = zip(cases.sentence.tolist(), cases.sought[:, 1 - self.end].tolist(), strict=True)
        found = [self.named(tags[sentence], word) for sentence, word in starts]
        return np.array(found, dtype=np.int64) == cases.sought[:, self.end]


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
    candidates = list[KindRule]()
    for end in ends:
        words = zip(cases.sentence.tolist(), cases.sought[:, end].tolist(), strict=True)
        common = [kind for kind, _ in Counter(tags[sentence][word] for sentence, word in words).most_common(MOST_KINDS)]
        sets = chain.from_iterable(combinations(common, size) for size in range(1, len(common) + 1))
        candidates += [
            KindRule(end, side, tuple(sorted(kinds)), last)
            for kinds, side, last in product(sets, (LEFT, RIGHT), (False, True))
        ]
    return max(candidates, key=lambda rule: (rule.right(cases, tags).sum(), -len(rule.kinds)))
