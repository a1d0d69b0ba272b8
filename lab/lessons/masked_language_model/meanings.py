"""The meanings of the figures of lesson 9, in the learner's own numbers. The numbers choose every claim."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lab.analysis.layers.lens import first_read, lens, lens_prediction
from lab.analysis.words.likelihood import Likelihood
from lab.analysis.words.masking import mask_of
from lab.analysis.words.next_sentence import NextSentence, PairsTried
from lab.analysis.words.predictions import Candidate, Prediction, candidates, prediction_at, word_of
from lab.analysis.words.sampling import Sampling
from lab.course.words import VISIBLE, percent, quoted, share
from lab.models.catalogue import twin_of
from lab.models.fitted_lens import MeasuredLens
from lab.models.loading import LoadedModel
from lab.models.trace import Trace

# Two answers about a pair of texts are nearly the same if they differ by less than this.
APART = 0.1
# A word with more than the first has more than all others together; a best word below the second is one of many.
HALF, FEW = 0.5, 0.1
# Up to this number of words, a sentence says “a few”.
SOME = 10


def _best(model: LoadedModel, prediction: Prediction) -> tuple[Candidate, Candidate]:
    first, second = candidates(prediction, 2, model.tokenizer)
    return first, second


def random_weights(model: LoadedModel) -> bool:
    """Return whether a model is untrained, so that its words are chance."""
    return twin_of(model.id) is not None or model.id.startswith("toy-untrained")


def answered(trace: Trace, prediction: Prediction) -> str:
    """Say how sure the model is of its best word."""
    if random_weights(trace.model):
        told = "The weights are random, so these bars mean nothing."
        return told if twin_of(trace.model.id) is not None else f"{told} Train the toy, then look again."
    first, second = _best(trace.model, prediction)
    if first.probability - second.probability < VISIBLE:
        return (
            f"The model prefers no single word: {quoted(first.word)} has **{share(first.probability)}**, and "
            f"{quoted(second.word)} {share(second.probability)}."
        )
    return (
        f"{quoted(first.word)} fits best, with **{share(first.probability)}**. Next comes {quoted(second.word)} with "
        f"{share(second.probability)}. {_how_sure(prediction)}"
    )


def _how_sure(prediction: Prediction) -> str:
    """Say how many words together reach a probability of one half, that is, how much the model leaves open."""
    best = np.sort(prediction.probabilities)[::-1]
    if best[0] > HALF:
        return "The best word is more probable than all other words together."
    count = int(np.searchsorted(np.cumsum(best), HALF)) + 1
    room = "leaves much room" if best[0] < FEW else "leaves room for a few" if count <= SOME else "leaves some room"
    return f"The {count:,} likeliest words together reach a probability of one half: the model {room}."


def compared(trace: Trace, place: int) -> str:
    """Say which word fits the vector best, by how much, and whether this is due to the biases of the words."""
    prediction = prediction_at(trace, place, None)
    first, second = _best(trace.model, prediction)
    told = (
        f"Of all {trace.model.config.vocabulary:,} words, {quoted(first.word)} gets the largest logit: "
        f"**{first.logit:.2f}**. The logit of {quoted(second.word)} is {first.logit - second.logit:.2f} lower."
    )
    bias = trace.model.vocabulary_head.bias
    if bias is None or not bool(bias.any()):
        return f"{told} The dot product alone decides."
    products = prediction.logits - bias.numpy().astype(np.float64)
    without = int(products.argmax())
    if without == first.token_id:
        return f"{told} Without the biases {quoted(first.word)} would be first, too."
    return f"{told} Without the biases {quoted(word_of(trace.model.tokenizer, without))} would be first."


def turned(trace: Trace, prediction: Prediction) -> str:
    """Say how the lead of the best logit over the second becomes a ratio of probabilities."""
    first, second = _best(trace.model, prediction)
    lead = (first.logit - second.logit) / prediction.temperature
    ratio = math.exp(lead) if lead < 700 else math.inf
    after = "" if prediction.temperature == 1 else f", divided by the temperature {prediction.temperature:g}"
    if lead < VISIBLE:
        return (
            f"The logits of {quoted(first.word)} and {quoted(second.word)} are nearly equal. So are their "
            f"probabilities: {share(first.probability)} and {share(second.probability)}."
        )
    times = f"{ratio:.2f}" if ratio < 100 else f"{ratio:,.0f}" if ratio < 1e6 else f"{ratio:.1e}"
    return (
        f"{quoted(first.word)} leads {quoted(second.word)} by {lead:.2f}{after}. Softmax turns the lead into a ratio: "
        f"{quoted(first.word)} is $e^{{{lead:.2f}}}$ ≈ **{times}** times as probable."
    )


def arrived(trace: Trace, place: int, truth: int | None, *, fitted: bool = False) -> str:
    """Say from which layer on the lens reads the output's word, and in which layer that word gains most.

    Layers after which the lens reads no better than a guess without context do not count.
    """
    best = lens(trace, (place,), (truth,), fitted=fitted).best[:, 0]
    final, last = int(best[-1]), len(best) - 1
    first = min(first_read(trace, place, fitted=fitted), last)
    since = next(row for row in range(first, last + 1) if (best[row:] == final).all())
    gained = [_read_after(trace, layer, place, final, fitted) for layer in range(first, last + 1)]
    word = quoted(word_of(trace.model.tokenizer, final))
    if first == last:
        return f"{word} is what the model says after its last layer, the first one that the lens can read."
    if since == first:
        told = f"The lens reads {word} as soon as it can read a word, after layer {first}, and after every later layer."
    elif since == last:
        before = quoted(word_of(trace.model.tokenizer, int(best[-2])))
        told = f"{word} wins in the last layer: one layer before, the lens still reads {before}."
    else:
        told = f"From layer {since} on, the lens reads {word} after every layer."
    steps = np.diff(gained)
    most = int(steps.argmax())
    if steps[most] < VISIBLE:
        return f"{told} No later layer adds {VISIBLE:g} or more to its probability."
    return (
        f"{told} It gains most in layer {first + most + 1}: from {share(gained[most])} to "
        f"**{share(gained[most + 1])}**."
    )


def _read_after(trace: Trace, layer: int, place: int, token_id: int, fitted: bool) -> float:
    return float(lens_prediction(trace, layer, place, None, fitted=fitted).probabilities[token_id])


@dataclass(frozen=True)
class Agreed:
    """The layer, from 1, after which the two lenses differ most, and each lens's agreement there."""

    layer: int
    fitted: float
    plain: float
    untrained: float


