"""The grammar of the learner's sentence, drawn as arcs below its tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from lab.charts.components.sentence import Relation
from lab.figures.sentence import sentence
from lab.lessons.head_specialization.figures import to_others
from lab.models.interventions import Head
from lab.models.trace import Trace
from lab.text.tags.pipeline import PipelineUnavailable
from lab.text.tags.tokens import TaggedSpan, encoding_tags, parsed
from lab.ui import runs
from lab.ui.sentence import show_row
from lab.ui.shared.one_head import OneHead

_HINT = (
    "The arcs show how the head shares the attention of the orange word among the other words. Below, in green: the "
    "grammar. Click a word."
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
    for place, word in enumerate(words):
        if word is not None:
            first.setdefault(word, place)
    return [
        Relation(first[each.head], first[at], _NAMES[each.relation])
        for at, each in enumerate(found)
        if each.relation in _NAMES and at in first and each.head in first
    ]


def show_with_grammar(view: OneHead, query: int, of: Head) -> None:
    """Draw the sentence: above it, how the head ``of`` spreads its attention from ``query`` over words; below, grammar.

    Without a parser, the arcs above are the weights between all tokens. Layer, head and query count from 0.
    """
    row = sentence(view.trace, query, view.key if query == view.query else None, of=of)
    try:
        runs.load_tagger()
        below = relations(view.trace)
        inside = sentence(view.trace, query, of=of, relations=below)
        seen = slice(row.first, row.first + len(row.labels))
        row = replace(inside, other=row.other, weights=to_others(view.trace, *of).of_tokens[seen, seen], hint=_HINT)
    except PipelineUnavailable:
        pass  # the step says below why there is no grammar
    show_row(row)
