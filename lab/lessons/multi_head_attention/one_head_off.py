"""One head off: the model's words with a head, with the head set to zero, and with the head set to its mean."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from lab.analysis.heads import ablation
from lab.analysis.heads.ablation import head_off
from lab.analysis.heads.attention import window
from lab.analysis.heads.values import Values
from lab.analysis.words.predictions import Prediction, candidate, candidates, word_of
from lab.charts.base.axes import Axis, Scale
from lab.charts.base.figure import Figure
from lab.charts.cells.heatmap import Heatmap, heatmap
from lab.charts.marks.bars import bars
from lab.course.words import head_name, named, quoted, share
from lab.figures.mistakes import moved_by_layer, streams
from lab.figures.multi_head import COLUMNS
from lab.lessons.multi_head_attention import LESSON
from lab.models import forward
from lab.models.interventions import Head, Interventions
from lab.models.trace import Trace, changed
from lab.questions.asking import asks
from lab.questions.basis import derivable
from lab.questions.question import Option, Question
from lab.questions.returning import Spot
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import meaning, try_this
from lab.ui.parameters import HEAD
from lab.ui.shared.heads_off import ask
from lab.ui.shared.keys import is_keys, keys_blank
from lab.ui.shared.one_head import OneHead
from lab.ui.terms import say

TOP = 4
ON, ZERO, MEAN = "on", "zero", "mean"
_NOTHING = 0.01  # a smaller change of ln P counts as hardly any; 1 % of the probability
_SMALLER = 0.8  # vectors that end this much nearer to their places than they were have been brought back in part
_FALLS = 0.8  # a probability that keeps less than this part of itself has fallen visibly
_CHOSEN = " The lab chose this sentence because its verb depends on one head."

_LATER = " The mean is over all of its tokens, later ones included."


@dataclass(frozen=True)
class Without:
    """What the model says at one place with a head, and without it in two ways.

    Attributes
    ----------
    name
        The head in words.
    word, before
        The likeliest word with the head, in quotation marks, and its probability.
    zero, mean
        The probability of this word with the head set to zero, and with the head set to its mean over the text.
    zero_says, mean_says
        The likeliest word then, in quotation marks, and its probability.
    """

    name: str
    word: str
    before: float
    zero: float
    mean: float
    zero_says: tuple[str, float]
    mean_says: tuple[str, float]


def probabilities(trace: Trace, head: Head, place: int, how: str) -> NDArray[np.float64]:
    """Return the probability of every word at a place with the head on, set to zero, or set to its mean."""
    logits = trace.logits(place)[0].numpy() if how == ON else head_off(trace, *head, place, how == MEAN).logits
    assert logits is not None
    return Prediction(place, None, np.asarray(logits, dtype=np.float64)).probabilities


def without(trace: Trace, head: Head, place: int) -> Without:
    """Read what the model says at a place with the head and without it."""
    on, zero, mean = (probabilities(trace, head, place, how) for how in (ON, ZERO, MEAN))
    best = int(on.argmax())

    def says(each: NDArray[np.float64]) -> tuple[str, float]:
        return quoted(word_of(trace.model.tokenizer, int(each.argmax()))), float(each.max())

    return Without(
        head_name(head), says(on)[0], float(on[best]), float(zero[best]), float(mean[best]), says(zero), says(mean)
    )


def said(found: Without) -> str:
    """Say what the model says without the head, set to zero."""
    then, after = found.zero_says
    if then != found.word:
        return (
            f"Without {found.name}, the model says **{then}** ({share(after)}) instead of {found.word} "
            f"({share(found.before)} with the head, {share(found.zero)} without it)."
        )
    if abs(np.log(found.zero / found.before)) < _NOTHING:
        return (
            f"Without {found.name}, hardly anything changes: the probability of {found.word} is {share(found.zero)} "
            f"instead of {share(found.before)}."
        )
    way = "less" if found.zero < found.before else "more"
    return (
        f"Without {found.name}, {found.word} becomes {way} probable: {share(found.zero)} instead of "
        f"{share(found.before)}. The model still says {found.word}."
    )


def milder(found: Without) -> str:
    """Say that zeros are unusual, what the milder cut does, and whether the zeros made the change look larger."""
    then, after = found.mean_says
    told = (
        "The network never met such zeros in training. If the head brings its mean over this text to every token "
        "instead, "
    )
    if then != found.word:
        too = "also " if then == found.zero_says[0] else ""
        return f"{told}the model {too}says {then} ({share(after)})."
    if found.zero_says[0] == found.word:
        return f"{told}the model says {found.word} ({share(found.mean)})."
    told += f"the model still says {found.word}"
    if found.mean < _FALLS * found.before:
        return f"{told}, but with {share(found.mean)}. So the head matters, but zeros exaggerate how much."
    return f"{told} ({share(found.mean)}). So it was the zeros that changed the word."


def smallest(trace: Trace, head: Head, place: int) -> str:
    """Where zeros change the word, say what remains if the head loses only its strongest look from a place.

    "" if zeros change no word, or if the head looks at one token only.
    """
    row = trace.layer(head[0]).attention[head[1], place]
    key = int(row.argmax())
    word, zero = (int(probabilities(trace, head, place, how).argmax()) for how in (ON, ZERO))
    if word == zero or key == place or int((row > 0).sum()) < 2:
        return ""
    cut = changed(trace, Interventions(blocked_in_heads=frozenset({(*head, place, key)})))
    then = Prediction(place, None, cut.logits(place)[0].numpy().astype(np.float64)).probabilities
    after = cut.layer(head[0]).attention[head[1], place]
    best, now = int(then.argmax()), int(after.argmax())
    here = named(trace, place) if trace.model.config.causal else "the blank"
    told = (
        f"A smaller cut takes away only the look from {here} at {named(trace, key)}. The head then looks most at "
        f"{named(trace, now)} ({float(after[now]):.2f}), and the model says "
        f"{quoted(word_of(trace.model.tokenizer, best))} ({share(float(then[best]))})."
    )
    return f"{told} So the zeros took away more than this look." if best == word else told


def looks_from(trace: Trace, head: Head, place: int) -> str:
    """Say at which token a head looks most from a place, and how much any other head of the model looks there."""
    every = np.array([trace.layer(at).attention[:, place].numpy() for at in range(trace.model.config.layers)])
    row = every[head]
    key = int(row.argmax())
    here = named(trace, place) if trace.model.config.causal else "the blank"
    there = "itself" if key == place else named(trace, key)
    told = f"From {here}, {head_name(head)} looks most at {there}, with the weight {float(row[key]):.2f}."
    others = np.delete(every[:, :, key].ravel(), np.ravel_multi_index(head, every.shape[:2]))
    if not len(others):
        return told
    if len(others) > 1 and others.max() < row[key]:
        return f"{told} None of the {len(others)} other heads looks there with more than {others.max():.2f}."
    return f"{told} {'The' if len(others) == 1 else 'An'}other head looks there with {others.max():.2f}."


@asks(
    "layer",
    "head",
    basis=derivable(LESSON, "one-head-off", "how far the vectors move"),
    hint="A layer reads the vectors that the layers before it have written.",
)
def first_moved(spot: Spot) -> Question | None:
    """Ask where the vectors change when a head is off."""
    return moved_after(spot.layer, spot.head, head_off(spot.trace, spot.layer, spot.head, None).moved.mean(axis=1))


def moved_after(layer: int, head: int, moved: Values) -> Question | None:
    """Ask after which layers vectors move; ``moved`` (L+1,), with the embeddings first. None if it is not clear."""
    layers = len(moved) - 1
    if layers < 2 or moved[: layer + 1].any() or not (moved[layer + 1 :] > 0).all():
        return None
    steps = ", ".join(f"{value:.3f} after layer {at}" for at, value in enumerate(moved[1:], start=1))
    numbers = f"The vectors move by this share of their length: {steps}."
    last = layer + 1 == layers
    options = [Option(f"Only after layer {layer + 1}", numbers, correct=last)]
    if not last:
        why = f"Each layer reads what the layer before it wrote. {numbers}"
        options.append(Option(f"After layer {layer + 1} and all later layers", why, correct=True))
    if layer > 0:
        back = f"No information goes back to earlier layers. {numbers}"
        options.append(Option("After all layers, including the earlier ones", back))
    beside = f"The heads of a layer work side by side. {numbers}"
    options.append(Option("Nowhere: the other heads make up for it", beside))
    prompt = f"Head {head + 1} of layer {layer + 1} is switched off. After which layers do the vectors change?"
    return Question("first-moved", prompt, tuple(options))


def repaired(layer: int, moved: Values) -> str:
    """Say whether the vectors end nearer to their places than they were; ``moved`` (L+1,), with the embeddings first.

    Nothing is said of the last layer's heads, and of a head without effect.
    """
    after = moved[layer + 1 :]
    peak, last = int(after.argmax()), float(after[-1])
    if len(after) < 2 or after[peak] <= 0:
        return ""
    first = f"after layer {layer + 1} ({after[0]:.3f})"
    if last < _SMALLER * after[peak]:
        return (
            f"The vectors are farthest away after layer {layer + 1 + peak} ({after[peak]:.3f}) and end nearer "
            f"({last:.3f}). Later layers make up for part of the missing head, or they overwrite the change."
        )
    if last > after[0]:
        return f"Later layers increase the change: the vectors end farther away ({last:.3f}) than {first}."
    return f"Later layers do not make up for it: the vectors end nearly as far away ({last:.3f}) as {first}."


def best_words(traced: Trace, layer: int, head: int, place: int, how: str) -> Figure:
    """Draw the likeliest words at ``place`` with the head "on", or set to "zero" or its "mean"; all on one scale.

    The word that the model says with the head has the full colour, and its own bar. Raises ValueError for a model
    without a vocabulary head.
    """
    at = (layer, head)
    every = {each: probabilities(traced, at, place, each) for each in (ON, ZERO, MEAN)}
    logits = traced.logits(place)[0].numpy() if how == ON else head_off(traced, *at, place, how == MEAN).logits
    shown = Prediction(place, None, np.asarray(logits, dtype=np.float64))
    best = candidates(shown, TOP, traced.model.tokenizer)
    followed = candidate(shown, int(every[ON].argmax()), traced.model.tokenizer)
    words = best if followed in best else (*best, followed)
    title = {ON: f"With head {head + 1}", ZERO: f"Head {head + 1} set to zero", MEAN: f"Head {head + 1} at its mean"}
    scale = Scale("Probability", (0.0, max(float(each.max()) for each in every.values())), ".3f")
    labels, values = [each.word for each in words], [each.probability for each in words]
    return bars(labels, values, scale, title=title[how], highlight=words.index(followed))


def moved_by_token(traced: Trace, layer: int, head: int, place: int = 0) -> Heatmap:
    """Draw how far each token's vector moves with one head off; in a long text, only for tokens around ``place``."""
    moved = head_off(traced, layer, head, None).moved
    shown = window(place, len(traced), COLUMNS)
    axes = Axis("After", streams(len(moved))), Axis("Token", traced.labels[shown])
    scale = Scale("Share of the vector’s length", format=".2f")
    return heatmap(moved[:, shown], axes, scale, title="How far each token’s vector moves")


