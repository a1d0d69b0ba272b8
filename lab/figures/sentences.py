"""Inter-sentence attention: a matrix of sentences, the tokens behind one of its cells, and two texts as a pair."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lab.analysis.heads.attention import window
from lab.analysis.heads.values import Values, is_causal
from lab.analysis.sentences.attention import (
    MASS,
    MAXIMUM,
    RELATIVE,
    InterSentence,
    SentenceCells,
    cells,
    inter_sentence,
    mean_cells,
)
from lab.analysis.sentences.split import Sentences, aside, crossing, joined, number, split
from lab.charts.cells.heatmap import Heatmap, heatmap
from lab.models.trace import Trace, trace

# A side of a block's map; a longer one is shown around its largest weight.
TOKENS = 48
# Measure -> (field of InterSentence, its unit).
MEASURES = {
    MASS: ("mass", "Share of attention"),
    RELATIVE: ("relative", "× even spread"),
    MAXIMUM: ("maximum", "Weight"),
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


def read(traced: Trace, sentences: Sentences, left_out: bool) -> InterSentence:
    """The attention between sentences, of all tokens or with the special tokens (or the first one) left out.

    Left out, every row sums to 1 again. Where that would leave a sentence without a token, nothing is left out.
    """
    others = aside(traced, sentences) if left_out else None
    return inter_sentence(traced, others or sentences.of_token, renormalise=others is not None)


def between(traced: Trace, left_out: bool = False) -> Between:
    """Read the attention between the sentences of a trace; for ``left_out`` see :func:`read`."""
    sentences = split(traced)
    return Between(traced, sentences, read(traced, sentences, left_out))


def matrix(
    traced: Trace, measure: str, a: int, b: int, title: str = "", top: float | None = None, left_out: bool = False
) -> Heatmap:  # fmt: skip
    """The sentences as a heatmap; the cell from sentence ``a`` to sentence ``b`` is outlined.

    What a causal model cannot see is hatched. ``top`` is the end of the colours where two are compared;
    ``left_out`` is that of :func:`read`.
    """
    return drawn_matrix(between(traced, left_out), measure, (a, b), title or f"{measure}, sentence to sentence", top)


def drawn_matrix(
    found: Between, measure: str, chosen: tuple[int, int], title: str, top: float | None = None, clickable: bool = False
) -> Heatmap:  # fmt: skip
    """The same of what was read already."""
    high = 1.0 if measure == MAXIMUM else top
    return heatmap(
        found.values(measure), found.names(), found.numbers(), title=title, row_title="From (queries)",
        column_title="To (keys)", value_title=MEASURES[measure][1], domain=(0.0, high) if high else None,
        select="cell" if clickable else None, highlight=chosen, value_format=".2f", causal=found.causal,
        numbered=False,
    )  # fmt: skip


def block(traced: Trace, a: int, b: int, measure: str = MASS, left_out: bool = False) -> Heatmap:
    """The tokens behind one cell: the head with the largest weight for the maximum, else the mean over all heads."""
    found = between(traced, left_out)
    if measure == MAXIMUM:
        return drawn_largest(found, a, b)
    return drawn_mean(found, mean_cells(traced, found.found, a, b), a, b)


def drawn_largest(found: Between, a: int, b: int) -> Heatmap:
    """The head with the largest weight. Raises IndexError where a causal model cannot look from a to b."""
    layer, head, query, key = (int(place) for place in found.found.where[a, b])
    tokens = cells(found.trace, found.found, layer, head, a, b)
    row, column = (int(np.flatnonzero(places == place)[0]) for places, place in
                   ((tokens.queries, query), (tokens.keys, key)))  # fmt: skip
    return _tokens(found, tokens, a, b, f"layer {layer + 1}, head {head + 1}", (row, column), (0.0, 1.0))


def drawn_mean(found: Between, tokens: SentenceCells, a: int, b: int) -> Heatmap:
    """The mean over all heads, its largest cell outlined."""
    row, column = (int(place) for place in np.unravel_index(int(tokens.weights.argmax()), tokens.weights.shape))
    return _tokens(found, tokens, a, b, "mean over all heads", (row, column), None)


def _tokens(
    found: Between, tokens: SentenceCells, a: int, b: int, what: str, at: tuple[int, int],
    domain: tuple[float, float] | None,
) -> Heatmap:  # fmt: skip
    rows, columns = window(at[0], len(tokens.queries), TOKENS), window(at[1], len(tokens.keys), TOKENS)
    return heatmap(
        tokens.weights[rows, columns], [found.trace.labels[i] for i in tokens.queries[rows]],
        [found.trace.labels[i] for i in tokens.keys[columns]],
        title=f"Sentence {a + 1} to sentence {b + 1}, {what}",
        row_title="Query (attends)", column_title="Key (attended to)", value_title="Weight", domain=domain,
        highlight=(at[0] - rows.start, at[1] - columns.start), value_format=".2f", numbered=False,
        causal=found.causal and a == b and len(tokens.queries) <= TOKENS,
    )  # fmt: skip


def difference(traced: Trace, measure: str, a: int, b: int, left_out: bool = False) -> Heatmap:
    """From each sentence to each, minus the way back; the cell from ``a`` to ``b`` is outlined."""
    return drawn_difference(between(traced, left_out), measure, a, b)


def drawn_difference(found: Between, measure: str, a: int, b: int) -> Heatmap:
    """The same of what was read already."""
    values = found.values(measure)
    return heatmap(
        values - values.T, found.names(), found.numbers(), title=f"{measure}: there minus back",
        row_title="From (queries)", column_title="To (keys)", value_title="Difference", scale="diverging",
        highlight=(a, b), value_format="+.2f",
        numbered=False,
    )  # fmt: skip


def apart(traced: Trace, sentences: Sentences) -> InterSentence:
    """All attention as the model has it, that to special tokens (or to the first one) counted as removed."""
    return inter_sentence(traced, aside(traced, sentences) or sentences.of_token)


def everywhere(traced: Trace, a: int) -> Heatmap:
    """Where each sentence's attention goes; in the last column what could be left out, outlined for ``a``."""
    sentences = split(traced)
    return drawn_everywhere(Between(traced, sentences, apart(traced, sentences)), a)


