"""Figures of the grammar that heads find, and of the preferred verb without each head; numbers count from 0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lab.analysis.heads import attention
from lab.analysis.heads.attention import window
from lab.analysis.heads.values import Values
from lab.charts.base.axes import Axis, Scale
from lab.charts.base.figure import Figure
from lab.charts.cells.heatmap import Heatmap, heatmap
from lab.charts.marks.bars import bars
from lab.charts.marks.dots import dots
from lab.course.sentences.agreement import ATTRACTIONS
from lab.course.words import head_name
from lab.evidence.notable import Notable
from lab.evidence.relation_cases import between_words
from lab.figures.attention import MAP_TOKENS, place
from lab.figures.axes import KEY, QUERY
from lab.lessons.head_specialization.attraction import attractions
from lab.models.trace import Trace
from lab.text.tags.tokens import TaggedSpan, encoding_tags, parsed

# The words from and to which a head looks that finds each relation, short enough for an axis.
_SHORT = {
    "obj:head": "object → verb",
    "obj:dependent": "verb → object",
    "nsubj:head": "subject → verb",
    "nsubj:dependent": "verb → subject",
    "det:head": "the → noun",
    "det:dependent": "noun → the",
    "case:head": "in → noun",
    "case:dependent": "noun → in",
}


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
    weights = attention.attention_map(traced.layer(layer), head)[None]
    given = between_words(weights, of_token, len(seen))[0].astype(np.float64)
    np.fill_diagonal(given, 0)
    return ToOthers(given, of_token, tuple(found[at].text for at in seen))


def others_map(traced: Trace, layer: int, head: int, query: int, key: int) -> Heatmap:
    """Draw the shares of :func:`to_others`; the cell of the words with the tokens ``query`` and ``key`` is outlined."""
    found = to_others(traced, layer, head)
    cell = [int(found.of_token[token]) for token in (query, key)]
    rows, columns = (window(word, len(found.words), MAP_TOKENS) for word in cell)
    return heatmap(
        found.shares[rows, columns],
        (Axis(QUERY, found.words[rows], rows.start + 1), Axis(KEY, found.words[columns], columns.start + 1)),
        Scale("Share", (0.0, 1.0)),
        title=f"Attention to other words, {place(layer, head)}",
        highlight=(cell[0] - rows.start, cell[1] - columns.start),
        causal=traced.model.config.causal and len(found.words) <= MAP_TOKENS,
    )


def jobs(found: Sequence[Notable], chosen: int) -> Figure:
    """Draw how often the best head finds each relation, and below it, in a pale colour, the best fixed distance.

    ``chosen`` is the index of a relation, from 0, which comes first.
    """
    order = [found[chosen], *(each for at, each in enumerate(found) if at != chosen)]
    labels = [label for each in order for label in (_SHORT[each.job.id], "same distance")]
    values = np.ravel([(each.heads[0].score, each.chance) for each in order])
    heads_of = [each.heads[0].name for each in order]
    drawn = bars(
        labels,
        values,
        Scale("Share of cases that are right", (0.0, 1.0), ".2f"),
        title="How often the best head finds the right word",
        highlight=range(0, len(labels), 2),
    )
    columns = {
        "head": heads_of,
        "right": [each.heads[0].score for each in order],
        "best fixed distance": [each.chance for each in order],
    }
    return replace(drawn, table=partial(pd.DataFrame, columns, [each.job.does for each in order]))


def verb_forms(traced: Trace, layer: int, head: int) -> Figure:
    """Draw the share of “were” against “was” with each head off, one line per sentence; the given head is marked.

    The sentences are :data:`lab.course.sentences.agreement.ATTRACTIONS`, read by the model of the trace. Raises
    ValueError for a model that cannot be asked.
    """
    found = attractions(traced.model)
    if found is None:
        raise ValueError(f"{traced.model.id} cannot be asked for the form of a verb.")
    config = traced.model.config
    without = [f"without {head_name(divmod(at, config.heads))}" for at in range(config.layers * config.heads)]
    return dots(
        np.stack([each.off.ravel() for each in found]),
        ([each.name for each in ATTRACTIONS], without),
        Scale("Share of “were” (the rest is “was”)", (0.0, 1.0), ".0%"),
        title="Preferred verb without one head",
        highlight=layer * config.heads + head,
        rule=0.5,
    )
