"""Predictions: the most probable words at a place, the logit lens, and the likelihood of a text token by token."""

from __future__ import annotations

from dataclasses import replace

from lab.analysis.heads.attention import window
from lab.analysis.layers import lens
from lab.analysis.words.likelihood import scored
from lab.analysis.words.predictions import Prediction, candidates, likeliest, prediction_at, word_of
from lab.charts.base.axes import Axis, AxisPlaces, Scale
from lab.charts.base.figure import Figure
from lab.charts.cells.grid import Texts
from lab.charts.cells.heatmap import Heatmap
from lab.charts.cells.word_grid import word_grid
from lab.charts.marks.bars import bars, columns
from lab.charts.marks.lines import lines, settled
from lab.course.words import percent
from lab.figures.choices import ENTROPY, RANK
from lab.models.fitted_lens import measured
from lab.models.trace import Trace

Truths = tuple[int | None, ...]

_RANKS, _PLACES = 5, 96  # number of words per place, and of places in a figure
NAMED_UP_TO = 48  # the most tokens whose bars have names


def where(traced: Trace, place: int) -> str:
    """Name the place in words, with tokens counted from 1."""
    return f"{'after' if traced.model.config.causal else 'at'} token {place + 1}"


def best_words(
    traced: Trace, place: int, truth: int | None, count: int, temperature: float = 1.0, *, whole: bool = False
) -> Figure:
    """Draw the most probable words at ``place`` (after it, for a causal model), the true word in full colour.

    ``whole`` draws the axis from 0 to 1, for figures that are compared.
    """
    return _best_words(traced, prediction_at(traced, place, truth).at(temperature), count, whole=whole)


def _best_words(
    traced: Trace, prediction: Prediction, count: int, read_after: str = "", *, whole: bool = False
) -> Figure:
    best = candidates(prediction, count, traced.model.tokenizer)
    ids = [each.token_id for each in best]
    noun = "tokens" if traced.model.config.causal else "words"
    title = f"The {len(best)} most probable {noun} {where(traced, prediction.place)}{read_after}"
    words, values = [each.word for each in best], [each.probability for each in best]
    marked = ids.index(prediction.truth) if prediction.truth in ids else None
    return bars(words, values, Scale("Probability", (0.0, 1.0) if whole else None), title=title, highlight=marked)


def ranks(traced: Trace) -> int:
    """The number of words at each place of :func:`every_place`: five, or all of a smaller vocabulary."""
    return min(_RANKS, traced.model.config.vocabulary)


def places_drawn(traced: Trace, place: int) -> slice:
    """The places that are drawn: all places of a short text, those around ``place`` in a long text."""
    return window(place, len(traced), _PLACES)


def every_place(traced: Trace, cell: tuple[int, int]) -> Heatmap:
    """Draw the likeliest words at every place of the unchanged text, with their probabilities; ``cell`` from 0."""
    rows, count = places_drawn(traced, cell[0]), ranks(traced)
    found, tokenizer = likeliest(traced, count), traced.model.tokenizer
    shares = found.probabilities[rows]
    texts = [
        [f"{word_of(tokenizer, int(i))}  {percent(float(p))}" for i, p in zip(ids, own, strict=True)]
        for ids, own in zip(found.ids[rows], shares, strict=True)
    ]
    names = [word_of(tokenizer, each) for each in traced.token_ids[rows]]
    title = "After token" if traced.model.config.causal else "At token"
    axes = Axis(title, names, rows.start + 1), Axis("Rank", [str(rank + 1) for rank in range(count)])
    heading, outlined = f"The {count} likeliest words of every place", (cell[0] - rows.start, cell[1])
    scale = Scale("Probability", (0.0, 1.0))
    return word_grid(shares, Texts("Word", texts), axes, scale, title=heading, highlight=outlined)


def lens_grid(
    traced: Trace, places: tuple[int, ...], truths: Truths, shown: str, cell: tuple[int, int], *, fitted: bool = False
) -> Heatmap:
    """Draw what the vocabulary head reads from each hidden state: best words, ranks of the true words, or entropies."""
    found = lens.lens(traced, places, truths, fitted=fitted)
    tokenizer, last = traced.model.tokenizer, len(found.best) - 1
    rows = ["Embeddings", *(f"Layer {layer}" for layer in range(1, last + 1))]
    names = [f"{place + 1} {word_of(tokenizer, traced.token_ids[place])}" for place in found.places]
    words = [[word_of(tokenizer, int(best)) for best in row] for row in found.best]
    values, texts, value_title, text_title = found.probability, words, "Probability of the best word", "Best word"
    if shown == RANK:
        values = (found.rank > 0) / found.rank.clip(min=1)
        texts = [[f"{rank:,}" if rank else "?" for rank in row] for row in found.rank.tolist()]
        value_title, text_title = "1 / rank", "Rank of the true one"
    elif shown == ENTROPY:
        values, texts = found.entropy, [[f"{share:.2f}" for share in row] for row in found.entropy.tolist()]
        value_title, text_title = "Entropy / ln(vocabulary)", "Entropy"
    axes = Axis("After", rows), Axis("After token" if traced.model.config.causal else "At token", names)
    title, scale = f"{text_title}, read after each layer", Scale(value_title, (0.0, 1.0))
    return word_grid(values, Texts(text_title, texts), axes, scale, title=title, highlight=cell)


def lens_words(traced: Trace, layer: int, place: int, truth: int | None, count: int, *, fitted: bool = False) -> Figure:
    """Draw the most probable words that the head reads after ``layer`` (0: the embeddings)."""
    after = f", read after {'the embeddings' if layer == 0 else f'layer {layer}'}"
    return _best_words(traced, lens.lens_prediction(traced, layer, place, truth, fitted=fitted), count, after)


def lens_agreement(traced: Trace) -> Figure:
    """Draw how often each lens names the model's own best word after each layer, on held-out text.

    Raises ValueError for a model without a fitted lens.
    """
    found = measured(traced.model)
    if found is None:
        raise ValueError(f"No lens was fitted for {traced.model.id}.")
    series = {
        "fitted lens": found.fitted.agreement,
        "plain lens": found.plain.agreement,
        "untrained twin": found.untrained.agreement,
    }
    places = AxisPlaces("Read after layer (0: the embeddings)", range(len(found.plain.agreement)))
    scale = Scale("Share of places", (0.0, 1.0), format=".2f")
    return settled(lines(series, places, scale, title="Same best word as the model’s output"))


def token_scores(traced: Trace, as_probability: bool = False, count: int | None = None) -> Figure:
    """Draw the part of the (pseudo-)log-likelihood that comes from each token, or from the first ``count`` tokens.

    Each token has a bar with its name; if there are many tokens, the bars are thin and upright, without names. A
    masked-language model takes one pass per token.
    """
    found = scored(traced, count)
    values = [score.probability if as_probability else score.log_probability for score in found.scores]
    title = f"{'Probability' if as_probability else 'Log probability'} of each token"
    scale = Scale("Probability") if as_probability else Scale("ln P (nats)", format=".2f")
    if len(values) > NAMED_UP_TO:
        return columns(values, replace(scale, format=".3f"), title=title, index_title="Scored token")
    names = [f"{score.place + 1} {word_of(traced.model.tokenizer, score.token_id)}" for score in found.scores]
    return bars(names, values, scale, title=title)
