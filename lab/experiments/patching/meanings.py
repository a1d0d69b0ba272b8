"""The result of the experiment about patching, in words chosen by its numbers; and the questions before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lab.analysis.heads.values import Values
from lab.course.heads import head_name
from lab.course.words import escaped, quoted, signed
from lab.evidence.verdicts import HOLDS, Verdict
from lab.experiments.patching.claims import NEEDED, SUFFICES, carried
from lab.experiments.patching.figures import DIRECTION
from lab.experiments.patching.measure import PatchingRow, PatchingTest
from lab.experiments.patching.patches import Maps, Patching
from lab.models.interventions import Head
from lab.questions.guesses import between
from lab.questions.question import Question, Right, open_question

_WAYS = {SUFFICES: "what suffices", NEEDED: "what is needed"}
_PARTS = 4  # number of options among which the layers are divided
_EDGES = (0.1, 0.3, 0.6)


@dataclass(frozen=True)
class PatchedHead:
    """The head and token that recover most on half A, with the share that they recover on half B, and its interval."""

    head: Head
    token: int
    share: float
    low: float
    high: float


def asks(layers: int) -> tuple[Question, ...]:
    """Ask where grammatical number is kept, and how much one head carries, in a model with this number of layers."""
    spans = [f"layer {span[0]}" if len(span) == 1 else f"layers {span[0]} to {span[-1]}" for span in _spans(layers)]
    return (
        open_question(
            "crossing",
            "Patching the subject’s vector recovers much of the difference, and so does patching the vector at the "
            "place of the answer. From which layer on does that place recover more?",
            tuple(spans),
        ),
        open_question(
            "head",
            "Now we patch only one head’s output at one token. How much of the difference does the best head recover?",
            ("less than 10 %", "10 to 30 %", "30 to 60 %", "more than 60 %"),
        ),
    )


def _spans(layers: int) -> list[list[int]]:
    """The layers, from 1, divided into at most four spans."""
    return [each.tolist() for each in np.array_split(np.arange(1, layers + 1), min(layers, _PARTS))]


def answers(found: PatchingTest) -> dict[str, Right]:
    """Answer the questions from half B; a question that an interval leaves open has no answer."""
    crossing = found.crosses(SUFFICES)
    at = next(number for number, span in enumerate(_spans(found.layers)) if crossing in span)
    residual = found.carried[SUFFICES].on_b.residual[crossing]
    told = f"there the asked token recovers {residual[found.asked]:.0%}, the subject {residual[found.subject]:.0%}."
    given = {"crossing": (at, told)}
    best = best_head(found)
    if (option := between((best.low, best.high), _EDGES)) is not None:
        where = f"{head_name(best.head)} at the {_token(found, best.token)}"
        given["head"] = (
            option,
            f"{where} recovers {best.share:.0%} (95 % interval: {best.low:.0%} to {best.high:.0%}).",
        )
    return given


def best_head(found: PatchingTest) -> PatchedHead:
    """Find the head and token that recover most on half A, and the share that they recover on half B."""
    means = found.carried[SUFFICES]
    layer, head, token = (int(at) for at in np.unravel_index(int(means.on_a.heads.argmax()), means.on_a.heads.shape))
    mean, low, high = (float(each.heads[layer, head, token]) for each in (means.on_b, means.low, means.high))
    return PatchedHead((layer, head), token, mean, low, high)


def _token(found: PatchingTest, token: int) -> str:
    if token == found.asked:
        return "asked token"
    return escaped(found.tokens[token])


def meaning_of(found: PatchingTest, model_id: str) -> str:
    """Say up to which layer the subject has the grammatical number, which part moves it on, and one head's share."""
    crossing = found.crosses(SUFFICES)
    asked, subject = (found.carried[SUFFICES].on_b.residual[crossing, token] for token in (found.asked, found.subject))
    name, best, relay = escaped(model_id), best_head(found), found.relays[SUFFICES]
    if crossing == found.layers:
        said = (
            f"In {name} the subject’s vector recovers more than the asked token’s in every layer but the last, where "
            "the asked token recovers everything by construction."
        )
    else:
        said = (
            f"Up to layer {crossing - 1} of {name} the subject’s vector alone recovers more; from layer {crossing} on, "
            f"the asked token’s vector does ({asked:.0%} against {subject:.0%})."
        )
    return (
        f"{said} Attention in layer {relay.layer + 1} brings the number to the asked token: alone it recovers "
        f"{relay.alone:.0%}. The best single head, {head_name(best.head)} at the {_token(found, best.token)}, recovers "
        f"{best.share:.0%}."
    )


def verdict_of(found: PatchingTest) -> str:
    """Name each claim about places with its verdict, both directions together if they agree."""
    verdicts: dict[str, dict[str, str]] = {}
    for row in found.rows:
        if row.claim.direction:
            verdicts.setdefault(row.claim.says, {})[row.claim.direction] = row.judged.verdict.value
    lines = [f"- {says}: {_both(ways)}." for says, ways in verdicts.items()]
    untrained = any(Verdict.ALSO_UNTRAINED.value in line for line in lines)
    return "\n".join(["**Also untrained**: the same happens with random weights.\n" * untrained, *lines])


