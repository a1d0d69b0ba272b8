"""Predictions and checks of the embeddings lesson, computed from the learner's own trace.

Tokens and dimensions count from 1 in what is asked, positions of the sinusoids from 0, as in the paper.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lab.analysis.layers.embeddings import SUMMANDS, Array, Gap, Movement, Order, Values, WorkedDimension
from lab.analysis.layers.positions import similarity, sinusoids, wavelengths
from lab.course.words import named, quoted
from lab.models.config import ModelConfig
from lab.models.encoding import Encoding
from lab.models.trace import Trace
from lab.questions.kinds import Quantity, numeric, which_holds
from lab.questions.question import MARGIN, Option, Question, shuffled

# A hidden state that moved by less than this share of its length has not moved for the eye.
_MOVED = 1e-3


def same_word(trace: Trace, vectors: Mapping[str, Array]) -> Question | None:
    """A token that stands in the text twice: which of its vectors are equal?"""
    twice = _twice(trace.encoding)
    if twice is None:
        return None
    first, second = twice
    token_id, here = trace.token_ids[first], [name for name in SUMMANDS if name in vectors]
    apart = float(np.abs(vectors["sum"][first] - vectors["sum"][second]).max())
    equal = [name for name in here if np.array_equal(vectors[name][first], vectors[name][second])]
    if "token" not in equal or apart < 1e-6:
        return None
    why = (
        f"Both look up row {token_id} of the token table, but tokens {first + 1} and {second + 1} stand at two "
        f"positions with two vectors: the sums differ by up to {apart:.3f}."
    )
    options = (
        Option("Their token vectors are equal, their sums differ", why, correct=True),
        Option("All their vectors are equal: it is the same word", why),
        Option("None of their vectors is equal: no two positions are alike", why),
    )
    prompt = (
        f"{quoted(trace.labels[first])} is token {first + 1} and token {second + 1}. Which of their vectors are equal?"
    )
    return shuffled("same-word", prompt, options)


def _twice(encoding: Encoding) -> tuple[int, int] | None:
    """The first two places of a token that occurs again; special tokens only where nothing else does."""
    for special in (False, True):
        seen: dict[int, int] = {}
        for place, token_id in enumerate(encoding.token_ids):
            if encoding.special[place] != special:
                continue
            if token_id in seen:
                return seen[token_id], place
            seen[token_id] = place
    return None


def first_text_too(movement: Movement, encoding: Encoding) -> Question | None:
    """Every segment id becomes 0: which outputs change? The first text's ids do not."""
    own = np.array(encoding.segment_ids)
    if not own.any() or own.all():
        return None
    last = movement.distance[-1]
    first, second = float(last[own == 0].mean()), float(last[own == 1].mean())
    moved = (first > _MOVED, second > _MOVED)
    numbers = f"Those of segment A move by {first:.3f} of their length on average, those of segment B by {second:.3f}."
    options = (
        Option("Those of both segments", f"{numbers} Attention carries the change over.", correct=all(moved)),
        Option("Only those of segment B, whose ids change", numbers, correct=moved == (False, True)),
        Option("None", numbers, correct=not any(moved)),
    )
    if sum(option.correct for option in options) != 1:
        return None
    return Question("first-text-too", "Every segment id becomes 0. Which tokens’ outputs change?", options)


def same_distance(width: int, base: float, first: int = 3) -> Question | None:
    """Which pair of positions has the same dot product as ``first``, from 1, and the one 5 after it?"""
    second = first + 5
    dot = similarity(sinusoids(np.arange(first + 16), width, base), "dot product")
    pairs = ((first + 10, second + 10), (first, second + 10), (0, second), (first, first + 3))
    values = [float(dot[pair]) for pair in pairs]
    others = [i for i in range(1, 4) if abs(values[i] - values[0]) > MARGIN * width / 2]
    if len(others) < 2:
        return None
    told = (f"they are 5 apart, as {first} and {second} are.", *(f"they are {q - p} apart." for p, q in pairs[1:]))
    options = [
        Option(
            f"{pairs[i][0]} and {pairs[i][1]}",
            f"Their dot product is {values[i]:.3f}, that of {first} and {second} {float(dot[first, second]):.3f}: "
            f"{told[i]}",
            correct=i == 0,
        )
        for i in (0, *others)
    ]
    these = f"The sinusoids of positions {first} and {second} have a dot product."
    return shuffled("same-distance", f"{these} Which other two positions have the same?", options)


def moved_together(pairs: Values, query: str, key: str) -> Question | None:
    """Both words move on by as many places: what becomes of their cosine? ``pairs`` (P, P) are those turned."""
    if len(pairs) < 8:
        return None
    places = ((0, 2), (5, 7), (0, 7))
    values = [float(pairs[pair]) for pair in places]
    why = (
        f"At positions 0 and 2 the cosine is {values[0]:.3f}, at 5 and 7 it is {values[1]:.3f}: they are 2 apart each "
        f"time. At 0 and 7, which are 7 apart, it is {values[2]:.3f}."
    )
    options = (
        Option("It stays the same", why, correct=abs(values[1] - values[0]) < MARGIN),
        Option("It becomes another number", why, correct=abs(values[1] - values[0]) >= MARGIN),
    )
    prompt = (
        f"{query} stands at position 0 and {key} at position 2; both are turned, and compared. Now both move on by 5 "
        "places. What becomes of their cosine?"
    )
    return Question("moved-together", prompt, options)


