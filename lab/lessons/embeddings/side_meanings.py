"""What the figures of the steps beside the way mean, in sentences that the learner's numbers choose."""

from __future__ import annotations

import numpy as np

from lab.analysis.layers.embeddings import Movement, SegmentChange, WorkedDimension, lengths, parts
from lab.analysis.layers.positions import (
    Measure,
    learned_similarity,
    shift_matrix,
    sinusoid_similarity,
    sinusoids,
    wavelengths,
)
from lab.course.words import quoted, signed
from lab.models.trace import Trace
from lab.questions.question import MARGIN

# Two lengths whose quotient is closer to 1 than that are about the same.
_SAME = 0.05


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


def longer(trace: Trace, token: int) -> str:
    """Whether a token starts out more as its word or more as its place, and how many tokens do so."""
    sizes, it = lengths(parts(trace)), quoted(trace.labels[token])
    if "position" not in sizes:
        return f"Nothing is added here, so {it} starts out as its word alone."
    word, place = sizes["token"], sizes["position"]
    many = int((word > place).sum())
    own, other = float(word[token]), float(place[token])
    if abs(own / other - 1) < _SAME:
        told = f"The word ({own:.2f}) and the place ({other:.2f}) are about equally long: {it} starts out as both."
    else:
        first, second = ("word", "place") if own > other else ("place", "word")
        told = (
            f"The vector of the {first} ({max(own, other):.2f}) is longer than that of the {second} "
            f"({min(own, other):.2f}): {it} starts out more as its {first}."
        )
    return f"{told} The word is the longer of the two in {many} of {len(word)} tokens."


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
        f"After the last layer, a vector has moved by {float(last.mean()):.2f} of its length on average, and that of "
        f"{quoted(trace.labels[most])} farthest: by {float(last[most]):.2f}.{now}"
    )


def alike_by_distance(trace: Trace, length: int, width: int, base: float, measure: Measure) -> str:
    """Whether what two positions have in common depends on their distance alone: sinusoids, and learned rows."""
    least, _, most = sinusoid_similarity(length, width, base, measure)[1]
    told = (
        f"Among sinusoids the {measure} depends on the distance alone: at one distance, no two values differ by more "
        f"than {float((most - least).max()):.0e}, which is rounding."
    )
    if trace.model.weights.embeddings.position is None:
        return told
    least, mean, most = learned_similarity(trace, length, measure)[1]
    apart, far = float((most - least).max()), len(mean) // 2
    on = "on where they stand, too" if apart > MARGIN else "hardly on anything else, either"
    return (
        f"{told} Among the learned vectors it depends {on}: at one distance, values are up to {signed(apart)} apart. "
        f"Their mean is {signed(float(mean[1]))} between neighbours and {signed(float(mean[far]))} at the distance "
        f"{far}."
    )


def turns(length: int, width: int, base: float) -> str:
    """How many pairs of dimensions go round at least once over the positions on screen."""
    waves = wavelengths(width, base)
    round_ = int((waves <= length).sum())
    return (
        f"Over {length} positions, {round_} of the {len(waves)} pairs turn round at least once. The first needs "
        f"{waves[0]:.2f} positions for a turn, the last {waves[-1]:,.2f}. The fast pairs change most from place to "
        "place, the slow ones hardly."
    )


def one_matrix(length: int, shift: int, width: int, base: float) -> str:
    """Whether one matrix leads from every position to the one ``shift`` further, beside that of another shift."""
    right, wrong = (shift_errors(length, shift, of, width, base) for of in (shift, shift + 1))
    return (
        f"Yes: one matrix leads from each of {length} positions to the one {shift} further. It misses by no more than "
        f"{right:.0e}, which is rounding. As a test, the matrix for {shift + 1} misses by up to {wrong:.2f}."
    )


def shift_errors(length: int, shift: int, of: int, width: int, base: float) -> float:
    """How far the matrix for a shift ``of`` is at most from leading every position ``shift`` further."""
    rows = sinusoids(np.arange(length), width, base)
    moved = sinusoids(np.arange(length) + shift, width, base)
    return float(np.abs(rows @ shift_matrix(of, width, base).T - moved).max())
