"""What the result of the experiment about patching says, in words that its numbers choose."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lab.analysis.heads.values import Values
from lab.course.words import escaped, quoted, signed
from lab.evidence.patching.claims import FAILED, SUFFICES, carried
from lab.evidence.patching.patches import Maps, Patching
from lab.evidence.patching.path import Relay
from lab.evidence.patching.result import PatchingRow, PatchingTest
from lab.evidence.verdicts import HOLDS, Verdict
from lab.experiments.patching.figures import DIRECTION
from lab.questions.guesses import between
from lab.questions.question import Question, Right, open_question

_PARTS = 4  # options that the layers are shared out to
_EDGES = (0.1, 0.3, 0.6)


def asks(layers: int) -> tuple[Question, ...]:
    """What is predicted, for a model of so many layers."""
    spans = [f"layer {span[0]}" if len(span) == 1 else f"layers {span[0]} to {span[-1]}" for span in _spans(layers)]
    return (
        open_question(
            "crossing",
            "The residual stream of one token is taken from the clean run. From which layer on does the asked token "
            "bring back more than the subject?",
            tuple(spans),
        ),
        open_question(
            "relay",
            "At the asked token the best attention output is taken from the clean run. Then again, while one "
            "feed-forward network above it writes what it wrote in the corrupt run. How much is left of what the "
            "attention brought back?",
            ("nearly all", "about half", "less than a third"),
        ),
        open_question(
            "head",
            "Of all single heads at single tokens, how much does the best one bring back?",
            ("less than 10 %", "10 to 30 %", "30 to 60 %", "more than 60 %"),
        ),
        open_question(
            "failed",
            "A gradient foresees what each patch does. Where is it further off?",
            ("in the residual stream", "in single heads"),
        ),
    )


def _spans(layers: int) -> list[list[int]]:
    """The layers, from 1, in at most four spans."""
    return [each.tolist() for each in np.array_split(np.arange(1, layers + 1), min(layers, _PARTS))]


def answers(found: PatchingTest) -> dict[str, Right]:
    """The answers by half B; what an interval leaves open has none."""
    crossing = found.crosses(SUFFICES)
    at = next(number for number, span in enumerate(_spans(found.layers)) if crossing in span)
    residual = found.carried[SUFFICES].on_b.residual[crossing]
    told = f"After layer {crossing} the asked token has {signed(residual[found.asked])}, the subject "
    given = {"crossing": (at, f"{told}{signed(residual[found.subject])}.")}
    row = next(row for row in found.rows if row.claim.id == FAILED)
    if row.low > 0 or row.high < 0:
        told = f"{row.claim.first.capitalize()} {signed(row.first)}, {row.claim.second} {signed(row.second)}."
        given["failed"] = (int(row.high < 0), told)
    if (relay := _relay_answer(found.relays[SUFFICES])) is not None:
        given["relay"] = relay
    where, best, low, high = best_head(found)
    if (option := between((low, high), _EDGES)) is not None:
        given["head"] = (option, f"{where}: {best:.0%}, {low:.0%} to {high:.0%} with 95 %.")
    return given


def _relay_answer(relay: Relay) -> Right | None:
    """How much is left with the network held that costs most; None where the interval leaves it open."""
    at = 1 + relay.most - relay.layer
    left = between((relay.low[at] / relay.alone, relay.high[at] / relay.alone), (1 / 3, 2 / 3))
    if relay.alone <= 0 or left is None:
        return None
    why = (
        f"The attention of layer {relay.layer + 1} brings back {relay.alone:.0%}; with the network of layer "
        f"{relay.most + 1} held, {relay.held(relay.most):.0%}."
    )
    return (2 - left, why)


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
    """Where the subject's number is kept up to which layer, and what brings it to the asked token."""
    crossing = found.crosses(SUFFICES)
    asked, subject = (found.carried[SUFFICES].on_b.residual[crossing, token] for token in (found.asked, found.subject))
    name = escaped(model_id)
    if crossing == found.layers:
        return (
            f"In {name} the subject’s vector brings back more than the asked token’s in every layer but the last, "
            f"where the asked token has all of it by the way a transformer is built. {relay_of(found)}"
        )
    return (
        f"Up to layer {crossing - 1} of {name} the subject’s vector alone brings back more; from layer {crossing} on "
        f"it is the asked token’s ({asked:.0%}, against {subject:.0%}). {relay_of(found)}"
    )


def relay_of(found: PatchingTest) -> str:
    """What the attention brings to the asked token, and which network works on it there."""
    relay = found.relays[SUFFICES]
    layer, most, held = relay.layer + 1, relay.most + 1, relay.held(relay.most)
    said = f"Attention in layer {layer} brings it there: alone it brings back {relay.alone:.0%}"
    if relay.alone > 0 and held < relay.alone / 2:
        return (
            f"{said}, but {held:.0%} when the feed-forward network of layer {most} is held. So the two work together: "
            "attention brings the number, the network turns it into the word."
        )
    return f"{said}, and {held:.0%} when the feed-forward network of layer {most} is held."


def in_full(found: PatchingTest) -> str:
    """How far the runs are apart, what the claims do not speak of, the best head, and the verdicts in words."""
    gap = float(np.mean([row.clean - row.corrupt for row in found.half(1)]))
    stream, where = found.carried[SUFFICES].on_b.residual, best_head(found)
    said = [
        f"The deciding word moves the two forms {gap:.2f} logits apart on average. After layer 1 the subject’s vector "
        f"alone brings back {stream[1, found.subject]:.0%} of that.",
        _elsewhere(found, 1),
        f"{where[0]}, the best on A, brings back {where[1]:.0%} by itself on B.",
        _held([row for row in found.rows if row.claim.direction]),
        _untrained(found.rows),
    ]
    return " ".join(part for part in said if part)


def _elsewhere(found: PatchingTest, layer: int) -> str:
    """A token that the claim does not speak of, where it has most after this layer."""
    state = found.carried[SUFFICES].on_b.residual[layer]
    most = int(state.argmax())
    if most in (found.subject, found.asked):
        return ""
    return f"Most is in a token that the claim does not speak of: {escaped(found.tokens[most])}, {state[most]:.0%}."


def _held(rows: list[PatchingRow]) -> str:
    held = [row for row in rows if row.judged.verdict in HOLDS]
    if len(held) == len(rows):
        return f"All {len(rows)} claims about places come out in the paper’s direction."
    failed = _named([row for row in rows if row not in held])
    return f"**{len(held)} of {len(rows)}** claims about places come out in the paper’s direction; not: {failed}."


def _untrained(rows: Sequence[PatchingRow]) -> str:
    """The effects that are not clearly larger than in an untrained model: those may be the architecture's."""
    alike = [row for row in rows if row.judged.verdict is Verdict.ALSO_UNTRAINED]
    if not alike:
        return ""
    return (
        f"Not clearly more than in the untrained twin: {_named(alike)}. There training is not shown to be the reason."
    )


def _named(rows: Sequence[PatchingRow]) -> str:
    """Claims with their directions, each claim once."""
    directions: dict[str, list[str]] = {}
    for row in rows:
        directions.setdefault(row.claim.says, []).append(row.claim.direction)
    return ", ".join(f"“{says}”" + f" ({', '.join(ways)})" * any(ways) for says, ways in directions.items())


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
