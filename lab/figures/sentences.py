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
    mean_between,
)
from lab.analysis.sentences.split import Sentences, as_one, aside, crossing, split
from lab.charts.cells.heatmap import Heatmap, heatmap
from lab.models.trace import Trace

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
    sentence_of, renormalise = read_as(traced, sentences, left_out)
    return inter_sentence(traced, sentence_of, renormalise=renormalise)


def read_as(traced: Trace, sentences: Sentences, left_out: bool) -> tuple[tuple[int | None, ...], bool]:
    """For each token its sentence, and whether rows sum to 1 over those in sentences; see :func:`read`."""
    others = aside(traced, sentences) if left_out else None
    return others or sentences.of_token, others is not None


def between(traced: Trace, left_out: bool = False) -> Between:
    """Read the attention between the sentences of a trace; for ``left_out`` see :func:`read`."""
    sentences = split(traced)
    return Between(traced, sentences, read(traced, sentences, left_out))


def matrix(
    traced: Trace,
    measure: str,
    cell: tuple[int, int],
    title: str = "",
    top: float | None = None,
    left_out: bool = False,
    clickable: bool = False,
) -> Heatmap:
    """The sentences as a heatmap; the ``cell`` from a sentence to a sentence (from 0) is outlined.

    What a causal model cannot see is hatched. ``top`` is the end of the colours where two are compared;
    ``left_out`` is that of :func:`read`.
    """
    found, high = between(traced, left_out), 1.0 if measure == MAXIMUM else top
    return heatmap(
        found.values(measure), found.names(), found.numbers(), title=title or f"{measure}, sentence to sentence",
        row_title="From (queries)", column_title="To (keys)", value_title=MEASURES[measure][1],
        domain=(0.0, high) if high else None, select="cell" if clickable else None, highlight=cell, value_format=".2f",
        causal=found.causal, numbered=False,
    )  # fmt: skip


def block(traced: Trace, a: int, b: int, measure: str = MASS, left_out: bool = False) -> Heatmap:
    """The tokens behind one cell: the head with the largest weight for the maximum, else the mean over all heads.

    Its largest cell is outlined. Raises IndexError where a causal model cannot look from a to b.
    """
    found = between(traced, left_out)
    if measure == MAXIMUM:
        layer, head = (int(place) for place in found.found.where[a, b, :2])
        tokens = cells(traced, found.found, layer, head, a, b)
        return _tokens(found, tokens, (a, b), f"layer {layer + 1}, head {head + 1}", (0.0, 1.0))
    sentence_of, renormalise = read_as(traced, found.sentences, left_out)
    tokens = mean_between(traced, sentence_of, a, b, renormalise=renormalise)
    return _tokens(found, tokens, (a, b), "mean over all heads", None)


def _tokens(
    found: Between, tokens: SentenceCells, of: tuple[int, int], what: str, domain: tuple[float, float] | None
) -> Heatmap:
    row, column = (int(place) for place in np.unravel_index(int(tokens.weights.argmax()), tokens.weights.shape))
    rows, columns = window(row, len(tokens.queries), TOKENS), window(column, len(tokens.keys), TOKENS)
    return heatmap(
        tokens.weights[rows, columns], [found.trace.labels[i] for i in tokens.queries[rows]],
        [found.trace.labels[i] for i in tokens.keys[columns]],
        title=f"Sentence {of[0] + 1} to sentence {of[1] + 1}, {what}",
        row_title="Query (attends)", column_title="Key (attended to)", value_title="Weight", domain=domain,
        highlight=(row - rows.start, column - columns.start), value_format=".2f", numbered=False,
        causal=found.causal and of[0] == of[1] and len(tokens.queries) <= TOKENS,
    )  # fmt: skip


def difference(traced: Trace, measure: str, a: int, b: int, left_out: bool = False) -> Heatmap:
    """From each sentence to each, minus the way back; the cell from ``a`` to ``b`` is outlined."""
    found = between(traced, left_out)
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
    found, special = Between(traced, sentences, apart(traced, sentences)), any(traced.encoding.special)
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
    values = crossing(_of_texts(traced, as_one, left_out), split(traced).in_pair)
    return heatmap(
        values, TEXTS, TEXTS, title=f"Mean mass in {'one segment' if as_one else 'a pair'}",
        row_title="From (queries)", column_title="To (keys)", value_title="Share of attention", domain=(0.0, top),
        numbered=False, causal=is_causal(traced),
    )  # fmt: skip


def _of_texts(traced: Trace, joined: bool, left_out: bool) -> InterSentence:
    return read(*as_one(traced), left_out) if joined else between(traced, left_out).found