def turns_fastest(width: int, base: float) -> Question:
    """Do low or high dimensions turn fast?"""
    waves = wavelengths(width, base)
    why = (
        f"Dimensions 1 and 2 go up and down once in {waves[0]:.2f} positions, dimensions {width - 1} and {width} once "
        f"in {waves[-1]:,.2f}."
    )
    prompt = "Which dimensions of the sinusoids go up and down fastest from position to position?"
    outcomes = {"The first": True, "The last": False, "All equally fast": False}
    return which_holds("turns-fastest", prompt, why, outcomes)


def after_reordering(order: Order, gap: Gap, added: bool = True) -> Question:
    """Positions are gone and the tokens stand in another order: what becomes of the outputs?

    ``added`` says that positions are vectors that are added; else they turn queries and keys.
    Only for an order in which other tokens stand at some places: else outputs that move and outputs that stay
    are alike.
    """
    apart = f"{float(gap.layers[-1]):.2g}"
    rounding = ", which is rounding" if gap.follows else ""
    why = f"Compare each token at its old and at its new place: the largest difference is {apart}{rounding}."
    outcomes = {
        "Each token keeps its output, at its new place": gap.follows,
        "Every place keeps its output, whatever stands there now": False,
        "The outputs become other numbers": not gap.follows,
    }
    gone = "All position vectors are set to 0" if added else "No vector is turned"
    prompt = f"{gone}, and the tokens are {order}. What becomes of the outputs?"
    return which_holds("after-reordering", prompt, why, outcomes)


def added_up(trace: Trace, token: int, dimension: int, worked: WorkedDimension) -> Question | None:
    """The sum of one dimension, from its summands. None where nothing is added, as in ModernBERT."""
    summands = list(worked.summands.values())
    if len(summands) < 2:
        return None
    listed = ", ".join(f"{name} {value:.3f}" for name, value in worked.summands.items())
    wrong = {
        summands[0] + sum(summands[2:]): "The position vector was left out.",
        worked.total / len(summands): f"This is the mean; the {len(summands)} numbers are added, not averaged.",
        float(np.prod(summands)): "This is their product; the vectors are added.",
        sum(abs(value) for value in summands): "The signs were dropped.",
        -worked.total: "The sign is wrong.",
    }
    prompt = (
        f"In dimension {dimension + 1}, {named(trace, token)} has {listed}. What stands there in the sum? "
        "Three decimals, so the last one may be off by a rounding."
    )
    right = (worked.total, f"{' + '.join(f'({value:.3f})' for value in summands)} = {worked.total:.3f}.")
    return numeric("added-up", prompt, right, wrong, Quantity("{:.3f}".format))


def normalized(trace: Trace, token: int, dimension: int, worked: WorkedDimension) -> Question | None:
    """LayerNorm of one number, γ and β included. None in GPT-2, which has no LayerNorm here."""
    norm = worked.norm
    if norm is None:
        return None
    wrong = {
        norm.normalized: "This is before γ and β.",
        norm.gamma * worked.total / norm.deviation + norm.beta: "The mean was not taken away.",
        norm.gamma * (worked.total - norm.mean) / norm.deviation**2 + norm.beta: "This divides by the variance, not "
        "by its root.",
        norm.gamma * (worked.total - norm.mean) + norm.beta: "The division by the deviation was left out.",
    }
    prompt = (
        f"The sum of {named(trace, token)} has {worked.total:.3f} in dimension {dimension + 1}. Over all dimensions "
        f"its mean is {norm.mean:.3f} and its deviation {norm.deviation:.3f}. Here γ = {norm.gamma:.3f} and "
        f"β = {norm.beta:.3f}. What does LayerNorm make of it?"
    )
    why = f"γ · (sum − mean) ÷ deviation + β = {norm.gamma:.3f} · {norm.normalized:.3f} + ({norm.beta:.3f})."
    return numeric("normalized", prompt, (norm.output, why), wrong, Quantity("{:.2f}".format))


def learned_numbers(config: ModelConfig, rows: int, width: int, n: int) -> Question | None:
    """How large is the position table?"""
    wrong: dict[float, str] = {
        float(n * width): f"{n} × {width}: the rows that this text looks up. The table has one for every place.",
        config.vocabulary * width: f"{config.vocabulary:,} × {width}: this is the token table.",
        rows: f"This counts one number for each position; each row has {width}.",
    }
    prompt = (
        f"The position table has {rows:,} rows, the token table {config.vocabulary:,}, and vectors have {width} "
        "numbers. How many numbers does the position table hold?"
    )
    right = (
        float(rows * width),
        f"{rows:,} × {width}. Sinusoids come out of a formula: nothing is stored, nothing learned.",
    )
    return numeric("learned-numbers", prompt, right, wrong, Quantity("{:,.0f}".format))
