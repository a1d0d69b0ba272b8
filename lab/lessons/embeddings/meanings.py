"""The meanings of the figures of the embeddings lesson, in sentences that the learner's numbers choose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lab.analysis.heads.values import Values
from lab.analysis.layers import rotary
from lab.analysis.layers.embeddings import (
    Movement,
    Order,
    WorkedDimension,
    parts,
    permutation_gap,
)
from lab.analysis.layers.positions import learned_by_distance, sinusoids_by_distance
from lab.analysis.words.neighbours import (
    Neighbour,
    cosine_by_state,
    is_whole,
    token_twice,
)
from lab.course.words import beside, quoted, signed
from lab.lessons.embeddings.change_figures import NO_MASK, WITH, WITHOUT, ways_to_run
from lab.lessons.embeddings.rotary_figures import TITLES
from lab.lessons.embeddings.word_figures import after_layers, in_table
from lab.models.trace import Trace
from lab.questions.question import MARGIN

# The number of neighbours that a sentence names; the figure shows more.
_NAMED = 3
# Two vectors whose cosine is at least that point nearly the same way.
_ALIKE = 0.9
# The source of each vector of a sum, as worded inside a sentence.
_SOURCES = {"token": "the word", "position": "the place", "segment": "the segment"}


@dataclass(frozen=True)
class Use:
    """A word in a sentence: the run, and the place of its token, from 0."""

    trace: Trace
    token: int

    @property
    def word(self) -> str:
        return quoted(self.trace.labels[self.token])


def rows(trace: Trace, token: int) -> str:
    """Say whether a token that occurs twice gets the same row twice; if ``token`` does, it is taken before others."""
    vectors, special = parts(trace)["token"], trace.encoding.special
    for place in (token, *range(len(trace))):
        other = token_twice(trace.token_ids, place)
        if other is not None and special[place] == special[token]:
            first, second = sorted((place, other))
            equal = np.array_equal(vectors[first], vectors[second])
            verb = "gets the same row" if equal else "gets another row"
            return f"{quoted(trace.labels[place])} is token {first + 1} and token {second + 1}, and {verb} both times."
    return f"{quoted(trace.labels[token])} gets this same row in every text, wherever it occurs."


def like_words(trace: Trace, token: int) -> str:
    """Say which rows of the token table are most like the row of ``token``, and how similar they are."""
    token_id, word = trace.token_ids[token], quoted(trace.labels[token])
    found = in_table(trace, token)
    if not found.nearest:
        return f"The vocabulary has no other word to compare with {word}."
    best, others = found.nearest[0].cosine, f"{found.count:,} other word{'s' * (found.count != 1)}"
    if best - found.mean < MARGIN:
        return f"No row is clearly nearest: of {others}, the nearest to {word} has the cosine {signed(best)}."
    named = found.nearest[:_NAMED]
    several, cosines = len(named) > 1, _listed([signed(each.cosine) for each in named])
    most = (
        f"Nearest to {word} {'are' if several else 'is'} {_words(named)}, with the cosine{'s' * several} {cosines}. "
        f"The mean over all {others} is {signed(found.mean)}."
    )
    if trace.encoding.special[token] or not is_whole(trace.model.tokenizer, token_id):
        return f"{most} (But {word} is not a whole word, so do not expect a meaning.)"
    return most


def two_uses(first: Use, second: Use, texts: tuple[str, ...] = (), alike: Use | None = None) -> str:
    """Name the words nearest to each of two uses of a word after the last layer; say how similar the uses still are.

    ``alike`` is a third use, in the meaning of ``first``, with which the other two are compared.
    """
    last = _last_cosine(first, second)
    near = [after_layers(use.trace, use.token, texts).nearest for use in (first, second)]
    if len(near[0]) < _NAMED:
        return _verdict(first, last, alike)
    found = (
        f"Nearest to the first {first.word} are now {_words(near[0][:_NAMED])}; nearest to the second are "
        f"{_words(near[1][:_NAMED])}."
    )
    if last < _ALIKE and near[0][0].word == near[1][0].word:
        return f"{found} {_same_word_nearest(first, near[1][0].word, last, alike)}"
    return f"{found} {_verdict(first, last, alike)}"


def _same_word_nearest(first: Use, nearest: str, last: float, alike: Use | None) -> str:
    """State a surprise: in both sentences the same word is nearest, whatever the cosine of the two vectors is."""
    same = "" if alike is None else f", and {signed(_last_cosine(first, alike))} for one meaning in two sentences"
    return (
        f"So the model puts the second {first.word}, too, next to {quoted(nearest)}: the cosine of the two vectors is "
        f"{beside(last, _ALIKE)}{same}, but the nearest word is still the same."
    )


def _last_cosine(first: Use, second: Use) -> float:
    return float(cosine_by_state(first.trace, first.token, second.trace, second.token)[-1])


def _verdict(first: Use, last: float, alike: Use | None) -> str:
    """Say whether the cosine of two uses tells the uses apart, compared with a third use in the first meaning."""
    limit = beside(last, _ALIKE)
    if alike is None:
        told = (
            "The layers hardly tell the two meanings apart"
            if last >= _ALIKE
            else "The layers have moved the two vectors apart"
        )
        return f"{told}: the cosine was 1 in the table, and is {limit} now."
    same = _last_cosine(first, alike)
    if same - last > MARGIN:
        return (
            f"So the layers tell the two meanings apart: their cosine is {limit}, and {signed(same)} for one meaning "
            "in two sentences."
        )
    return (
        f"But the cosine does not tell the two meanings apart: it is {limit} for two meanings, and {signed(same)} for "
        "one meaning in two sentences."
    )


def one_use(use: Use, texts: tuple[str, ...] = ()) -> str:
    """Compare the neighbours of a word that occurs once in the text: in the token table, and after the last layer."""
    table, after = in_table(use.trace, use.token).nearest, after_layers(use.trace, use.token, texts).nearest
    if not table or not after:
        return f"There is no other word to compare with {use.word}."
    return (
        f"In the token table, {_words(table[:_NAMED])} are nearest to {use.word}. After the last layer, in this "
        f"sentence, {_words(after[:_NAMED])} are nearest."
    )


def reordered(trace: Trace, order: Order) -> str:
    """Say how another order of the tokens changes the outputs, without positions and with them."""
    gaps = {name: permutation_gap(trace, order, way) for name, way in ways_to_run(trace).items()}
    name = quoted(trace.model.id)
    without = gaps[WITHOUT]
    if not without.follows:
        return (
            f"Even without positions, {name} notices the new order: the outputs do not simply move with their tokens. "
            "If its mask is taken away as well, they do."
        )
    told = (
        f"Without positions, **every output moves with its token**, so {name} cannot tell this order from the "
        "first one."
    )
    if gaps[WITH].follows:
        return f"{told} With positions, the outputs move with their tokens here, too."
    return f"{told} With positions, the last vectors differ by {gaps[WITH].moved[-1]:.0%} of their length on average."


def why_reordered(trace: Trace, order: Order) -> str:
    """The reason for the finding of :func:`reordered`, which it follows."""
    gaps, config = {n: permutation_gap(trace, order, way) for n, way in ways_to_run(trace).items()}, trace.model.config
    if not gaps[WITHOUT].follows:
        if config.causal:
            return (
                "A mask lets each token see only the tokens before it. In another order it sees other tokens, so the "
                "mask tells the model about order (Haviv et al. 2022)."
            )
        return (
            f"In a local layer, a token sees only {config.window} tokens to either side. In another order it sees "
            "other tokens, so the mask tells the model which tokens are near."
        )
    local = " (A local layer hides what is far away, but here near tokens stay near.)" if NO_MASK in gaps else ""
    return (
        "**Attention**, the next lesson, adds up vectors of the tokens, and a sum has no order. Every other step of a "
        f"layer looks at one token alone.{local}"
    )


def positions(trace: Trace, length: int, width: int, base: float) -> str:
    """Say whether near positions have similar vectors, among learned vectors (if there are any) and among sinusoids."""
    _, computed, _ = sinusoids_by_distance(length, width, base)
    if trace.model.weights.embeddings.position is None:
        return _by_distance("computed vectors", computed)
    _, learned, _ = learned_by_distance(trace, length)
    return f"{_by_distance('learned vectors', learned)} {_by_distance('computed vectors', computed)}"


def _by_distance(name: str, cosines: Values) -> str:
    """Compare the mean cosine of neighbouring positions with the highest one at any other distance."""
    near, rest = float(cosines[1]), cosines[2:]
    if not len(rest):
        return f"For {name}, the cosine of neighbours is {signed(near)} on average."
    farther = f"places farther apart have {signed(float(rest.max()))} at most"
    if near - rest.max() > MARGIN:
        return f"For {name}, neighbours are the most alike: their cosine is {signed(near)}, and {farther}."
    return f"For {name}, neighbours are hardly more alike: their cosine is {signed(near)}, and {farther}."


def turned(trace: Trace, tokens: tuple[int, int], count: int, base: float) -> str:
    """Say how much the cosine of two words at one distance varies, for turned words and with vectors added."""
    apart = {}
    for way in rotary.ways(trace):
        least, largest = rotary.by_offset(rotary.cosines(trace, tokens, way, count, base))
        apart[way] = float((largest - least).max())
    others = " and ".join(f"up to **{signed(apart[way])}** with {TITLES[way]}" for way in apart if way != "rotary")
    return (
        "Turned vectors know only how far apart their tokens are: at each distance, the cosine of the two words is the "
        f"same everywhere, up to rounding (**{apart['rotary']:.0e}**). At the same distance, the cosine varies by "
        f"{others}."
    )


def _words(found: Sequence[Neighbour]) -> str:
    return _listed([quoted(each.word) for each in found])


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def summed(worked: WorkedDimension, dimension: int) -> str:
    """Say which vector gives the largest part of one dimension (from 0) of the sum."""
    if len(worked.summands) == 1:
        return f"In dimension {dimension + 1} the word alone gives {signed(worked.total)}."
    most, *rest = sorted(worked.summands, key=lambda name: -abs(worked.summands[name]))
    told = [f"{_SOURCES[name]} gives {_three(worked.summands[name])}" for name in rest]
    return (
        f"In dimension {dimension + 1}, {_SOURCES[most]} contributes most: {_three(worked.summands[most])}; "
        f"{_listed(told)}."
    )


def _three(value: float) -> str:
    """Write a number with three decimals and a true minus sign."""
    return f"{value:.3f}".replace("-", "−")


def other_segments(trace: Trace, movement: Movement) -> str:
    """Say how far the last vectors move on average when the segments change, and which vector moves farthest."""
    last = movement.distance[-1]
    if not last.any():
        return "Nothing moves: every number stays as it was."
    most = int(last.argmax())
    return (
        f"On average, a vector has moved by {float(last.mean()):.2f} of its length. The vector of "
        f"{quoted(trace.labels[most])} has moved farthest, by {float(last[most]):.2f}."
    )
