"""The grammar of the learner's sentence as arcs, and a head's attention between whole words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from lab.analysis.heads import one_row
from lab.analysis.heads.values import Values
from lab.charts.components.sentence_control import Relation, SentenceRow
from lab.evidence.relation_cases import between_words
from lab.figures.sentence_arcs import sentence
from lab.models.interventions import Head
from lab.models.trace import Trace
from lab.text.tags.pipeline import PipelineUnavailable
from lab.text.tags.token_tags import TaggedSpan, encoding_tags, parsed
from lab.ui import runs
from lab.ui.parameters import KEY_TOKEN
from lab.ui.sentence import show_row
from lab.ui.shared.one_head import OneHead

_HINT = (
    "The arcs show how the head divides the attention of the orange word among the other words. The green arcs below "
    "show the grammar. Click a word."
)
# The name, below the sentence, of a relation of Universal Dependencies. Other relations are not drawn.
_NAMES: Mapping[str, str] = {
    "nsubj": "subject",
    "nsubj:pass": "subject",
    "obj": "object",
    "iobj": "receiver",
    "det": "article",
    "nmod:poss": "whose",
    "acl:relcl": "clause",
    "case": "preposition",
}


def relations(trace: Trace) -> list[Relation]:
    """The relations in the text (of a pair, the first text), each between the first tokens of two words.

    Raises PipelineUnavailable.
    """
    found = parsed(trace).tokens
    spans = [TaggedSpan(each.start, each.end, at) for at, each in enumerate(found)]
    words = encoding_tags(trace.encoding, spans)
    first: dict[int, int] = {}
    for token, word in enumerate(words):
        if word is not None:
            first.setdefault(word, token)
    return [
        Relation(first[each.head], first[at], _NAMES[each.relation])
        for at, each in enumerate(found)
        if each.relation in _NAMES and at in first and each.head in first
    ]


@dataclass(frozen=True, eq=False)
class ToOthers:
    """The attention of a head between the m words of a text, as the experiment on grammar reads it.

    given       (m, m), mean over the tokens of the word that looks, sum over those of the other word; diagonal 0
    of_token    (n,), the word of each token; -1 for a token outside words, such as a special token
    words       (m,), as they are spelt, without words of which the model reads no token
    """

    given: Values
    of_token: NDArray[np.int64]
    words: tuple[str, ...]

    @property
    def shares(self) -> Values:
        """The rows of ``given`` divided by their sums, (m, m); a row of zeros stays zero."""
        sums = self.given.sum(axis=1, keepdims=True)
        return np.divide(self.given, sums, out=np.zeros_like(self.given), where=sums > 0)

    @property
    def of_tokens(self) -> NDArray[np.float32]:
        """The shares between tokens, (n, n): the share that goes to a word is at its first token; all others are 0."""
        firsts = np.array([at >= 0 and at not in self.of_token[:i] for i, at in enumerate(self.of_token)])
        inside = np.outer(self.of_token >= 0, firsts)
        return np.where(inside, self.shares[np.ix_(self.of_token, self.of_token)], 0).astype(np.float32)


def to_others(traced: Trace, layer: int, head: int) -> ToOthers:
    """Add up the attention of each word of the text (of a pair, the first text) to each other word.

    Raises PipelineUnavailable.
    """
    found = parsed(traced).tokens
    spans = [TaggedSpan(each.start, each.end, at) for at, each in enumerate(found)]
    owner = [-1 if at is None else at for at in encoding_tags(traced.encoding, spans)]
    seen = sorted({at for at in owner if at >= 0})
    of_token = np.array([seen.index(at) if at >= 0 else -1 for at in owner])
    weights = one_row.attention_map(traced.layer(layer), head)[None]
    given = between_words(weights, of_token, len(seen))[0].astype(np.float64)
    np.fill_diagonal(given, 0)
    return ToOthers(given, of_token, tuple(found[at].text for at in seen))


def show_with_grammar(view: OneHead, query: int, of: Head) -> None:
    """Draw the sentence: above it, how the head ``of`` spreads its attention from ``query`` over words; below, grammar.

    Without a parser, the arcs above are the weights between all tokens. Layer, head and query count from 0.
    """
    given = (view.trace, query, view.key if query == view.query and KEY_TOKEN.chosen() else None, of)
    try:
        runs.load_tagger()
        call = partial(row_with_grammar, *given)
        show_row(replace(call(), hint=_HINT), call=call)
    except PipelineUnavailable:  # the step says below why there is no grammar
        plain = partial(sentence, *given[:3], of=of)
        show_row(plain(), call=plain)


def row_with_grammar(traced: Trace, query: int, key: int | None, of: Head) -> SentenceRow:
    """Return a sentence with the grammar from ``query`` below it; above, its attention in the head ``of``, in words.

    Without a ``key``, the word to which ``query`` gives the largest weight is marked. Layer, head and tokens count from
    0. Raises PipelineUnavailable if there is no parser.
    """
    weights = to_others(traced, *of).of_tokens
    row = sentence(traced, query, int(weights[query].argmax()) if key is None else key, of=of)
    inside = sentence(traced, query, of=of, relations=relations(traced))
    seen = slice(row.first, row.first + len(row.labels))
    return replace(inside, other=row.other, weights=weights[seen, seen])
