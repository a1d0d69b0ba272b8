"""The figures of the lesson: words at a place, words after each layer, exchanged vectors, the likelihood of a text."""

from __future__ import annotations

from dataclasses import replace

from lab.analysis.layers.exchanged import best, exchanged, other_run
from lab.analysis.layers.lens import likeliest_after
from lab.analysis.words.predictions import candidates, prediction_at, word_of
from lab.analysis.words.text_likelihood import scored
from lab.charts.base.axes import Axis, Scale
from lab.charts.base.figure import Figure
from lab.charts.cells.categories import word_grid
from lab.charts.cells.grid import Texts
from lab.charts.cells.heatmap import Heatmap
from lab.charts.marks.bars import bars, columns
from lab.models.trace import Trace

READ = 3  # words that a lens names after a layer
_ORDER, _READ_AFTER = ("first", "second", "third"), "The words that the lens reads after each layer"
NAMED_UP_TO = 48  # the most tokens whose bars have names


def best_words(traced: Trace, place: int, truth: int | None, count: int, temperature: float = 1.0) -> Figure:
    """Draw the most probable words at ``place`` (after it, for a causal model), the true word in full colour."""
    prediction = prediction_at(traced, place, truth).at(temperature)
    best = candidates(prediction, count, traced.model.tokenizer)
    ids = [each.token_id for each in best]
    noun, where = ("tokens", "after") if traced.model.config.causal else ("words", "at")
    title = f"The {len(best)} most probable {noun} {where} token {place + 1}"
    words, values = [each.word for each in best], [each.probability for each in best]
    marked = ids.index(prediction.truth) if prediction.truth in ids else None
    return bars(words, values, Scale("Probability"), title=title, highlight=marked)


def lens_words(traced: Trace, place: int, *, fitted: bool = False) -> Heatmap:
    """Draw the most probable words that a lens reads at ``place`` after each layer."""
    found, tokenizer = likeliest_after(traced, place, READ, fitted=fitted), traced.model.tokenizer
    shares = found.probabilities[1:]
    texts = [
        [f"{word_of(tokenizer, int(i))}  {p:.2f}" for i, p in zip(ids, own, strict=True)]
        for ids, own in zip(found.ids[1:], shares, strict=True)
    ]
    rows = [f"layer {at}" for at in range(1, len(shares) + 1)]
    axes = Axis("After", rows), Axis("Its choice", _ORDER[: shares.shape[1]])
    return word_grid(shares, Texts("Word", texts), axes, Scale("Probability", (0.0, 1.0)), title=_READ_AFTER)


def one_vector(traced: Trace, place: int, text: str) -> Heatmap:
    """Draw the probability of another sentence's best word if one vector of ``traced`` is taken from that sentence.

    Raises as :func:`lab.analysis.layers.exchanged.other_run` does.
    """
    other = other_run(traced, place, text)
    found = exchanged(traced, place, other)
    rows = ["at first", *(f"after layer {layer}" for layer in range(1, traced.model.config.layers + 1))]
    word = word_of(traced.model.tokenizer, best(other, place))
    texts = Texts("Probability", [[f"{p:.2f}" for p in row] for row in found])
    axes = Axis("Exchanged", rows), Axis("The vector of this token", traced.labels, 1)
    scale, title = Scale(f"Probability of {word}", (0.0, 1.0)), f"Probability of {word} with one vector exchanged"
    return word_grid(found, texts, axes, scale, title=title)


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