def _both(ways: Mapping[str, str]) -> str:
    """Name one verdict if both directions agree, otherwise each verdict with its direction."""
    if len({*ways.values()}) == 1:
        return f"**{next(iter(ways.values()))}**"
    return ", ".join(f"**{verdict}** ({_WAYS[way]})" for way, verdict in ways.items())


def relay_of(found: PatchingTest) -> str:
    """Say how much attention brings to the asked token, and which feed-forward network uses it there."""
    relay = found.relays[SUFFICES]
    most, held = relay.most + 1, relay.held(relay.most)
    said = f"Attention in layer {relay.layer + 1} alone recovers {relay.alone:.0%}"
    if relay.alone > 0 and held < relay.alone / 2:
        return (
            f"{said}, but only {held:.0%} when the feed-forward network of layer {most} is held fixed. So the two work "
            "together: attention brings the number, and the network turns it into the word."
        )
    return f"{said}, and {held:.0%} when the feed-forward network of layer {most} is held fixed."


def in_full(found: PatchingTest) -> str:
    """State how far the runs are apart, findings beyond the claims, the role of the network, and the verdicts."""
    gap = float(np.mean([row.clean - row.corrupt for row in found.half(1)]))
    stream = found.carried[SUFFICES].on_b.residual
    said = [
        f"The deciding word changes the difference of the two logits by {gap:.2f} on average. After layer 1, the "
        f"subject’s vector alone recovers {stream[1, found.subject]:.0%} of this change.",
        _elsewhere(found, 1),
        relay_of(found),
        _held([row for row in found.rows if row.claim.direction]),
        _untrained(found.rows),
    ]
    return " ".join(part for part in said if part)


def _elsewhere(found: PatchingTest, layer: int) -> str:
    """Name the token that recovers most after this layer, if the claim does not name that token."""
    state = found.carried[SUFFICES].on_b.residual[layer]
    most = int(state.argmax())
    if most in (found.subject, found.asked):
        return ""
    return f"A token that the claim does not name recovers the most: {escaped(found.tokens[most])}, {state[most]:.0%}."


def _held(rows: list[PatchingRow]) -> str:
    held = [row for row in rows if row.judged.verdict in HOLDS]
    if len(held) == len(rows):
        return f"All {len(rows)} claims about places come out in the paper’s direction."
    failed = _named([row for row in rows if row not in held])
    return (
        f"**{len(held)} of {len(rows)}** claims about places come out in the paper’s direction; the others do not: "
        f"{failed}."
    )


def _untrained(rows: Sequence[PatchingRow]) -> str:
    """Name the effects that are not clearly larger than in an untrained model: the architecture may cause them."""
    alike = [row for row in rows if row.judged.verdict is Verdict.ALSO_UNTRAINED]
    if not alike:
        return ""
    return (
        f"Some effects are not clearly larger than in the untrained twin: {_named(alike)}. So training may not be "
        "their cause."
    )


def _named(rows: Sequence[PatchingRow]) -> str:
    """List claims with their directions, each claim once."""
    directions: dict[str, list[str]] = {}
    for row in rows:
        directions.setdefault(row.claim.says, []).append(row.claim.direction)
    return ", ".join(f"“{says}”" + f" ({', '.join(ways)})" * any(ways) for says, ways in directions.items())


def own_meaning(found: Patching, labels: tuple[str, ...], asked: int, way: str) -> str:
    """Name the token of one pair that carries most after layer 1, and the layer from which the asked one does."""
    maps: Maps = carried(found)[DIRECTION[way]]
    stream, does = maps.residual, "recovers" if DIRECTION[way] == SUFFICES else "costs"
    first, there = int(stream[1].argmax()), stream[1:].argmax(axis=1) == asked
    layer, head, token = (int(at) for at in np.unravel_index(int(maps.heads.argmax()), maps.heads.shape))
    return (
        f"After layer 1, {quoted(labels[first])} alone {does} the most: {stream[1, first]:.0%} of the difference. "
        f"{_taken_over(there)} Of the single heads, {layer + 1}-{head + 1} at {quoted(labels[token])} {does} the most: "
        f"{maps.heads[layer, head, token]:.0%}."
    )


def _taken_over(there: NDArray[np.bool_]) -> str:
    """Say from which layer on the asked token recovers most; ``there`` is True for each layer after which it does."""
    since = len(there) - int(np.cumprod(there[::-1]).sum()) + 1
    if since >= len(there):
        return "The asked token recovers the most only after the last layer, where it must do so by construction."
    return f"From layer {since} on, the asked token recovers the most."


def added_up(heads: Values, ffn: Values, embedded: float, biases: float) -> str:
    """Add up the contributions of one pair."""
    total = float(heads.sum() + ffn.sum()) + embedded + biases
    return (
        f"Heads {signed(float(heads.sum()), plus=True)}, feed-forward networks {signed(float(ffn.sum()), plus=True)}, "
        f"embeddings {signed(embedded, plus=True)}, biases {signed(biases, plus=True)}: together "
        f"**{signed(total, plus=True)}**, the difference between the two logits in the clean sentence."
    )
