"""The result of the experiment about explanations, in words chosen by its numbers; and the questions before it."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from lab.analysis.heads.values import Values
from lab.course.words import escaped, signed
from lab.evidence.intervals import mean_interval
from lab.evidence.verdicts import Verdict
from lab.experiments.explanation.agreement import CLAIMS, ROLLED, TELLS, WEAK
from lab.experiments.explanation.figures import LEFT_OUT, NAMES, WHOSE
from lab.experiments.explanation.measure import ExplanationTest, TestedOrderClaim
from lab.experiments.explanation.methods import ATTENTION, AVERAGE, GRADIENT, METHODS, NEAR
from lab.questions.guesses import between
from lab.questions.question import Right, open_question

_EDGES = (0.2, 0.4, 0.6)
# The orders of tokens that a question asks about, with their names on screen.
_ORDERS = {
    ATTENTION: "attention of the last layer",
    AVERAGE: "attention of all layers",
    GRADIENT: "a gradient",
    NEAR: "nearness to the blank",
}
_SAYS = {
    WEAK: "Gradients say more than attention",
    TELLS: "Attention says something beyond nearness",
    ROLLED: "Rollout says more than attention in the upper layers",
}
ASKS = (
    open_question(
        "attention",
        "How similar are the order by attention in the last layer and the order by blanking? (1 is the same order; 0 "
        "is nothing in common.)",
        ("below 0.2", "0.2 to 0.4", "0.4 to 0.6", "above 0.6"),
    ),
    open_question(
        "best",
        "Which of these orders is most similar to the order by blanking? (A gradient says how fast the answer changes "
        "with a word.)",
        tuple(_ORDERS.values()),
    ),
)


def answers(found: ExplanationTest) -> dict[str, Right]:
    """Answer the questions from the result; a question whose interval reaches into two options has no answer."""
    given = {}
    attention = _last(found, ATTENTION)
    low, high = mean_interval(attention).tolist()
    if (option := between((low, high), _EDGES)) is not None:
        why = f"the mean over the texts is {attention.mean():.2f}, and its 95 % interval is {low:.2f} to {high:.2f}."
        given["attention"] = (option, why)
    first, second = sorted(_ORDERS, key=lambda name: -_last(found, name).mean())[:2]
    lead = mean_interval(_last(found, first) - _last(found, second))
    if lead[0] > 0:
        given["best"] = (
            list(_ORDERS).index(first),
            f"its agreement is {signed(_last(found, first).mean())}; next is {_ORDERS[second]} with "
            f"{signed(_last(found, second).mean())}.",
        )
    return given


def _last(found: ExplanationTest, name: str) -> Values:
    """The ρ with leave-one-out in the last layer, (texts,)."""
    return np.asarray(found.own.rho[name][:, -1])


def meaning_of(found: ExplanationTest, model_id: str) -> str:
    """Say how well attention and the plainest baselines agree with leave-one-out, and whether nearness does better."""
    attention, average, near = (float(_last(found, name).mean()) for name in (ATTENTION, AVERAGE, NEAR))
    said = (
        f"In {escaped(model_id)}, the order by attention in the last layer and the order by blanking have a ρ of "
        f"**{signed(attention)}**; with attention averaged over all layers, ρ is {signed(average)}."
    )
    how = "does better" if near > attention else "reaches"
    return f"{said} Simply ranking the tokens by nearness to the blank, without any model, {how}: {signed(near)}."


def verdict_of(found: ExplanationTest) -> str:
    """Name each claim with its verdict."""
    return "\n".join(["", *(f"- {_SAYS[row.claim]}: **{row.judged.verdict.value}**." for row in found.rows)])


def in_full(found: ExplanationTest) -> str:
    """State the interval, compare attention with nearness, with nearness removed, and with the untrained twin."""
    low, high = mean_interval(_last(found, ATTENTION)).tolist()
    ends = f"The 95 % interval of the last layer’s ρ is {signed(low)} to {signed(high)}."
    return " ".join([ends, _beside_nearness(found), _beside_twin(found)])


def _beside_nearness(found: ExplanationTest) -> str:
    near, attention = _last(found, NEAR), _last(found, ATTENTION)
    low, high = mean_interval(attention - near).tolist()
    said = f"Nearness alone reaches {signed(near.mean())}"
    if low > 0:
        said += ", clearly less."
    elif high < 0:
        said += ", clearly more."
    else:
        said += ", which is not clearly different."
    beyond = found.beyond[ATTENTION]
    low, high = mean_interval(beyond).tolist()
    clear = "clearly above 0" if low > 0 else "clearly below 0" if high < 0 else "not clearly different from 0"
    return (
        f"{said} If nearness and rarity are held fixed, {signed(beyond.mean())} of attention’s agreement is left, "
        f"{clear}."
    )


def yardstick_of(found: ExplanationTest) -> str:
    """Say which methods agree most and least, and which method agrees best with leave-one-out."""
    names = [*(NAMES[name] for name in METHODS), LEFT_OUT]
    pairs = {(one, two): float(found.between[one, two]) for one, two in combinations(range(len(names)), 2)}
    (most, high), (least, low) = max(pairs.items(), key=_value), min(pairs.items(), key=_value)
    best = max(range(len(METHODS)), key=lambda at: found.between[at, -1])
    return (
        f"Of all pairs of methods, {names[most[0]]} and {names[most[1]]} agree most ({signed(high)}); "
        f"{names[least[0]]} and {names[least[1]]} agree least ({signed(low)}). The method closest to leave-one-out is "
        f"{names[best]} ({signed(found.between[best, -1])}). A low ρ says that two methods differ, but not which of "
        "them is wrong."
    )


def _value(pair: tuple[tuple[int, int], float]) -> float:
    return pair[1]


def _beside_twin(found: ExplanationTest) -> str:
    twin = found.twin.rho[ATTENTION][:, -1]
    low, high = mean_interval(_last(found, ATTENTION) - twin).tolist()
    clear = "clearly less than" if low > 0 else "clearly more than" if high < 0 else "not clearly different from"
    said = f"In the untrained twin, the ρ of attention is {signed(twin.mean())}, {clear} the trained model’s ρ."
    for row in found.rows:
        if row.judged.verdict is Verdict.ALSO_UNTRAINED:
            claim = CLAIMS[row.claim]
            said += (
                f" {claim.first[0].upper()}{claim.first[1:]}, leads {claim.second} by {signed(row.effect)}; in the "
                f"twin, the lead is {signed(row.twin)}, which is not clearly different. So training may not be the "
                "cause."
            )
    return said


def compared(row: TestedOrderClaim) -> str:
    """Name the authors of the claim, and its two means."""
    claim = CLAIMS[row.claim]
    second = f", against {claim.second} {signed(row.second)}" if row.claim != TELLS else ""
    return f"{WHOSE[row.claim]}: {claim.first} {signed(row.first)}{second}."


def gap_of(found: ExplanationTest) -> str:
    """Say how far the sum of the integrated gradients is from its exact value."""
    gaps = np.abs([text.importance.gap for text in found.texts])
    changes = np.abs([text.importance.change for text in found.texts])
    return (
        "Integrated gradients should add up to the fall of ln P when all tokens are blanked. Their sum misses this "
        f"fall by {np.median(gaps):.4f} nats in the median and {gaps.max():.2f} at most; the median fall is "
        f"{np.median(changes):.2f}."
    )
