"""What the figures of the embeddings lesson mean, in sentences that the learner's numbers choose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lab.analysis.heads.values import Values
from lab.analysis.layers import rotary
from lab.analysis.layers.embeddings import (
    Movement,
    Order,
    SegmentChange,
    WorkedDimension,
    parts,
    permutation_gap,
)
from lab.analysis.layers.positions import learned_by_distance, sinusoids_by_distance
from lab.analysis.words.neighbours import (
    Neighbour,
    Neighbours,
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

# What the vectors of a part are called.
_NAMES = {"sum": "sums", "LayerNorm": "vectors after LayerNorm"}
# As many neighbours are named; the figure has more.
_NAMED = 3
# Two vectors whose cosine is at least that point nearly the same way.
_ALIKE = 0.9


@dataclass(frozen=True)
class Use:
    """A word in a sentence: the run, and the place of its token, from 0."""

    trace: Trace
    token: int

    @property
    def word(self) -> str:
        return quoted(self.trace.labels[self.token])


def rows(trace: Trace, token: int, part: str) -> str:
    """Whether a token that stands in the text twice has one vector twice; ``token`` goes before others.

    ``part`` is one of :func:`lab.analysis.layers.embeddings.parts`.
    """
    vectors, special, name = parts(trace)[part], trace.encoding.special, _NAMES.get(part, f"{part} vectors")
    for place in (token, *range(len(trace))):
        other = token_twice(trace.token_ids, place)
        if other is not None and special[place] == special[token]:
            first, second = sorted((place, other))
            apart = float(np.abs(vectors[first] - vectors[second]).max())
            told = (
                f"their {name} are equal, all {vectors.shape[1]} numbers."
                if apart == 0
                else f"their {name} differ, by up to {apart:.2f} in one dimension."
            )
            return f"{quoted(trace.labels[place])} is token {first + 1} and token {second + 1}: {told}"
    it = quoted(trace.labels[token])
    return f"Wherever {it} stands, in any text, it gets the same row of the token table. Here it stands once."


def like_words(trace: Trace, token: int) -> str:
    """Which rows of the token table are most like that of ``token``, and how like they are."""
    token_id, word = trace.token_ids[token], quoted(trace.labels[token])
    found = in_table(trace, token)
    if not found.nearest:
        return f"The vocabulary has no other word to compare {word} with."
    best, others = found.nearest[0].cosine, f"{found.count:,} other word{'s' * (found.count != 1)}"
    if best - found.mean < MARGIN:
        return f"No row stands out: of {others}, the nearest to {word} has the cosine {signed(best)}."
    named = found.nearest[:_NAMED]
    cosines = _listed([signed(each.cosine) for each in named])
    most = (
        f"Of {others}, {_words(named)} {'have rows' if len(named) > 1 else 'has the row'} most like that of {word}: "
        f"{'cosines' if len(named) > 1 else 'cosine'} {cosines}. The mean over all of them is {signed(found.mean)}."
    )
    if trace.encoding.special[token]:
        return f"{most} {word} is a special token, no word: choose another."
    if not is_whole(trace.model.tokenizer, token_id):
        return f"{most} {word} is no whole word of two letters or more, so do not expect a meaning here."
    return f"{most} Whether they also mean something alike is for you to judge."


def two_uses(first: Use, second: Use, texts: tuple[str, ...] = (), alike: Use | None = None) -> str:
    """One word at two places: how like its vectors still are after the last layer, and which words are near each.

    ``alike`` has the word in the meaning of ``first`` once more: what the two are measured by.
    """
    cosines = cosine_by_state(first.trace, first.token, second.trace, second.token)
    begin, last = float(cosines[0]), float(cosines[-1])
    near = [after_layers(use.trace, use.token, texts) for use in (first, second)]
    limit = beside(last, _ALIKE)
    if last >= _ALIKE:
        told = "The layers hardly tell the two apart."
    elif begin - last > MARGIN:
        told = "The layers take the two apart."
    else:
        told = "The layers take the two no farther apart."
    start = (
        f"Both uses of {first.word} begin with the same row of the table: cosine 1. {_placed(first, second, begin)} "
        f"After the last layer it is {limit}. {told}{_measured(first, last, near, alike)}"
    )
    if len(near[0].nearest) < _NAMED:
        return start
    shared = len({each.word for each in near[0].nearest} & {each.word for each in near[1].nearest})
    common = {0: "They share none", len(near[0].nearest): "They share all"}.get(shared, f"They share {shared}")
    return (
        f"{start} Nearest to the first are {_words(near[0].nearest[:_NAMED])}, to the second "
        f"{_words(near[1].nearest[:_NAMED])}. {common} of their {len(near[0].nearest)} neighbours."
    )


def _placed(first: Use, second: Use, begin: float) -> str:
    """The cosine at the input of layer 1, and what was added before that."""
    if first.trace.model.weights.embeddings.position is None or first.token == second.token:
        return f"At the input of layer 1 it is {signed(begin)}."
    return (
        f"Then the vector of a place is added: token {first.token + 1} in one, token {second.token + 1} in the other. "
        f"So at the input of layer 1 it is {signed(begin)}."
    )


def _measured(first: Use, last: float, near: Sequence[Neighbours], alike: Use | None) -> str:
    """What a cosine of ``last`` means: beside that of one meaning in two sentences, and of the mean over all words."""
    means = " and ".join(signed(each.mean) for each in near)
    mean = f"with all {near[0].count:,} words of the texts {means} on average" if near[0].count else ""
    if alike is None:
        return f" For comparison: it is, {mean}." if mean else ""
    same = float(cosine_by_state(first.trace, first.token, alike.trace, alike.token)[-1])
    also = f", and {mean}" if mean else ""
    told = f" For comparison: with one meaning in two sentences it is {signed(same)}{also}."
    if abs(same - last) > MARGIN:
        return told
    return (
        f"{told} So here two meanings end about as far apart as two uses of one: the cosine does not tell them apart."
    )


def one_use(use: Use, texts: tuple[str, ...] = ()) -> str:
    """A word that stands in the text once: its neighbours in the table, and after the last layer."""
    table, after = in_table(use.trace, use.token).nearest, after_layers(use.trace, use.token, texts).nearest
    if not table or not after:
        return f"There is no other word to compare {use.word} with."
    return (
        f"In the token table, {_words(table[:_NAMED])} are most like {use.word}. After the last layer, in this "
        f"sentence, {_words(after[:_NAMED])} are. The first list depends on the word alone, the second on what "
        "stands around it, too."
    )


def reordered(trace: Trace, order: Order) -> str:
    """What another order of the tokens does to the outputs without positions and with them, and why."""
    gaps = {name: permutation_gap(trace, order, way) for name, way in ways_to_run(trace).items()}
    config, name = trace.model.config, quoted(trace.model.id)
    if not gaps[WITHOUT].follows:
        if config.causal:
            mask = (
                "Its mask lets a token see only what stands before it, and another order puts other tokens before it: "
                "the mask itself tells where a token stands (Haviv et al. 2022)."
            )
        else:
            mask = (
                f"In a local layer a token sees only {config.window} tokens to either side, and another order puts "
                "other tokens there: the mask itself tells which tokens are near."
            )
        return (
            f"Without positions, the outputs do not simply move with their tokens in {name}. {mask} Take the mask away "
            "as well, and what differs is rounding: the outputs move with their tokens."
        )
    told = (
        "Without positions, **every output moves with its token**; what differs is rounding. **Attention**, the next "
        "lesson, adds up vectors of the tokens, and a sum has no order. Every other step of a layer looks at one token "
        f"alone. So, without positions, {name} cannot tell this order from the first."
    )
    if gaps[WITH].follows:
        return f"{told} With positions, the outputs move with their tokens here, too."
    if NO_MASK in gaps:
        told = f"{told} A local layer hides what is far away, but in this order near tokens stay near."
    turned = trace.model.weights.embeddings.position is None
    where = "how far the vectors of each token are turned" if turned else "the vectors"
    alone = "" if NO_MASK in gaps else ", and nowhere else"
    return f"{told} With positions, the numbers change: the order is in {where}{alone}."


def positions(trace: Trace, length: int, width: int, base: float) -> str:
    """Whether positions that are near have vectors that are alike: learned ones, if there are any, and sinusoids."""
    _, computed, _ = sinusoids_by_distance(length, width, base)
    if trace.model.weights.embeddings.position is None:
        return f"For **sinusoids** the cosine of neighbours is {_by_distance(computed)}"
    _, learned, _ = learned_by_distance(trace, length)
    return (
        f"For the **learned** vectors of {quoted(trace.model.id)} the mean cosine of neighbours is "
        f"{_by_distance(learned)} For **sinusoids** it is {_by_distance(computed)}"
    )


def _by_distance(cosines: Values) -> str:
    """The cosine of neighbours beside the highest of all others, by distance, and whether it falls all the way."""
    near, rest = float(cosines[1]), cosines[2:]
    if not len(rest):
        return f"{signed(near)}."
    next_best = f"the highest is {signed(float(rest.max()))}, {int(rest.argmax()) + 2} apart"
    if near - rest.max() > MARGIN:
        told = f"Neighbours are the most alike: at all other distances {next_best}."
    else:
        told = f"Neighbours stand out little or not at all: at all other distances {next_best}."
    again = float((rest - np.minimum.accumulate(rest)).max()) > MARGIN
    return f"{signed(near)}. {told}{' On the way it falls and rises again.' if again else ''}"


def turned(trace: Trace, tokens: tuple[int, int], count: int, base: float) -> str:
    """How far the cosine of two words differs at one distance: turned, and with vectors added."""
    apart = {}
    for way in rotary.ways(trace):
        least, largest = rotary.by_offset(rotary.cosines(trace, tokens, way, count, base))
        apart[way] = float((largest - least).max())
    others = " and ".join(f"up to **{signed(apart[way])}** with {TITLES[way]}" for way in apart if way != "rotary")
    return (
        "Along a diagonal the two words are equally far apart. Turned, their cosine is the same all along it: at one "
        f"offset, no two values differ by more than **{apart['rotary']:.0e}**, which is rounding. It differs by "
        f"{others}. So what a layer finds when it compares two turned vectors depends on how far apart their tokens "
        "stand, and on which side, not on where they stand."
    )


def _words(found: Sequence[Neighbour]) -> str:
    return _listed([quoted(each.word) for each in found])


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def summed(worked: WorkedDimension, dimension: int) -> str:
    """Which vector gives most to one dimension (from 0) of the sum, and what LayerNorm leaves of it."""
    after = f", and LayerNorm makes {signed(worked.norm.output)} of it" if worked.norm else ""
    if len(worked.summands) == 1:
        return f"In dimension {dimension + 1} the word alone gives {signed(worked.total)}{after}."
    most = max(worked.summands, key=lambda name: abs(worked.summands[name]))
    whom = {"position": ", as to any token in this place", "segment": ", as to every token of its segment"}
    return (
        f"In dimension {dimension + 1} the {most} vector gives most: {signed(worked.summands[most])}"
        f"{whom.get(most, '')}. The sum is {signed(worked.total)}{after}."
    )


def other_segments(trace: Trace, movement: Movement, change: SegmentChange) -> str:
    """How far the last vectors move on average when the segments change, and which moves farthest."""
    last = movement.distance[-1]
    if not last.any():
        return "Nothing moves: every number stays as it was."
    most = int(last.argmax())
    now = ""
    if change == "swapped" and not any(trace.segment_ids):
        now = " Now every token is in segment B, though there is no first text."
    return (
        f"After the last layer, a vector has moved by {float(last.mean()):.2f} of its length on average. The vector of "
        f"{quoted(trace.labels[most])} has moved farthest, by {float(last[most]):.2f}.{now}"
    )
