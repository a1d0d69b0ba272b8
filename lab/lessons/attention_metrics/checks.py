"""Predictions and checks of the attention-metrics lesson, computed from the learner's own trace."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from lab.analysis.heads.metrics import Cells
from lab.analysis.heads.values import Values
from lab.course.words import capital, head_name, signed
from lab.models.interventions import Head
from lab.questions.kinds import Quantity, numeric, ranked, which_holds
from lab.questions.question import MARGIN, Option, Question, shuffled

_BLUR = 0.1  # share of a border: a value that is nearer to the border is on neither side visibly


def at_how_many(token: str, keys: float, seen: int) -> Question | None:
    """Ask at how many of the tokens that it sees a token looks, in effect; None if the answer is not clear."""
    few, half = 2.5, seen / 2
    if seen < 6 or min(abs(keys - border) / border for border in (few, half)) < _BLUR:
        return None
    why = f"It looks at {keys:.1f} of {seen} tokens, in effect."
    outcomes = {
        "One or two": keys < few,
        "A few, but less than half of them": few < keys < half,
        "More than half of them": keys > half,
    }
    return which_holds("at-how-many", f"At how many of the {seen} tokens does {token} look, in effect?", why, outcomes)


def looks_at_more(heads: Sequence[Head], keys: Sequence[float]) -> Question | None:
    """Ask which of two heads looks at more words; ``keys`` are the means over their rows."""
    if abs(keys[0] - keys[1]) < _BLUR * max(keys):
        return None
    why = " and ".join(f"{name[0].lower()}{name[1:]} at {value:.1f}" for name, value in _named(heads, keys))
    outcomes = {name: value == max(keys) for name, value in _named(heads, keys)}
    prompt = "Which of these two heads looks at more tokens?"
    return which_holds("looks-at-more", prompt, f"On average, {why}.", outcomes)


def _named(heads: Sequence[Head], values: Sequence[float]) -> list[tuple[str, float]]:
    return [(capital(head_name(head)), value) for head, value in zip(heads, values, strict=True)]


def one_word_more(keys: float, largest: float) -> Question | None:
    """Ask how the width of a row changes if its largest weight grows: the row gets narrower."""
    if largest > 0.9 or keys < 1.5:
        return None
    why = "If one weight grows, the others must shrink. If one word got everything, the row would look at 1 word."
    outcomes = {"At fewer words": True, "At more words": False, "At the same number of words": False}
    prompt = (
        f"A row looks at {keys:.1f} words, in effect, and its largest weight is {largest:.2f}. Now this weight grows, "
        "and all other weights shrink alike. At how many words does the row look then?"
    )
    return which_holds("one-word-more", prompt, why, outcomes, mixed=True)


def goes_together(rho: float, band: float) -> Question | None:
    """Ask if heads that park more matter less; ``rho``: rank correlation; ``band``: its limit for shuffled numbers."""
    if math.isnan(rho) or abs(abs(rho) - band) < MARGIN:
        return None
    told = (
        f"The rank correlation of the two numbers is {signed(rho)}: 1 means the same order of heads, −1 the opposite "
        f"order. Even shuffled numbers often reach {band:.2f}."
    )
    outcomes = (
        ("The more a head parks, the less changes without it", rho < -band),
        ("The more a head parks, the more changes without it", rho > band),
        ("Neither: parking does not tell which", abs(rho) < band),
    )
    options = tuple(Option(text, told, correct=right) for text, right in outcomes)
    prompt = "Which heads can the model do without? What would you expect?"
    return Question("goes-together", prompt, options)


def uniform_entropy(n: int, causal: bool) -> float:
    """Raw spread of a head without preference, in nats: n ln n, or ln n! in a causal model."""
    return math.lgamma(n + 1) if causal else n * math.log(n)


def doubled(n: int, causal: bool) -> Question | None:
    """Ask how the raw spread of a head without preference changes on a text that is twice as long."""
    if n < 2:
        return None
    now, then = uniform_entropy(n, causal), uniform_entropy(2 * n, causal)
    formula = rf"ln({2 * n}!)" if causal else f"{2 * n} · ln {2 * n}"
    return numeric(
        "doubled",
        f"A head without a preference has a raw entropy of {now:.1f} nats on {n} tokens. What is its raw "
        f"entropy on {2 * n} tokens?",
        (then, f"{formula} = {then:.1f}: twice the rows, and each row’s entropy is larger too."),
        {
            now: "The raw entropy adds up all rows, so it grows with the number of rows, although the head has not "
            "changed.",
            2 * now: f"Twice the rows give {2 * now:.1f}, but each row also has more keys to spread over.",
            4 * now: "There are four times as many cells, but a row’s entropy grows only with the logarithm of its "
            "length.",
        },
        Quantity("{:.1f} nats".format),
    )


def most_confident(layer: int, averages: Values) -> Question | None:
    """Ask which head of a layer has the clearest favourites. ``averages`` (H,)."""

    def why(head: int, best: int) -> str:
        tail = ", the highest." if head == best else f"; head {best + 1} has {averages[best]:.3f}."
        return f"Its largest weight in a row is {averages[head]:.3f} on average{tail}"

    prompt = (
        f"In which head of layer {layer + 1} is confidence (average) highest, so that its tokens have the clearest "
        "favourites?"
    )
    return ranked("most-confident", prompt, averages.tolist(), lambda head: f"Head {head + 1}", why, of=len(averages))


def maximum_is_one_row(head: Head, cells: Cells) -> Question | None:
    """Ask how many rows of one head have a weight near its maximum, which says something about one row only."""
    rows = cells.largest[0]
    largest, mean, n = float(rows.max()), float(rows.mean()), len(rows)
    near = int(np.count_nonzero(rows > largest / 2))
    if largest - mean < 0.2 or near > n / 3:
        return None
    return shuffled(
        "maximum-is-one-row",
        f"In {head_name(head)}, the largest weight of all is {largest:.2f}. The largest weight of a row is "
        f"{mean:.2f} on average. What follows?",
        [
            Option(
                "Only few rows have such a large weight",
                f"{near} of {n} rows have a weight above {largest / 2:.2f}. The maximum is a number about a single "
                "row.",
                correct=True,
            ),
            Option(
                f"Every word gives some word about {largest:.1f}",
                f"Then the average would be near {largest:.2f}. It is {mean:.2f}.",
            ),
            Option(
                f"In most rows, the largest weight is above {largest:.1f}",
                f"No weight is above {largest:.2f}: this is the largest of all weights.",
            ),
        ],
    )