def most_apart(found: MeasuredLens) -> Agreed:
    """Find the layer at which the fitted lens and the plain lens differ most in naming the model's best word."""
    fitted, plain, untrained = (each.agreement for each in (found.fitted, found.plain, found.untrained))
    layer = 1 + int(np.abs(np.subtract(fitted, plain)[1:]).argmax())
    return Agreed(layer, fitted[layer], plain[layer], untrained[layer])


def agreed(found: MeasuredLens, causal: bool) -> str:
    """Say how much more the fitted lens reads than the plain lens, and how much a map alone can guess."""
    at = most_apart(found)
    asked = "places" if causal else "hidden words"
    return (
        f"How often does a lens name the word that the model says in the end? On {found.places:,} {asked} of other "
        f"texts, after layer {at.layer}, the fitted lens names it in **{percent(at.fitted)}** and the plain lens in "
        f"{percent(at.plain)}. A lens that was fitted on the states of an untrained twin reaches "
        f"{percent(at.untrained)} there: this is how often the map alone guesses the word from layers that learned "
        "nothing."
    )


def rows_where_plain_reads_more(found: MeasuredLens) -> list[int]:
    """The rows (0: the embeddings) in which the plain lens names more of the model's words at visible words."""
    plain, fitted = found.in_sight or ((), ())
    return [row for row, (one, other) in enumerate(zip(plain, fitted, strict=True)) if one - other >= VISIBLE]


def fitted_where(found: MeasuredLens, causal: bool) -> str:
    """Say at which places the maps were fitted, and after which layers the plain lens reads more at other places."""
    if causal:
        return "The maps were fitted on other texts."
    rows = ["the embeddings" if row == 0 else f"layer {row}" for row in rows_where_plain_reads_more(found)]
    told = "The maps were fitted at hidden words of other texts."
    if not rows:
        return told
    after = f"{', '.join(rows[:-1])} and {rows[-1]}" if len(rows) > 1 else rows[0]
    return (
        f"{told} For words in plain sight, the plain lens names more of the model’s words than the fitted lens after "
        f"{after}."
    )


def in_sight(hidden: Candidate, visible: Candidate) -> str:
    """Say how a word's probability at its own place changes when the model sees the word."""
    word = quoted(hidden.word)
    told = f"{share(hidden.probability)} to **{share(visible.probability)}**"
    change = visible.probability - hidden.probability
    if change < 0:
        return f"Seeing {word} does not help this model: its probability goes from {told}."
    if change < VISIBLE:
        return f"Seeing {word} changes little: its probability goes from {told}."
    if visible.rank == 1:
        return f"With {word} in plain sight, the model’s best answer is that word. Its probability goes from {told}."
    return f"Seeing {word} raises its probability from {told}, rank {visible.rank:,}."