def show(view: OneHead) -> Trace:
    """Show what the model says at a blank with a head and without it, and how little one look of the head decides."""
    at = (view.layer.index, view.head)
    asked = keys_blank(view.page, view.trace.model, at) or ask(view, first=True)
    if asked is None:
        _show_moves(view, view.trace, 0)
        return view.trace
    trace, place = asked.trace, asked.place
    say(
        f"You have seen where a head looks. Does the model need it? {looks_from(trace, at, place)} Here, the lab takes "
        f"one of {trace.model.config.layers * trace.model.config.heads} heads away: in place of the "
        f"{trace.model.config.head_width} numbers that it brings to each token, there are zeros, or the mean of "
        "each number over all tokens."
    )
    for column, how in zip(st.columns(3), (ON, ZERO, MEAN), strict=True):
        with column:
            draw(partial(best_words, trace, *at, place, how), f"best-{how}")
    found = without(trace, at, place)
    meaning(said(found))
    say(f"{milder(found)} {smallest(trace, at, place)}")
    st.caption(f"This is one word in one text.{_CHOSEN if is_keys(trace) else _LATER if asked.causal else ''}")
    _show_another(view)
    with st.expander("How far do the vectors move?", on_change="rerun", key="_moves") as moves:
        if moves.open:
            _show_distances(view, trace, place)
    code(head_off, forward.mix_values)
    return trace