def drawn_everywhere(found: Between, a: int) -> Heatmap:
    """The same of what :func:`apart` read already."""
    special = any(found.trace.encoding.special)
    more = found.sentences.blanks or found.sentences.left_out
    others = "Others" if more else "Special tokens" if special else "First token"
    return heatmap(
        np.column_stack([found.found.mass, found.found.removed]), found.names(), [*found.numbers(), others],
        title="Where each sentence’s attention goes", row_title="From (queries)", column_title="To (keys)",
        value_title="Share of attention", domain=(0.0, 1.0), highlight=(a, len(found.sentences)), value_format=".2f",
        numbered=False,
    )  # fmt: skip


def between_texts(traced: Trace, as_one: bool, top: float, left_out: bool = False) -> Heatmap:
    """The mean mass between the two texts of a pair, read as the pair it is or, with ``as_one``, as one text.

    ``top`` is the end of the colours; ``left_out`` is that of :func:`read`. Raises ValueError for a trace without a
    second text.
    """
    in_pair = split(traced).in_pair
    if not as_one:
        return drawn_between_texts(crossing(between(traced, left_out).found, in_pair), as_one, top, is_causal(traced))
    text, spans = joined(traced.encoding)
    one = trace(traced.model, text)
    found = read(one, number(one.encoding, (spans,)), left_out)
    return drawn_between_texts(crossing(found, in_pair), as_one, top, is_causal(traced))


def drawn_between_texts(values: Values, as_one: bool, top: float, causal: bool) -> Heatmap:
    """The same of ``values``, (2, 2)."""
    return heatmap(
        values, TEXTS, TEXTS, title=f"Mean mass in {'one segment' if as_one else 'a pair'}",
        row_title="From (queries)", column_title="To (keys)", value_title="Share of attention", domain=(0.0, top),
        numbered=False, causal=causal,
    )  # fmt: skip
