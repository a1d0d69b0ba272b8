"""Inter-sentence attention: a matrix of sentences, the tokens behind one of its cells, and two texts as a pair."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lab.analysis.attention import window
from lab.analysis.heads import Values, is_causal
from lab.analysis.sentence_split import Sentences, crossing, joined, number, split
from lab.analysis.sentences import MASS, MAXIMUM, RELATIVE, InterSentence, cells, inter_sentence
from lab.charts.heatmap import Heatmap, heatmap
from lab.models.trace import Trace, trace

# A side of a block's map; a longer one is shown around its largest weight.
TOKENS = 48
# Measure -> (field of InterSentence, its unit).
MEASURES = {
    MAXIMUM: ("maximum", "Weight"),
    MASS: ("mass", "Share of attention"),
    RELATIVE: ("relative", "× even share"),
}
_LABEL = 40  # characters of a sentence that a label keeps
TEXTS = ("Text A", "Text B")


@dataclass(frozen=True, eq=False)
class Between:
    """The sentences of a text and the attention between them."""

    trace: Trace
    sentences: Sentences
    found: InterSentence

    @property
    def causal(self) -> bool:
        return is_causal(self.trace)

    def values(self, measure: str) -> Values:
        """The matrix of a measure, (S, S); ``measure`` is one of :data:`MEASURES`."""
        values: Values = getattr(self.found, MEASURES[measure][0])
        return values

    def names(self) -> list[str]:
        """The sentences as labels: "1 The dog ran to the park."."""
        whole = [" ".join(text.split()) for text in self.sentences.texts]
        cut = [words if len(words) <= _LABEL else words[: _LABEL - 1] + "…" for words in whole]
        return [f"{i} {words}" for i, words in enumerate(cut, start=1)]

    def numbers(self) -> list[str]:
        """The sentences as short labels: "1"."""
        return [str(i + 1) for i in range(len(self.sentences))]


def between(traced: Trace, renormalise: bool = False) -> Between:
    """Read the attention between the sentences of a trace.

    ``renormalise`` leaves out the tokens in no sentence and lets every row sum to 1 again.
    """
    sentences = split(traced)
    return Between(traced, sentences, inter_sentence(traced, sentences.of_token, renormalise=renormalise))


def matrix(
    traced: Trace, measure: str, a: int, b: int, title: str = "", top: float | None = None, renormalise: bool = False
) -> Heatmap:  # fmt: skip
    """The sentences as a heatmap; the cell from sentence ``a`` to sentence ``b`` is outlined.

    What a causal model cannot see is hatched. ``top`` is the end of the colours where two are compared;
    ``renormalise`` is that of :func:`between`.
    """
    return drawn_matrix(between(traced, renormalise), measure, (a, b), title or f"{measure}, sentence to sentence", top)


def drawn_matrix(
    read: Between, measure: str, chosen: tuple[int, int], title: str, top: float | None = None, clickable: bool = False
) -> Heatmap:  # fmt: skip
    """The same of what was read already."""
    high = 1.0 if measure == MAXIMUM else top
    return heatmap(
        read.values(measure), read.names(), read.numbers(), title=title, row_title="From", column_title="To",
        value_title=MEASURES[measure][1], domain=(0.0, high) if high else None, select="cell" if clickable else None,
        highlight=chosen, value_format=".2f", causal=read.causal, numbered=False,
    )  # fmt: skip


def block(traced: Trace, a: int, b: int) -> Heatmap:
    """The tokens behind one cell of the maxima: the head with the largest weight from sentence a to sentence b."""
    return drawn_block(between(traced), a, b)


def drawn_block(read: Between, a: int, b: int) -> Heatmap:
    """The same of what was read already. Raises IndexError where a causal model cannot look from a to b."""
    layer, head, query, key = (int(place) for place in read.found.where[a, b])
    block = cells(read.trace, read.found, layer, head, a, b)
    row, column = (int(np.flatnonzero(places == place)[0]) for places, place in
                   ((block.queries, query), (block.keys, key)))  # fmt: skip
    rows, columns = window(row, len(block.queries), TOKENS), window(column, len(block.keys), TOKENS)
    return heatmap(
        block.weights[rows, columns], [read.trace.labels[i] for i in block.queries[rows]],
        [read.trace.labels[i] for i in block.keys[columns]],
        title=f"Sentence {a + 1} to sentence {b + 1}, layer {layer + 1}, head {head + 1}",
        row_title="Query (attends)", column_title="Key (attended to)", value_title="Weight", domain=(0.0, 1.0),
        highlight=(row - rows.start, column - columns.start), value_format=".2f", numbered=False,
        causal=read.causal and a == b and len(block.queries) <= TOKENS,
    )  # fmt: skip


def difference(traced: Trace, measure: str, a: int, b: int) -> Heatmap:
    """From each sentence to each, minus the way back; the cell from ``a`` to ``b`` is outlined."""
    return drawn_difference(between(traced), measure, a, b)


def drawn_difference(read: Between, measure: str, a: int, b: int) -> Heatmap:
    """The same of what was read already."""
    values = read.values(measure)
    return heatmap(
        values - values.T, read.names(), read.numbers(), title=f"{measure}: there minus back", row_title="From",
        column_title="To", value_title="Difference", scale="diverging", highlight=(a, b), value_format="+.2f",
        numbered=False,
    )  # fmt: skip


def everywhere(traced: Trace, a: int) -> Heatmap:
    """Where each sentence's attention goes, the tokens in no sentence in the last column, outlined for ``a``."""
    return drawn_everywhere(between(traced), a)


def drawn_everywhere(read: Between, a: int) -> Heatmap:
    """The same of what was read already."""
    return heatmap(
        np.column_stack([read.found.mass, read.found.removed]), read.names(), [*read.numbers(), "none"],
        title="Where each sentence’s attention goes", row_title="From", column_title="To sentence",
        value_title="Share of attention", domain=(0.0, 1.0), highlight=(a, len(read.sentences)), value_format=".2f",
        numbered=False,
    )  # fmt: skip


def between_texts(traced: Trace, as_one: bool, top: float) -> Heatmap:
    """The mean mass between the two texts of a pair, read as the pair it is or, with ``as_one``, as one text.

    ``top`` is the end of the colours. Raises ValueError for a trace without a second text.
    """
    in_pair = split(traced).in_pair
    if not as_one:
        return drawn_between_texts(crossing(between(traced).found, in_pair), as_one, top, is_causal(traced))
    text, spans = joined(traced.encoding)
    one = trace(traced.model, text)
    found = inter_sentence(one, number(one.encoding, (spans,)).of_token)
    return drawn_between_texts(crossing(found, in_pair), as_one, top, is_causal(traced))


def drawn_between_texts(values: Values, as_one: bool, top: float, causal: bool) -> Heatmap:
    """The same of ``values``, (2, 2)."""
    return heatmap(
        values, TEXTS, TEXTS, title=f"Mean mass in {'one segment' if as_one else 'a pair'}", row_title="From",
        column_title="To", value_title="Share of attention", domain=(0.0, top), numbered=False, causal=causal,
    )  # fmt: skip