def _show_another(view: OneHead) -> None:
    """Offer another head of the layer for comparison: the head before, or, for the first head, the head after."""
    other = view.head - 1 if view.head else 1
    if view.trace.model.config.heads > 1:
        try_this(
            "another head of this layer. Does that head matter, too?", f"Switch off head {other + 1}", {HEAD: other + 1}
        )


def _show_moves(view: OneHead, trace: Trace, place: int) -> None:
    """Show the step for a model that predicts no words: how far its vectors move without the head."""
    name = head_name((view.layer.index, view.head))
    say(f"You have seen where a head looks. Does the model need it? {name.capitalize()} is taken away.")
    _show_distances(view, trace, place)
    moved = head_off(trace, view.layer.index, view.head, None).moved[-1].mean()
    meaning(f"Without {name}, the vectors after the last layer move by {moved:.0%} of their length.")
    _show_another(view)
    code(head_off, forward.mix_values)


def _show_distances(view: OneHead, trace: Trace, place: int) -> None:
    """Draw how far every vector moves in the layers after the head, and say whether later layers bring it back."""
    n, layer, head = len(trace), view.layer.index, view.head
    say(
        f"The lab sets the {trace.model.config.head_width} numbers of the head to zero before $W_O$. The vectors that "
        "each layer hands to the next layer are called the **residual stream**. The figures show how far these "
        "vectors move:"
    )
    st.latex(r"\text{moved} = \frac{\lVert x_{\text{off}} - x \rVert}{\lVert x \rVert}")
    draw(partial(moved_by_layer, trace, ablation.without_head(trace, layer, head), layer), "moved-by-layer")
    if told := repaired(layer, head_off(trace, layer, head, None).moved.mean(axis=1)):
        say(told)
    draw(partial(moved_by_token, trace, layer, head, place), "moved-by-token")
    shown = window(place, n, COLUMNS)
    if n > COLUMNS:
        st.caption(f"The figure shows tokens {shown.start + 1} to {shown.stop} of {n}.")
