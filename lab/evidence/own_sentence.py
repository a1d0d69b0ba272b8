"""Test a head at its grammatical job on one text, whose relations the lab's parser finds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lab.analysis.heads.one_row import attention_map
from lab.evidence.notable import Doing, HeadJob
from lab.evidence.relation_cases import between_words
from lab.models.trace import Trace
from lab.text.tags.pipeline import TaggedText
from lab.text.tags.token_tags import TaggedSpan, encoding_tags

# Relations of spaCy's own pipeline that have another name in Universal Dependencies.
_IN_UD = {"dobj": "obj"}


@dataclass(frozen=True)
class Case:
    """One relation in a text: from the word ``asked``, the head should find ``sought``; it names ``named``.

    Words are as spelt in the text; ``named`` is "" if the head sees no other word. ``too`` holds the other words from
    which the head also names ``sought``, though they have no such relation with ``sought``. ``query`` and ``key`` are
    the places, from 0, of the first tokens of ``asked`` and ``sought``.
    """

    asked: str
    sought: str
    named: str
    right: bool
    query: int
    key: int
    too: tuple[str, ...] = ()


def cases(trace: Trace, tagged: TaggedText, job: HeadJob, doing: Doing) -> tuple[Case, ...]:
    """Return each relation of a grammatical ``job`` in a text with the word that the head names, in reading order.

    As in :mod:`lab.evidence.relation_cases`, attention from a word is the mean over its pieces, and attention to a
    word is the sum over its pieces. The head cannot name special tokens, the word itself, or later words in a causal
    model. ``tagged`` is the text of ``trace``, or the first text of a pair. A relation is left out if one of its words
    has no token.
    """
    spans = [TaggedSpan(each.start, each.end, place) for place, each in enumerate(tagged.tokens)]
    owner = np.array([-1 if word is None else word for word in encoding_tags(trace.encoding, spans)])
    weights = between_words(attention_map(trace.layer(doing.layer), doing.head)[None], owner, len(spans))[0]
    np.fill_diagonal(weights, 0)
    wanted, end = job.id.split(":")
    pairs = [
        (dependent, head) if end == "head" else (head, dependent)
        for relation, dependent, head in _relations(tagged)
        if relation == wanted
    ]
    most, found = np.where(weights.max(axis=1) > 0, weights.argmax(axis=1), -1), []
    for asked, sought in pairs:
        places = [np.flatnonzero(owner == word) for word in (asked, sought)]
        if not all(map(len, places)):
            continue
        named = int(most[asked])
        start, right, said = (tagged.tokens[word].text if word >= 0 else "" for word in (asked, sought, named))
        too = [
            each.text for word, each in enumerate(tagged.tokens) if most[word] == sought and (word, sought) not in pairs
        ]
        found.append(Case(start, right, said, named == sought, int(places[0][0]), int(places[1][0]), tuple(too)))
    return tuple(found)


def _relations(tagged: TaggedText) -> Iterator[tuple[str, int, int]]:
    """(relation, dependent, head) of each word, in Universal Dependencies."""
    for place, each in enumerate(tagged.tokens):
        if each.relation == "pobj":  # in spaCy's annotation the noun depends on its preposition
            yield "case", each.head, place
        elif each.head != place:
            yield _IN_UD.get(each.relation, each.relation), place, each.head
