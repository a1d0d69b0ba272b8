"""What the result of the experiment about patching says, in words that its numbers choose."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lab.analysis.heads.values import Values
from lab.course.guesses import Answer, Ask
from lab.course.words import escaped, quoted, signed
from lab.experiments.patched import PatchingTest, Row
from lab.experiments.patching import Maps, Patching
from lab.experiments.patching_claims import SUFFICES, carried, early_and_late
from lab.experiments.verdicts import Verdict
from lab.studies.patching.figures import DIRECTION

_PARTS = 4  # options that the layers are shared out to
_EDGES = (0.1, 0.3, 0.6)


def asks(layers: int) -> tuple[Ask, ...]:
    """What is predicted, for a model of so many layers."""
    spans = [f"layer {span[0]}" if len(span) == 1 else f"layers {span[0]} to {span[-1]}" for span in _spans(layers)]
    return (
        Ask(
            "crossing",
            "The residual stream of one token is taken from the clean run. From which layer on does the asked token "
            "bring back more than the subject?",
            tuple(spans),
        ),
        Ask(
            "brought",
            "At the asked token the output of one sublayer is taken from the clean run. Which brings back more: the "
            "best attention or the best feed-forward network?",
            ("attention", "feed-forward network"),
        ),
        Ask(
            "head",
            "Of all single heads at single tokens, how much does the best one bring back?",
            ("less than 10 %", "10 to 30 %", "30 to 60 %", "more than 60 %"),
        ),
        Ask(
            "failed",
            "A gradient foresees what each patch does. Where is it further off?",
            ("in the residual stream", "in single heads"),
        ),
    )


def _spans(layers: int) -> list[list[int]]:
    """The layers, from 1, in at most four spans."""
    return [each.tolist() for each in np.array_split(np.arange(1, layers + 1), min(layers, _PARTS))]


def answers(found: PatchingTest) -> dict[str, Answer]:
    """The answers by half B; what an interval leaves open has none."""
    crossing = crossing_of(found)
    at = next(number for number, span in enumerate(_spans(found.layers)) if crossing in span)
    residual = found.carried[SUFFICES].on_b.residual[crossing]
    told = f"After layer {crossing} the asked token has {signed(residual[found.asked])}, the subject "
    given = {"crossing": Answer(at, f"{told}{signed(residual[found.subject])}.")}
    rows = {row.claim.key: row for row in found.rows}
    for name, key in (("brought", "brought suffices"), ("failed", "failed")):
        row = rows[key]
        if row.low > 0 or row.high < 0:
            told = f"{row.claim.first.capitalize()} {signed(row.first)}, {row.claim.second} {signed(row.second)}."
            given[name] = Answer(int(row.high < 0), told)
    where, best, low, high = best_head(found)
    ends = [int(each) for each in np.searchsorted(_EDGES, (low, high))]
    if ends[0] == ends[1]:
        given["head"] = Answer(ends[0], f"{where}: {best:.0%}, {low:.0%} to {high:.0%} with 95 %.")
    return given


def crossing_of(found: PatchingTest) -> int:
    """The first layer, from 1, after which the asked token's vector suffices for more than the subject's, on B."""
    stream = found.carried[SUFFICES].on_b.residual
    more = stream[1:, found.asked] > stream[1:, found.subject]
    return 1 + int(more.argmax())


def best_head(found: PatchingTest) -> tuple[str, float, float, float]:
    """The head and token that bring back most on A; what it brings back on B, with its interval."""
    means = found.carried[SUFFICES]
    layer, head, token = (int(at) for at in np.unravel_index(int(means.on_a.heads.argmax()), means.on_a.heads.shape))
    where = f"Head {layer + 1}-{head + 1} at the {_token(found, token)}"
    mean, low, high = (float(each.heads[layer, head, token]) for each in (means.on_b, means.low, means.high))
    return where, mean, low, high


def _token(found: PatchingTest, token: int) -> str:
    if token == found.asked:
        return "asked token"
    return escaped(found.tokens[token])


def meaning_of(found: PatchingTest, model_id: str) -> str:
    """How far the claim holds, where the two change over, and what an untrained twin shows as well."""
    pairs = found.half(1)
    gap = float(np.mean([row.clean - row.corrupt for row in pairs]))
    stream, where = found.carried[SUFFICES].on_b.residual, best_head(found)
    crossing = crossing_of(found)
    early, _ = early_and_late(found.layers)
    said = [
        f"In {escaped(model_id)} the deciding word moves the two forms {gap:.2f} logits apart on average. After layer "
        f"{early.start} the subject’s vector alone brings back {stream[early.start, found.subject]:.0%} of that. "
        f"{_elsewhere(found, early.start)}{_crossed(found, crossing)}",
        f"{where[0]}, the best on A, brings back {where[1]:.0%} by itself on B.",
        _held([row for row in found.rows if row.claim.direction]),
    ]
    return " ".join([*said, *_twin(found)])


def _elsewhere(found: PatchingTest, layer: int) -> str:
    """A token that the claim does not speak of, where it has most after this layer."""
    state = found.carried[SUFFICES].on_b.residual[layer]
    most = int(state.argmax())
    if most in (found.subject, found.asked):
        return ""
    return f"Most is in a token that the claim does not speak of: {escaped(found.tokens[most])}, {state[most]:.0%}. "


def _crossed(found: PatchingTest, crossing: int) -> str:
    """Where the asked token takes over; after the last layer it has all by construction."""
    at = min(crossing, found.layers - 1)
    asked, subject = (found.carried[SUFFICES].on_b.residual[at, token] for token in (found.asked, found.subject))
    if crossing == found.layers:
        return (
            f"Before the last layer it still brings back {subject:.0%}, the asked token’s {asked:.0%}; the rest "
            "crosses in the last layer."
        )
    return (
        f"From layer {crossing} on, the asked token’s brings back more than the subject’s ({asked:.0%} against "
        f"{subject:.0%})."
    )


def _held(rows: list[Row]) -> str:
    held = [row for row in rows if row.judged.verdict is Verdict.SAME]
    if len(held) == len(rows):
        return f"All {len(rows)} claims about places come out in the paper’s direction."
    failed = _named([row for row in rows if row not in held])
    return f"**{len(held)} of {len(rows)}** claims about places come out in the paper’s direction; not: {failed}."


def _twin(found: PatchingTest) -> list[str]:
    """Which effects an untrained model has as well: those are the architecture’s."""
    if not len(found.twin):
        return []
    located = [row for row in found.rows if row.claim.direction and row.twin is not None]
    alike = [row for row in located if row.twin is not None and row.twin >= max(row.effect, 0.0)]
    if not alike:
        return ["In the untrained twin every effect is smaller, or goes the other way."]
    return [f"The untrained twin shows as much or more of {_named(alike)}: training is not needed for that."]


def _named(rows: list[Row]) -> str:
    """Claims with their directions, each claim once."""
    directions: dict[str, list[str]] = {}
    for row in rows:
        directions.setdefault(row.claim.says, []).append(row.claim.direction)
    return ", ".join(f"“{says}” ({', '.join(ways)})" for says, ways in directions.items())


def own_meaning(found: Patching, labels: tuple[str, ...], asked: int, way: str) -> str:
    """What one pair shows: which token's vector carries most after the first layer, and from where on another does."""
    maps: Maps = carried(found)[DIRECTION[way]]
    stream, does = maps.residual, "brings back" if DIRECTION[way] == SUFFICES else "costs"
    first, there = int(stream[1].argmax()), stream[1:].argmax(axis=1) == asked
    layer, head, token = (int(at) for at in np.unravel_index(int(maps.heads.argmax()), maps.heads.shape))
    return (
        f"After layer 1, {quoted(labels[first])} alone {does} most: {stream[1, first]:.0%} of the difference. "
        f"{_taken_over(there)} Of single heads, {layer + 1}-{head + 1} at {quoted(labels[token])} {does} most, "
        f"{maps.heads[layer, head, token]:.0%}."
    )


def _taken_over(there: NDArray[np.bool_]) -> str:
    """From which layer on the asked token has most; ``there`` says it of each layer from the first."""
    since = len(there) - int(np.cumprod(there[::-1]).sum()) + 1
    if since >= len(there):
        return "Only after the last layer, where it must, the asked token has most."
    return f"From layer {since} on it is the asked token."


def added_up(heads: Values, ffn: Values, embedded: float, biases: float) -> str:
    """The contributions of one pair and their sum."""
    total = float(heads.sum() + ffn.sum()) + embedded + biases
    return (
        f"Heads {signed(float(heads.sum()), plus=True)}, feed-forward networks {signed(float(ffn.sum()), plus=True)}, "
        f"embeddings {signed(embedded, plus=True)}, biases {signed(biases, plus=True)}: together "
        f"**{signed(total, plus=True)}**, the difference of the two logits in the clean sentence."
    )
