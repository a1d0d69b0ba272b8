"""Inter-sentence attention: a matrix of sentences, and the tokens behind one cell of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lab.analysis.heads.one_row import window
from lab.analysis.heads.values import Values, is_causal
from lab.analysis.sentences.between_sentences import (
    AVERAGE,
    MASS,
    MAXIMUM,
    RELATIVE,
    InterSentence,
    SentenceCells,
    cells,
    inter_sentence,
    mean_between,
)
from lab.analysis.sentences.token_sentences import Sentences, aside, split
from lab.charts.base.axes import Axis, Scale
from lab.charts.cells.heatmap import Heatmap, heatmap, large_heatmap
from lab.figures.trace_axes import KEY, QUERY
from lab.models.trace import Trace

# The most tokens on a side of a block's map; of a longer side, the part around the largest weight is shown.
TOKENS = 48
FROM, TO, SHARE = "From (queries)", "To (keys)", "Share of attention"
_PERCENT = ".0%"
# Measure -> (field of InterSentence, its unit).
MEASURES = {
    MASS: ("mass", SHARE),
    RELATIVE: ("relative", "× uniform head"),
    MAXIMUM: ("maximum", "Weight"),
}
_LABEL = 40  # number of characters of a sentence in a label


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

    def axes(self) -> tuple[Axis, Axis]:
        """The sides of a matrix from sentences to sentences, by their numbers."""
        numbers = [str(i + 1) for i in range(len(self.sentences))]
        return Axis(FROM, self.names(), things="sentences"), Axis(TO, numbers, things="sentences")


def read(traced: Trace, sentences: Sentences, left_out: bool) -> InterSentence:
    """The attention between sentences, over all tokens, or with the special tokens (or the first token) left out.

    If these tokens are left out, every row of the mean over heads sums to 1 again. If a sentence would have no token
    then, nothing is left out.
    """
    sentence_of, renormalise = read_as(traced, sentences, left_out)
    return inter_sentence(traced, sentence_of, renormalise=renormalise)


def read_as(traced: Trace, sentences: Sentences, left_out: bool) -> tuple[tuple[int | None, ...], bool]:
    """The sentence of each token, and whether rows sum to 1 over the tokens in sentences; see :func:`read`."""
    others = aside(traced, sentences) if left_out else None
    return others or sentences.of_token, others is not None


def between(traced: Trace, left_out: bool = False) -> Between:
    """Read the attention between the sentences of a trace; for ``left_out`` see :func:`read`."""
    sentences = split(traced)
    return Between(traced, sentences, read(traced, sentences, left_out))


def sentence_map(traced: Trace, measure: str, cell: tuple[int, int], left_out: bool = False) -> Heatmap:
    """Draw a measure of the attention from sentence to sentence, as wide as the page; see :func:`matrix`."""
    found, title = between(traced, left_out), f"{measure}, sentence to sentence"
    scale = _scale(measure, None)
    return large_heatmap(found.values(measure), found.axes(), scale, title=title, highlight=cell, causal=found.causal)


def matrix(
    traced: Trace,
    measure: str,
    cell: tuple[int, int],
    title: str = "",
    top: float | None = None,
    left_out: bool = False,
) -> Heatmap:
    """Draw the sentences as a heatmap; the ``cell`` from one sentence to another (from 0) is outlined.

    Cells that a causal model cannot see are grey. ``top`` ends the scale of colours if two maps are compared; for
    ``left_out`` see :func:`read`.
    """
    found, title = between(traced, left_out), title or f"{measure}, sentence to sentence"
    scale = _scale(measure, top)
    return heatmap(found.values(measure), found.axes(), scale, title=title, highlight=cell, causal=found.causal)


def _scale(measure: str, top: float | None) -> Scale:
    high = 1.0 if measure == MAXIMUM else top
    return Scale(MEASURES[measure][1], (0.0, high) if high else None, _PERCENT if measure == MASS else ".2f")


def block(
    traced: Trace,
    a: int,
    b: int,
    heads: str | tuple[int, int] = AVERAGE,
    left_out: bool = False,
    top: float | None = None,
) -> Heatmap:
    """Draw the tokens behind one cell, with the largest weight outlined.

    ``heads`` is one head (layer and head from 0), or :data:`AVERAGE` for the mean over all heads. ``top`` ends the
    scale of colours of a mean; without it, the scale ends at the largest weight.
    """
    found = between(traced, left_out)
    tokens = behind(traced, found.sentences, a, b, heads, left_out)
    if isinstance(heads, str):
        return _tokens(found, tokens, (a, b), heads.lower(), (0.0, top) if top else None)
    return _tokens(found, tokens, (a, b), f"layer {heads[0] + 1}, head {heads[1] + 1}", (0.0, 1.0))


def behind(
    traced: Trace, sentences: Sentences, a: int, b: int, heads: str | tuple[int, int], left_out: bool
) -> SentenceCells:
    """Return the weights that :func:`block` draws."""
    if isinstance(heads, str):
        sentence_of, renormalise = read_as(traced, sentences, left_out)
        return mean_between(traced, sentence_of, a, b, renormalise=renormalise)
    return cells(traced, read(traced, sentences, left_out), *heads, a, b)


def _tokens(
    found: Between, tokens: SentenceCells, of: tuple[int, int], what: str, domain: tuple[float, float] | None
) -> Heatmap:
    row, column = (int(place) for place in np.unravel_index(int(tokens.weights.argmax()), tokens.weights.shape))
    rows, columns = window(row, len(tokens.queries), TOKENS), window(column, len(tokens.keys), TOKENS)
    labels, outlined = found.trace.labels, (row - rows.start, column - columns.start)
    drawn = ((QUERY, tokens.queries[rows]), (KEY, tokens.keys[columns]))
    queries, keys = (Axis(title, [labels[i] for i in places]) for title, places in drawn)
    title, scale = f"Sentence {of[0] + 1} to sentence {of[1] + 1}, {what}", Scale("Weight", domain, ".2f")
    causal = found.causal and of[0] == of[1] and len(tokens.queries) <= TOKENS
    weights = tokens.weights[rows, columns]
    return heatmap(weights, (queries, keys), scale, title=title, highlight=outlined, causal=causal)