def copied(trace: Trace, likeliest: Sequence[int]) -> str:
    """Count the places at which the likeliest word is the word of the text, or the next token of the text.

    ``likeliest`` has the id of the likeliest word at every place.
    """
    causal = trace.model.config.causal
    places = known_places(trace)
    if not places:
        return "There is no word here to compare with."
    right = sum(likeliest[place] == trace.token_ids[place + causal] for place in places)
    if causal:
        return (
            f"At **{right}** of {len(places)} places the model’s first choice is the token that comes next in your "
            "text. It has not seen that token yet."
        )
    most = "copies most words" if right > len(places) / 2 else "does not simply copy the words"
    how = "copies every word" if right == len(places) else most
    return (
        f"At **{right}** of {len(places)} places the first choice is the word of the text. With nothing hidden, "
        f"the model {how}."
    )


def known_places(trace: Trace) -> list[int]:
    """The places of words, or before words in a causal model, without special tokens and typed blanks."""
    causal, mask = trace.model.config.causal, mask_of(trace.model.tokenizer)
    blank = None if mask is None else mask[1]
    words = (not special and i != blank for special, i in zip(trace.encoding.special, trace.token_ids, strict=True))
    return [place - causal for place, word in enumerate(words) if word and place >= causal]


def unsure(found: Likelihood, causal: bool) -> str:
    """Put a perplexity into plain words: the number of equally likely words that would make the model as unsure."""
    name, at = ("perplexity", "before a token") if causal else ("pseudo-perplexity", "at a hidden token")
    return (
        f"The {name} is **{found.perplexity:,.1f}**: on average the model is as unsure {at} as if it chose among "
        f"{found.perplexity:,.1f} {'tokens' if causal else 'words'} with equal chance."
    )


def both_orders(found: NextSentence) -> str:
    """Say how the model's answer changes when two texts are swapped."""
    told = f"**{found.follows:.2f}** in this order, **{found.swapped:.2f}** swapped"
    if abs(found.follows - found.swapped) >= APART:
        return f"The order matters for this pair: {told}."
    return (
        f"The order hardly matters for this pair: {told}. So this answer does not say which text comes first. The "
        "model may decide by the topic: press **A random pair**."
    )


def can_be_drawn(found: Sampling, first: str) -> str:
    """Say how many tokens can still be drawn, and which share the likeliest token, ``first``, has now."""
    kept, total, best = len(found.kept), len(found.order), found.order[0]
    before, after = share(float(found.probabilities[best])), share(float(found.shares[best]))
    if kept == total:
        return (
            f"Nothing is left out: each of the {total:,} tokens can be drawn. {first} comes up in **{before}** of all "
            "draws."
        )
    if kept == 1:
        return f"Only {first} can be drawn, so every seed draws it."
    return (
        f"**{kept:,}** of {total:,} tokens can still be drawn. They share the probability of the other tokens: {first} "
        f"goes from {before} to {after}."
    )


def topic_or_order(tried: PairsTried) -> str:
    """Say whether a model's answers to many pairs show which texts belong together, and in which order."""
    count, right = len(tried.follows), np.array(tried.follows)
    ordered, together = (int((right > np.array(other)).sum()) for other in (tried.swapped, tried.mixed))
    means = (f"{np.mean(each):.2f}" for each in (tried.follows, tried.swapped, tried.mixed))
    told = (
        "The average is {} in order, {} swapped, and {} with a second text from another pair. ".format(*means)
        + f"The right order wins in **{ordered}** of {count} pairs, the right second text in **{together}**. "
    )
    # The smallest number of right pairs that guessing reaches in fewer than 1 of 20 tries.
    least = next(
        k for k in range(count + 1) if sum(math.comb(count, each) for each in range(k, count + 1)) < 2**count / 20
    )
    if together >= least and ordered >= least:
        return f"{told}So this model tells which texts belong together, and in which order."
    if together >= least:
        return (
            f"{told}So this model tells which texts belong together, but not clearly in which order. Lan et al. 2020 "
            "(§3.1) conjecture the same about this task: a topic is easier to learn than an order."
        )
    if ordered >= least:
        return f"{told}So this model tells the order of two texts, but not clearly which texts belong together."
    return f"{told}Guessing would rarely get {least} of {count} right. So these pairs show neither."
