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
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lab.evidence.treebank import Sentence
from lab.text.tags.pipeline import tagged_words

if TYPE_CHECKING:
    from lab.evidence.relation_cases import Cases

# A rule stops at up to this many kinds of words: the commonest kinds of the words that it seeks.
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
        ends = cases.dependent, cases.head
        found = [
            self.named(tags[sentence], word)
            for sentence, word in zip(cases.sentence.tolist(), ends[self.end].tolist(), strict=True)
        ]
        return np.array(found, dtype=np.int64) == ends[1 - self.end]


def tags_of(sentences: Sequence[Sentence]) -> Tags:
    """Return the kinds of the words in some sentences; raises PipelineUnavailable if the tagger is damaged."""
    return Tags(_tagged(tuple(each.words for each in sentences)), tuple(each.tags for each in sentences))


@cache
def _tagged(sentences: tuple[tuple[str, ...], ...]) -> TagsOf:
    return tagged_words(sentences)


def best_rule(cases: Cases, tags: TagsOf, ends: Collection[int] = (0, 1)) -> KindRule:
    """Return the rule that is right most often in ``cases``; of equal rules, the first one with the fewest kinds.

    Only rules that start at one of the ``ends`` are tried.
    """
    candidates = []
    for end in ends:
        sought = cases.dependent if end else cases.head
        words = zip(cases.sentence.tolist(), sought.tolist(), strict=True)
        common = [kind for kind, _ in Counter(tags[sentence][word] for sentence, word in words).most_common(MOST_KINDS)]
        kinds = [tuple(sorted(common[:most])) for most in range(1, len(common) + 1)]
        candidates += [KindRule(end, side, each) for each in kinds for side in (LEFT, RIGHT)]
    return max(candidates, key=lambda rule: (rule.right(cases, tags).sum(), -len(rule.kinds)))
